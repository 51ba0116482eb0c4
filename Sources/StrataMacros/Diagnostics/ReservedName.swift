/// Names that the model refuses for properties, so that the macros refuse them at compile time.
///
/// A copy of `ReservedNames` in StrataModel, which a compiler plug-in does not load; a test compares the two.
enum ReservedName {
    static let all: Set<String> = [
        "objectID", "entity", "managedObjectContext", "isInserted", "isUpdated", "isDeleted", "isFault",
        "hasChanges", "hasPersistentChangedValues", "faultingState", "changedValues", "changedValuesForCurrentEvent",
        "committedValues", "observationRegistrar", "objectWillChange",
        "awakeFromInsert", "awakeFromFetch", "prepareForDeletion", "willSave", "didSave", "willTurnIntoFault",
        "didTurnIntoFault", "validateForInsert", "validateForUpdate", "validateForDelete",
        "description", "debugDescription", "hash", "hashValue", "superclass", "class",
        "self", "Self", "SELF", "Type", "Protocol", "init", "deinit", "subscript",
    ]
}
