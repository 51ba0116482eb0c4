/// Names that the model refuses for properties; said at compile time too, where they stand.
///
/// The list is that of `ReservedNames` in StrataModel, which a compiler plug-in does not load; a test compares them.
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
