/// The largest models that are accepted. The first two limits follow from the widths of numbers in rows and object ids.
package enum ModelLimits {
    package static let entities = 60_000
    /// Properties of one entity, with inherited ones.
    package static let properties = 4_096
    /// Properties and indexes of all entities, with inherited ones.
    package static let inheritedProperties = 1_000_000
    /// Entities that the relationships of a model lead to, with subentities.
    package static let relationshipTargets = 4_000_000
    package static let nameLengthInBytes = 255
    package static let inheritanceDepth = 64
    package static let compositeDepth = 8
    package static let compositeElements = 256
    package static let indexElements = 16
    package static let columnsOfView = 64
    package static let ordersOfView = 8
    /// Their values must fit into a key of LMDB beside the key of the group.
    package static let columnsOfOrder = 4
    /// Objects of a `first` or `last`.
    package static let objectsOfAggregate = 100
}

/// Names that a model may not use, because objects have members with these names, or because they have a meaning in
/// Swift or in predicates. Entities can have every name.
package enum ReservedNames {
    /// Reserved names of attributes, relationships and elements of composites.
    package static let properties: Set<String> = [
        // State of a managed object.
        "objectID", "entity", "managedObjectContext", "isInserted", "isUpdated", "isDeleted", "isFault",
        "hasChanges", "hasPersistentChangedValues", "faultingState", "changedValues", "changedValuesForCurrentEvent",
        "committedValues", "observationRegistrar", "objectWillChange",
        // Lifecycle and validation.
        "awakeFromInsert", "awakeFromFetch", "prepareForDeletion", "willSave", "didSave", "willTurnIntoFault",
        "didTurnIntoFault", "validateForInsert", "validateForUpdate", "validateForDelete",
        // Members that every object has.
        "description", "debugDescription", "hash", "hashValue", "superclass", "class",
        // Words that Swift does not allow after a dot, or that mean the object itself in predicates.
        "self", "Self", "SELF", "Type", "Protocol", "init", "deinit", "subscript",
    ]
}
