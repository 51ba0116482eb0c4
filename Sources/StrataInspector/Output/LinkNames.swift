import StrataModel
import StrataStore

/// Names objects for people: `Studio/p1 (Mosfilm)`, with the value of an attribute that the model says is unique there.
/// Where it is asked for, the title takes the place of a unique number, or of none.
final class LinkNames {
    let names: RecordedNames
    private let store: Store
    private let states: [State]
    /// Whether an object that has no unique text is named by its title.
    private let usesTitles: Bool
    private var known: [ObjectID: String] = [:]
    /// How many events may be read for names in the past before a snapshot is the cheaper way.
    private var eventsLeft = 100_000
    /// A state with the model to read it through.
    typealias State = (eventNumber: EventNumber, schema: Schema)
    private static let mostKnown = 100_000
    private static let mostCharacters = 40

    /// - Parameter states: the states in which objects are looked up, the first one first. The name of an object that is
    ///   in none of them is the one that it had when it was deleted.
    init(_ store: Store, in states: [State], _ names: RecordedNames, usesTitles: Bool = false) {
        self.store = store
        self.usesTitles = usesTitles
        self.states = states
        self.names = names
    }

    /// The object's id, with its name beside it if it has one.
    func label(of id: ObjectID) -> String {
        if let label = known[id] { return label }
        if known.count >= Self.mostKnown { known.removeAll(keepingCapacity: true) }
        let reference = names.name(of: id)
        // A listing does not end for a name that cannot be read.
        let name = (try? nameValue(of: id)).flatMap { value in
            value.isReadable ? ValueText.plain(value, limit: Self.mostCharacters) { names.name(of: $0) } : nil
        }
        let label = name.map { "\(reference) (\($0))" } ?? reference
        known[id] = label
        return label
    }

    private func nameValue(of id: ObjectID) throws -> AttributeValue {
        for (eventNumber, schema) in states {
            guard let key = key(of: id.entityID, schema) else { continue }
            switch try pastValue(key, of: id, eventNumber, schema) {
            case .value(let value): return value
            case .absent: continue
            case .unknown: break
            }
            let request = RowsRequest(
                objects: StoreRequest(entityID: id.entityID, predicate: .isIn("SELF", [.objectID(id)])),
                columns: [OutputColumn(key)])
            let row = try store.read(at: eventNumber, through: schema) { try $0.rows(request).first }
            if let value = row?.first { return value }
        }
        guard let key = key(of: id.entityID, store.schema),
            let property = store.schema.entity(id.entityID)?.property(named: key),
            let deletion = try store.history(of: id).first(where: { $0.kind == .deleted }),
            case .deleted(let values) = try store.shown(deletion).payload,
            case .value(let value)? = values.first(where: { $0.property == property.id })?.value
        else { return .null }
        return value
    }

    /// The value in a state of the past, from the object's own events: a snapshot reads all later events of the log.
    private func pastValue(
        _ key: String, of id: ObjectID, _ eventNumber: EventNumber, _ schema: Schema
    ) throws -> PastValue {
        guard eventsLeft > 0, let property = schema.entity(id.entityID)?.property(named: key),
            property.storage != nil, try eventNumber < store.head()
        else { return .unknown }
        let found = try store.pastValue(of: property.id, id, at: eventNumber, most: &eventsLeft)
        guard case .value(let recorded) = found else { return found }
        let value = store.keyRing.shown(recorded, of: property.id, in: id)
        // A large text is not in the event, and a value may have the type of a former model.
        switch (value, property.attribute?.type) {
        case (.string, .string), (.null, _), (.encrypted, _): return .value(value)
        case (.integer, .integer16), (.integer, .integer32), (.integer, .integer64): return .value(value)
        default: return .unknown
        }
    }

    private func key(of entity: EntityID, _ schema: Schema) -> String? {
        let unique = Self.uniqueKey(of: entity, schema)
        guard usesTitles else { return unique }
        let isText = unique.map { schema.entity(entity)?.property(named: $0)?.attribute?.type == .string } ?? false
        return isText ? unique : Self.title(of: entity, schema) ?? unique
    }

    /// The text by which people usually call objects of an entity, judged by the names of its attributes.
    private static func title(of entity: EntityID, _ schema: Schema) -> String? {
        let texts = (schema.entity(entity)?.properties ?? []).filter {
            $0.attribute?.type == .string && $0.storage != nil
        }
        let usual = ["title", "name", "label", "fullname", "displayname", "code"]
        return usual.lazy.compactMap { name in texts.first { $0.name.lowercased() == name }?.name }.first
    }

    /// The attribute with a uniqueness constraint of its own; nil if the entity has none.
    static func uniqueKey(of entity: EntityID, _ schema: Schema) -> String? {
        var next = schema.entity(entity)
        while let current = next {
            let keys = current.description.uniquenessConstraints.filter { $0.count == 1 }.flatMap { $0 }
            if let key = keys.first(where: { schema.entity(entity)?.property(named: $0)?.attribute != nil }) {
                return key
            }
            next = current.superentityID.flatMap(schema.entity)
        }
        return nil
    }
}

extension AttributeValue {
    /// Whether there is a value, and its key is known if it is encrypted.
    fileprivate var isReadable: Bool {
        if case .encrypted = self { return false }
        return !isNull
    }
}
