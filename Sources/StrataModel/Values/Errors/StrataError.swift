/// The error that Strata throws: a code, a message, and the objects and values that it is about.
///
/// `localizedDescription` is for the people who use the app. `description` is for engineers: it has the code and names
/// entities, objects, properties, events and paths, but no values of the app's data. `detailedDescription` has them too.
public struct StrataError: Error, Sendable {
    /// The kind of failure.
    public let code: Code
    /// A sentence about the error without values of the app's data, such as "rating is too large."
    public let message: String
    /// The things that the error is about.
    public var context: Context
    /// The single failures, if the error collects several.
    public var details: [StrataError]
    /// The error of a lower layer that caused this one.
    public var cause: (any Error)?

    /// An error with a code and a message.
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

    /// The things that an error is about. Those that do not apply are nil or empty.
    public struct Context: Sendable {
        /// The entity's name in the model.
        public var entityName: String?
        /// The object's id.
        public var objectID: ObjectID?
        /// The property's name, or a dotted path into a composite.
        public var key: String?
        /// The value that failed.
        public var value: AttributeValue?
        /// The object's attributes by name.
        public var objectValues: [String: AttributeValue]?
        /// The predicate, pattern or expression that failed, as text.
        public var predicate: String?
        /// The event in the log.
        public var eventNumber: EventNumber?
        /// The path of the file or directory.
        public var path: String?
        /// The beginning of the kept history, for a moment before it.
        public var baseline: HistoryBaseline?
        /// The objects that an earlier save changed as well, each with its three versions.
        public var conflicts: [MergeConflict]
        /// The objects that already have the same unique values.
        public var conflictingObjectIDs: [ObjectID]

        /// A context with the given things.
        public init(
            entityName: String? = nil, objectID: ObjectID? = nil, key: String? = nil, value: AttributeValue? = nil,
            objectValues: [String: AttributeValue]? = nil, predicate: String? = nil, eventNumber: EventNumber? = nil,
            path: String? = nil, baseline: HistoryBaseline? = nil, conflicts: [MergeConflict] = [],
            conflictingObjectIDs: [ObjectID] = []
        ) {
            self.entityName = entityName
            self.objectID = objectID
            self.key = key
            self.value = value
            self.objectValues = objectValues
            self.predicate = predicate
            self.eventNumber = eventNumber
            self.path = path
            self.baseline = baseline
            self.conflicts = conflicts
            self.conflictingObjectIDs = conflictingObjectIDs
        }
    }
}

/// One object that both this context and an earlier save have changed.
public struct MergeConflict: Sendable, Hashable, Codable {
    /// The object's id.
    public let objectID: ObjectID
    /// The name of the object's entity.
    public let entityName: String
    /// Whether the earlier save deleted the object.
    public let isDeletedInStore: Bool
    /// Whether this context deletes the object.
    public let isDeletedHere: Bool
    /// The properties that both have changed.
    public let properties: [Property]

    /// The three values of one property.
    public struct Property: Sendable, Hashable, Codable {
        /// The property's name.
        public let name: String
        /// The value that this context had read.
        public let base: AttributeValue
        /// The value in the store now.
        public let theirs: AttributeValue
        /// The value that this context wants to save.
        public let mine: AttributeValue

        /// Whether the values are encrypted in the store, so that no record of the conflict has them.
        package var isEncrypted = false

        private enum CodingKeys: String, CodingKey {
            case name, base, theirs, mine
        }

        /// A property with its three values.
        public init(name: String, base: AttributeValue, theirs: AttributeValue, mine: AttributeValue) {
            self.name = name
            self.base = base
            self.theirs = theirs
            self.mine = mine
        }
    }

    /// A conflict about one object.
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
    /// The code, the message, the names of the things that it is about, the details and the cause.
    public var description: String {
        var text = "error \(code.rawValue) (\(code.name)): \(message)"
        if let summary = context.summary { text += " [\(summary)]" }
        for detail in details { text += "\n  \(detail.description)" }
        if let cause { text += " (cause: \(cause))" }
        return text
    }

    /// The description with the values of the app's data.
    public var detailedDescription: String {
        var text = description
        if let value = context.value { text += "\n  value: \(value)" }
        if let values = context.objectValues {
            for key in values.keys.sorted() { text += "\n  \(key): \(values[key] ?? .null)" }
        }
        for conflict in context.conflicts {
            let name = conflict.objectID.named(conflict.entityName)
            for property in conflict.properties { text += "\n  \(name) \(property)" }
        }
        for detail in details { text += "\n\(detail.detailedDescription)" }
        return text
    }
}

extension MergeConflict: CustomStringConvertible {
    /// The object, and each property with its three values.
    public var description: String {
        let name = objectID.named(entityName)
        if isDeletedInStore { return "\(name), deleted in the store" }
        let changes = properties.map(\.description).joined(separator: "; ")
        return "\(name)\(isDeletedHere ? ", deleted here" : "")\(changes.isEmpty ? "" : "; \(changes)")"
    }
}

extension MergeConflict.Property: CustomStringConvertible {
    /// The name and the three values.
    public var description: String { "\(name): base \(base), theirs \(theirs), mine \(mine)" }
}

extension StrataError.Context {
    /// The things by name, such as "Movie/p5.rating, event 17"; nil if there are none.
    fileprivate var summary: String? {
        var parts: [String] = []
        if let subject { parts.append(subject) }
        if let eventNumber { parts.append("event \(eventNumber)") }
        if let path { parts.append("path \(path)") }
        if let predicate { parts.append("predicate \(predicate)") }
        if !conflicts.isEmpty { parts.append(conflictSummary) }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// The number of conflicts, and the properties that they are about: `2 conflicts: rating, title`.
    private var conflictSummary: String {
        let count = CountText.of(conflicts.count, "conflict")
        let names = Set(conflicts.flatMap(\.properties).map(\.name)).sorted()
        guard !names.isEmpty else { return count }
        return "\(count): \(names.prefix(8).joined(separator: ", "))\(names.count > 8 ? ", …" : "")"
    }

    /// The object or entity and the property: `Movie/p5.rating`, `Movie.rating`, `Movie`.
    private var subject: String? {
        let owner = objectID.map { id in entityName.map { id.named($0) } ?? "object \(id)" } ?? entityName
        guard let key, !key.isEmpty else { return owner }
        return owner.map { "\($0).\(key)" } ?? "property \(key)"
    }
}
