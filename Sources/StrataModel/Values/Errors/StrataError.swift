public import Foundation

/// What went wrong, where, and with which value.
///
/// `description` names things (entity, object, property, sequence, path) but not users' values;
/// `detailedDescription` shows them too.
public struct StrataError: Error, Sendable {
    public let code: Code
    /// A fixed sentence for the kind of failure, such as "rating is too large."
    public let message: String
    public var context: Context
    /// Every failure of one save, when there is more than one.
    public var details: [StrataError]
    /// What a layer below reported.
    public var cause: (any Error)?

    public init(
        _ code: Code, _ message: String, context: Context = Context(), details: [StrataError] = [],
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.context = context
        self.details = details
        self.cause = cause
    }

    /// The things an error speaks of; nil where it speaks of none.
    public struct Context: Sendable {
        public var entityName: String?
        public var objectID: ObjectID?
        /// The property's name.
        public var key: String?
        public var value: AttributeValue?
        /// The attributes of the object when it failed.
        public var objectValues: [String: AttributeValue]?
        public var predicate: String?
        public var eventNumber: EventNumber?
        public var path: String?
        /// For each object that another save changed: base, theirs and mine.
        public var conflicts: [MergeConflict]
        /// Other objects that have the same unique value.
        public var conflictingObjectIDs: [ObjectID]

        public init(
            entityName: String? = nil, objectID: ObjectID? = nil, key: String? = nil, value: AttributeValue? = nil,
            objectValues: [String: AttributeValue]? = nil, predicate: String? = nil, eventNumber: EventNumber? = nil,
            path: String? = nil, conflicts: [MergeConflict] = [], conflictingObjectIDs: [ObjectID] = []
        ) {
            self.entityName = entityName
            self.objectID = objectID
            self.key = key
            self.value = value
            self.objectValues = objectValues
            self.predicate = predicate
            self.eventNumber = eventNumber
            self.path = path
            self.conflicts = conflicts
            self.conflictingObjectIDs = conflictingObjectIDs
        }
    }
}

/// One object that was changed here and by a save that came first.
public struct MergeConflict: Sendable, Hashable, Codable {
    public let objectID: ObjectID
    public let entityName: String
    /// Whether the other save deleted the object.
    public let isDeletedInStore: Bool
    /// Whether this context deletes the object.
    public let isDeletedHere: Bool
    public let properties: [Property]

    /// One property with three values.
    public struct Property: Sendable, Hashable, Codable {
        public let name: String
        /// What the context had read.
        public let base: AttributeValue
        /// What the store holds now.
        public let theirs: AttributeValue
        /// What the context wants to save.
        public let mine: AttributeValue

        public init(name: String, base: AttributeValue, theirs: AttributeValue, mine: AttributeValue) {
            self.name = name
            self.base = base
            self.theirs = theirs
            self.mine = mine
        }
    }

    public init(
        objectID: ObjectID, entityName: String, isDeletedInStore: Bool, isDeletedHere: Bool, properties: [Property]
    ) {
        self.objectID = objectID
        self.entityName = entityName
        self.isDeletedInStore = isDeletedInStore
        self.isDeletedHere = isDeletedHere
        self.properties = properties
    }
}

extension StrataError: CustomStringConvertible {
    public var description: String {
        var text = "error \(code.rawValue) (\(code.name)): \(message)"
        if let place = context.place { text += " [\(place)]" }
        for detail in details { text += "\n  \(detail.description)" }
        if let cause { text += " (cause: \(cause))" }
        return text
    }

    /// `description` with the users' values.
    public var detailedDescription: String {
        var text = description
        if let value = context.value { text += "\n  value: \(value)" }
        if let values = context.objectValues {
            for key in values.keys.sorted() { text += "\n  \(key): \(values[key] ?? .null)" }
        }
        for conflict in context.conflicts {
            for property in conflict.properties {
                text += "\n  \(conflict.entityName) \(conflict.objectID) \(property.name): "
                text += "base \(property.base), theirs \(property.theirs), mine \(property.mine)"
            }
        }
        for detail in details { text += "\n\(detail.detailedDescription)" }
        return text
    }
}

extension StrataError: LocalizedError {
    public var errorDescription: String? { description }
}

extension StrataError.Context {
    fileprivate var place: String? {
        var parts: [String] = []
        if let entityName { parts.append("entity \(entityName)") }
        if let objectID { parts.append("object \(objectID)") }
        if let key { parts.append("key \(key)") }
        if let eventNumber { parts.append("sequence \(eventNumber)") }
        if let path { parts.append("path \(path)") }
        if let predicate { parts.append("predicate \(predicate)") }
        if !conflicts.isEmpty { parts.append("\(conflicts.count) conflicts") }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}
