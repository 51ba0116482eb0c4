public import StrataModel
import StrataStore

/// The changes of one object between two states: properties with the values before and after, and links made and cut.
///
/// A link between a to-one and a to-many is reported once, as a change of the to-one: a movie that changed its owner is
/// an update of the movie. Many-to-many links, and links of a to-many without inverse, are in `links` of one of the two
/// objects.
public struct ObjectChange: Sendable, Hashable {
    /// Whether the object was made, changed or deleted.
    public enum Kind: String, Sendable, Hashable {
        /// It is new.
        case inserted
        /// Its properties or links changed.
        case updated
        /// It no longer exists.
        case deleted
    }

    /// Members that a to-many gained, lost, or has at another position.
    public struct Links: Sendable, Hashable {
        /// The name of the to-many.
        public let key: String
        /// Members that it gained, by id.
        public let added: [ObjectID]
        /// Members that it lost, by id.
        public let removed: [ObjectID]
        /// Members that have another position, by id.
        public let moved: [ObjectID]
    }

    /// The object, which need not exist any more.
    public let objectID: ObjectID
    /// The entity of the object.
    public let entityName: String
    /// Whether the object was inserted, updated or deleted.
    public let kind: Kind
    /// In the order of their names; of a new or deleted object those that are not nil.
    public let properties: [HistoryEvent.Change]
    /// In the order of their names.
    public let links: [Links]

    /// The change of one property, if it changed.
    public subscript(key: String) -> HistoryEvent.Change? { properties.first { $0.key == key } }
}

extension ObjectChange {
    /// The changes object by object, by id.
    ///
    /// - Parameters:
    ///   - names: of entities and properties, also of those that are not in the model any more.
    ///   - keys: decrypt values.
    ///   - isPosition: whether a property is a hidden position, which is left out.
    static func list(
        _ changes: NetChanges, _ names: RecordedNames, _ keys: KeyRing, isPosition: (PropertyID) -> Bool
    ) -> [ObjectChange] {
        var links: [ObjectID: [PropertyID: [(ObjectID, NetChanges.PairPositionChange)]]] = [:]
        for (key, positions) in changes.pairs {
            links[key.source, default: [:]][key.property, default: []].append((key.target, positions))
        }
        return Set(changes.objects.keys).union(links.keys).sorted().compactMap { id in
            let object = changes.objects[id]
            let properties = (object?.values ?? [:]).compactMap { property, values -> HistoryEvent.Change? in
                guard !isPosition(property), !values.isNothing else { return nil }
                return HistoryEvent.Change(
                    names.name(of: property, in: id.entityID), keys.shown(values.before, of: property, in: id),
                    keys.shown(values.after, of: property, in: id), names)
            }
            let changedLinks = (links[id] ?? [:]).map { Links(names.name(of: $0.key, in: id.entityID), $0.value) }
            let kind: Kind =
                switch (object?.existedBefore ?? true, object?.existsAfter ?? true) {
                case (false, _): .inserted
                case (_, false): .deleted
                default: .updated
                }
            guard kind != .updated || !properties.isEmpty || !changedLinks.isEmpty else { return nil }
            return ObjectChange(
                objectID: id, entityName: names.name(of: id.entityID), kind: kind,
                properties: properties.sorted { $0.key < $1.key }, links: changedLinks.sorted { $0.key < $1.key })
        }
    }
}

extension ObjectChange.Links {
    fileprivate init(_ key: String, _ members: [(ObjectID, NetChanges.PairPositionChange)]) {
        func ids(_ isIncluded: (NetChanges.PairPositionChange) -> Bool) -> [ObjectID] {
            members.filter { isIncluded($0.1) }.map(\.0).sorted()
        }
        self.init(
            key: key, added: ids { $0.before == nil && $0.after != nil },
            removed: ids { $0.before != nil && $0.after == nil },
            moved: ids { $0.before != nil && $0.after != nil })
    }
}

extension ObjectChange: CustomStringConvertible {
    /// The object, the kind of change, its properties before and after, and the number of changed links.
    public var description: String {
        let changes = properties.map(\.description) + links.map(\.description)
        return "\(objectID.named(entityName)) \(kind)\(changes.isEmpty ? "" : "; ")\(changes.joined(separator: ", "))"
    }
}

extension ObjectChange.Links: CustomStringConvertible {
    /// The to-many, and how many members came, went and moved.
    public var description: String {
        let counts = [(added, "added"), (removed, "removed"), (moved, "moved")].filter { !$0.0.isEmpty }
        return "\(key): " + counts.map { "\($0.0.count) \($0.1)" }.joined(separator: ", ")
    }
}
