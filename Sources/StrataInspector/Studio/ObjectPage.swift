import StrataModel
import StrataStore

/// One object at the moment: its values and who gave each, its relationships in both directions, and its history.
///
/// Parameters: `with` (another moment, whose values are shown beside), `events` (the most events of the history).
struct ObjectPage: Encodable {
    struct Origin: Encodable, Equatable {
        let transaction: UInt64
        let event: UInt64
        let time: String
        let author: String?
        /// Its beginning, if it is long.
        let reason: String?
        /// `inserted` or `updated`.
        let kind: String
        /// The value that the event replaced; nil for an insertion.
        let before: StudioCell?
    }

    struct Value: Encodable, Equatable {
        let name: String
        let type: String
        /// The entity that a to-one leads to.
        let destination: String?
        /// Whether the store computes the value. An app cannot set it.
        let isDerived: Bool
        let value: StudioCell
        /// Nil for a value by default, and for one from before the history.
        let origin: Origin?
        /// Whether the value may have been written before the history begins.
        let isBeforeHistory: Bool
        /// The value at the other moment.
        var other: StudioCell?
        var isChanged: Bool?
    }

    struct Member: Encodable, Equatable {
        let object: String
        let label: String
    }

    struct Relationship: Encodable, Equatable {
        let name: String
        let count: Int
        let first: [Member]
        /// Whether objects lead to this one by a relationship that has no inverse.
        let isHidden: Bool
        /// The entity of the members, and what a filter says to find all of them; nil for those without an inverse.
        let entity: String?
        let condition: String?
    }

    struct Change: Encodable, Equatable {
        let transaction: StudioTransaction
        let events: [StudioEvent]
    }

    let moment: StudioMoment
    let object: String
    let label: String
    let entity: String
    let uri: String
    let exists: Bool
    /// The reason why it does not exist at the moment.
    let fate: String?
    /// The transaction that deleted it before the moment, or made it after.
    let fateTransaction: StudioTransaction?
    let other: UInt64?
    /// The transactions that erased values of the object, oldest first.
    let erasures: [StudioTransaction]
    let values: [Value]
    let relationships: [Relationship]
    let history: [Change]
    /// Whether there are older events than the history has.
    let isHistoryCut: Bool

    /// The most characters of a text that the page shows.
    static let mostCharacters = 2000
    private static let mostMembers = 20

    init(_ reference: String, _ reading: StudioReading) throws {
        let id = try StudioProblem.of("object") { try ObjectReference.parse(reference, in: reading.store, past: true) }
        moment = try StudioMoment(reading)
        object = reading.names.name(of: id)
        label = reading.links.label(of: id)
        entity = reading.names.name(of: id.entityID)
        uri = ObjectReference.uri(id, reading.names, in: reading.store)
        let state = try ShownObject.read(id, at: reading.moment, in: reading.store, hasMembers: false)
        exists = state != nil
        let own = try reading.store.history(of: id)
        (fate, fateTransaction) = try state == nil ? Self.fate(own, label, reading) : (nil, nil)
        let with = try reading.text("with").map { try StudioReading.moment($0, "with", in: reading.store) }
        other = try with.flatMap { try reading.store.lastTransaction(upTo: $0.eventNumber).rawValue }
        erasures = try reading.store.erasures().filter { $0.record.objects.contains(id) }.compactMap {
            try reading.store.transaction(containing: $0.eventNumber).map { StudioTransaction($0, reading.names) }
        }
        values = try Self.values(of: id, own, state, with, reading)
        relationships = try state == nil ? [] : Self.relationships(of: id, reading)
        (history, isHistoryCut) = try Self.history(of: id, own, reading)
        if !exists, own.isEmpty {
            throw StudioProblem(404, fate ?? "There is no such object.", field: "object")
        }
    }

    /// - Parameter history: the events of the object, newest first.
    private static func fate(
        _ history: [RecordedEvent], _ label: String, _ reading: StudioReading
    ) throws -> (String, StudioTransaction?) {
        let moment = reading.moment.eventNumber
        let isBorn = history.last.map { $0.eventNumber <= moment } ?? false
        let deletion = history.first { $0.kind == .deleted && $0.eventNumber <= moment }
        let event = deletion ?? (isBorn ? nil : history.last)
        let reason =
            if history.isEmpty { "the log knows of no such object" } else if deletion != nil {
                "it was deleted"
            } else { isBorn ? "its entity was not in the model then" : "it was made later" }
        let record = try event.flatMap { try reading.store.transaction($0.transaction) }
        return (
            "There is no \(label) at this moment: \(reason).",
            record.map { StudioTransaction($0, reading.names) }
        )
    }

    private static func values(
        of id: ObjectID, _ own: [RecordedEvent], _ state: ShownObject?, _ with: StoreMoment?, _ reading: StudioReading
    ) throws -> [Value] {
        let origins = try ValueOrigins(of: id, own, through: reading.moment.eventNumber, reading.store)
        let others =
            try with.flatMap { try ShownObject.read(id, at: $0, in: reading.store, hasMembers: false) }?.values ?? []
        // The two moments may have different models.
        let byProperty = Dictionary(
            others.map { (origins.newest($0.property), $0.value) }, uniquingKeysWith: { first, _ in first })
        let schema = (state == nil ? with : nil)?.schema ?? reading.moment.schema
        return try (state?.values ?? others).map { shown in
            let value = state == nil ? AttributeValue.null : shown.value
            let other = byProperty[origins.newest(shown.property)] ?? .null
            let origin = origins[shown.property]
            let property = schema.property(shown.property)
            let attribute = property?.attribute
            return Value(
                name: shown.name, type: attribute?.type.name ?? "to-one",
                destination: property?.relationship == nil ? nil : Self.destination(shown.property, schema)?.name,
                isDerived: attribute?.derivationExpression != nil,
                value: StudioCell(value, reading.links, limit: mostCharacters),
                origin: try origin.map { try Self.origin($0, reading) },
                isBeforeHistory: origin == nil && origins.isCut,
                other: with.map { _ in StudioCell(other, reading.links, limit: mostCharacters) },
                isChanged: with.map { _ in !value.isIdentical(to: other) })
        }
    }

    private static func origin(_ origin: ValueOrigin, _ reading: StudioReading) throws -> Origin {
        var before: StudioCell?
        if case .updated(let changes) = try reading.store.shown(origin.event).payload,
            let change = changes.first(where: { $0.property == origin.property })
        {
            before = StudioCell(change.before, reading.links)
        }
        return Origin(
            transaction: origin.transaction.number.rawValue, event: origin.event.eventNumber.rawValue,
            time: ValueText.moment(origin.transaction.date), author: origin.transaction.author,
            reason: origin.transaction.reason.map { ValueText.beginning($0) }, kind: "\(origin.event.kind)",
            before: before)
    }

    /// The to-manys of the object, and the objects that lead to it by a relationship without an inverse.
    private static func relationships(of id: ObjectID, _ reading: StudioReading) throws -> [Relationship] {
        try reading.read { snapshot in
            let declared = (snapshot.schema.entity(id.entityID)?.properties ?? [])
                .filter { $0.relationship?.isToMany ?? false }.map { ($0.id, $0.name, false) }
            let hidden = snapshot.schema.links.links(ofOwners: id.entityID)
                .filter { Self.isOnlyWayBack($0, snapshot.schema) }
                .map { ($0.id, reading.names.name(of: $0.id), true) }
            return try (declared + hidden).compactMap { link, name, isHidden in
                let members = try ShownObject.Members(link, name, of: id, in: snapshot, limit: mostMembers)
                if isHidden, members.count == 0 { return nil }
                return Relationship(
                    name: name, count: members.count,
                    first: members.first.map {
                        Member(object: reading.names.name(of: $0), label: reading.links.label(of: $0))
                    }, isHidden: isHidden, entity: isHidden ? nil : Self.destination(link, snapshot.schema)?.name,
                    condition: isHidden ? nil : Self.condition(link, id, snapshot.schema, reading.names))
            }
        }
    }

    private static func destination(_ link: PropertyID, _ schema: Schema) -> EntitySchema? {
        (schema.property(link)?.relationship?.destination).flatMap(schema.entity)
    }

    private static func condition(
        _ link: PropertyID, _ owner: ObjectID, _ schema: Schema, _ names: RecordedNames
    ) -> String? {
        guard let inverse = (schema.property(link)?.relationship?.inverse).flatMap({ schema.property($0) }),
            let back = inverse.relationship
        else { return nil }
        return "\(back.isToMany ? "ANY " : "")\(FetchExpression.keyPath(inverse.name)) == \(names.name(of: owner))"
    }

    /// Whether a link is the way back of a relationship that has no inverse.
    private static func isOnlyWayBack(_ link: Link, _ schema: Schema) -> Bool {
        guard link.id.isHiddenInverse else { return false }
        let forward =
            switch link.source {
            case .rows(let toOne): toOne
            case .pairs(let canonical, _, _, _): canonical
            }
        return schema.property(forward)?.relationship?.inverse == nil
    }

    /// Returns the changes of the object up to the moment, by transaction, newest first.
    private static func history(
        of id: ObjectID, _ own: [RecordedEvent], _ reading: StudioReading
    ) throws -> ([Change], isCut: Bool) {
        let most = try reading.number("events", 1...1000, default: 100)
        let links = try reading.source.shownLinks.events(of: id, in: reading.store) { try reading.checkCancellation() }
        let last = reading.moment.eventNumber
        let all = [own.map(\.eventNumber), links].flatMap { $0.newest(most + 1, through: last) }.sorted(by: >)
        let known = Dictionary(uniqueKeysWithValues: own.map { ($0.eventNumber, $0) })
        var changes: [(record: TransactionRecord, events: [StudioEvent])] = []
        for number in all.prefix(most) {
            try reading.checkCancellation()
            let event = try known[number] ?? reading.store.event(number)
            if changes.last?.record.number != event.transaction {
                guard let record = try reading.store.transaction(event.transaction) else { continue }
                changes.append((record, []))
            }
            let shown = try StudioEvent(event, of: changes[changes.count - 1].record, reading, reading.links)
            changes[changes.count - 1].events.append(shown)
        }
        return (
            changes.map { Change(transaction: StudioTransaction($0.record, reading.names), events: $0.events) },
            all.count > most
        )
    }
}

extension [EventNumber] {
    /// The first `count` numbers up to a last one, of numbers in descending order.
    fileprivate func newest(_ count: Int, through last: EventNumber) -> ArraySlice<EventNumber> {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] > last { low = middle + 1 } else { high = middle }
        }
        return self[low...].prefix(count)
    }
}
