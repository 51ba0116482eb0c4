import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// `strata show`: shows one object, as it is or as it was, and what happened to it.
struct ShowCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows one object, as it is or as it was, and what happened to it.",
        discussion: """
            \(ObjectReference.help) \(Moment.help) An object that is not there \
            at that moment gives exit code 1.

            --json prints {"object", "uri", "eventNumber", "revision", "values": {property: value}, "members": {relationship: \
            {"count", "first": [object]}}}, and with --history also "history": [event as `strata log --json` has it].

            Examples:
                strata show BowTies.strata BowTie/p12
                strata show BowTies.strata BowTie/p12 --at '2 hours ago' --history
            """)

    @OptionGroup var store: StoreArguments
    @Argument(help: ArgumentHelp("The object.", valueName: "object")) var object: String
    @Option(help: "Show the object at this moment.") var at: String?
    @Flag(help: "List the object's events, newest first.") var history = false
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        try store.reading { store in
            let id = try ObjectReference.parse(object, in: store, past: true)
            let moment = try StoreMoment(at, in: store)
            let eventNumber = moment.eventNumber
            let names = try store.recordedNames()
            let links = moment.linkNames(names, in: store)
            let events = try history || json ? Self.events(of: id, through: eventNumber, in: store) : []
            guard let state = try ShownObject.read(id, at: moment, in: store) else {
                if history, !events.isEmpty { Self.print(events, links) }
                throw try ShownObject.absent(id, eventNumber, names, store)
            }
            if json {
                return try JSONText.print(state.json(names, store, history ? events : nil))
            }
            state.print(links, in: store)
            if history {
                Output.shared.line()
                Self.print(events, links)
            }
        }
    }

    private static func events(
        of id: ObjectID, through last: EventNumber, in store: Store
    ) throws -> [(event: RecordedEvent, transaction: TransactionRecord)] {
        try store.history(of: id).filter { $0.eventNumber <= last }.compactMap { event in
            guard let transaction = try store.transaction(event.transaction) else { return nil }
            return (try store.shown(event), transaction)
        }
    }

    private static func print(
        _ events: [(event: RecordedEvent, transaction: TransactionRecord)], _ links: LinkNames
    ) {
        var printer = ColumnEventPrinter(links)
        for (event, transaction) in events { printer.print(event, transaction) }
        printer.finish()
    }
}

/// One object at one moment, copied out of the store.
struct ShownObject {
    struct Members {
        let name: String
        let count: Int
        /// At most `mostMembers` of them.
        let first: [ObjectID]

        /// - Parameter relationship: a to-many of the owner, or the hidden inverse of one that leads to it.
        init(
            _ relationship: PropertyID, _ name: String, of owner: ObjectID, in snapshot: Snapshot,
            limit: Int = ShownObject.mostMembers
        ) throws {
            self.name = name
            count = try snapshot.memberCount(of: relationship, owner: owner)
            // At an early moment all later members would be passed over in search of one more.
            let wanted = min(limit, count)
            first = wanted > 0 ? try snapshot.members(of: relationship, owner: owner, limit: wanted) : []
        }
    }

    struct Value {
        /// The number in the model of the moment.
        let property: PropertyID
        /// The name in the model of the moment.
        let name: String
        let value: AttributeValue
    }

    static let mostMembers = 10

    let id: ObjectID
    let eventNumber: EventNumber
    let revision: EventNumber
    /// Values in the order of the model.
    let values: [Value]
    let members: [Members]

    /// The error that says why the object does not exist at the moment.
    static func absent(
        _ id: ObjectID, _ eventNumber: EventNumber, _ names: RecordedNames, _ store: Store
    ) throws -> StrataError {
        let history = try store.history(of: id)
        let fate =
            if let deletion = history.first(where: { $0.kind == .deleted && $0.eventNumber <= eventNumber }) {
                "it was deleted by event \(deletion.eventNumber); "
                    + "--at t\(deletion.transaction.rawValue - 1) shows it before"
            } else if let first = history.last, first.eventNumber <= eventNumber {
                "its entity was not in the model then"
            } else if let first = history.last {
                "it was inserted by event \(first.eventNumber)"
            } else {
                "the log knows of no such object"
            }
        return StrataError(.deletedObject, "There is no \(names.name(of: id)) at event number \(eventNumber): \(fate).")
    }

    /// nil if the object does not exist at the moment.
    ///
    /// - Parameter hasMembers: whether members are read and counted, which takes O(members) at a moment of the past.
    static func read(
        _ id: ObjectID, at moment: StoreMoment, in store: Store, hasMembers: Bool = true
    ) throws -> ShownObject? {
        try moment.read(store) { snapshot in
            guard let entity = snapshot.schema.entity(id.entityID), let row = try snapshot.row(id) else { return nil }
            return ShownObject(
                id: id, eventNumber: moment.eventNumber, revision: row.revision,
                values: try values(row, id, entity, store),
                members: hasMembers ? try members(id, entity, snapshot) : [])
        }
    }

    private static func values(
        _ row: SnapshotRow, _ id: ObjectID, _ entity: EntitySchema, _ store: Store
    ) throws -> [Value] {
        try row.converted(to: entity).withReader(entity.layout) { reader throws(CorruptRecord) in
            var values: [Value] = []
            for property in entity.properties where property.storage != nil && property.storage != .position {
                let value = try reader.value(property.slot)
                let shown = store.keyRing.shown(value, of: property.id, in: id)
                values.append(Value(property: property.id, name: property.name, value: shown))
            }
            return values
        }
    }

    private static func members(_ id: ObjectID, _ entity: EntitySchema, _ snapshot: Snapshot) throws -> [Members] {
        try entity.properties.filter { $0.relationship?.isToMany ?? false }.map { property in
            try Members(property.id, property.name, of: id, in: snapshot)
        }
    }

    func print(_ links: LinkNames, in store: Store) {
        let style = Style.standard
        let names = links.names
        Output.shared.line(style(names.name(of: id), .bold))
        Output.shared.line("  \(style(ObjectReference.uri(id, names, in: store), .dim))")
        Output.shared.line("  as of event \(eventNumber), last changed by event \(revision)")
        Output.shared.line()
        var columns = Columns([.left, .left], indent: "  ")
        for value in values {
            let text = ValueText.of(value.value, limit: 2000) { links.label(of: $0) }
            columns.add([.init(value.name), .init(text, value.value.isNull ? .dim : nil)])
        }
        for list in members { columns.add(list.name, Self.text(list, links)) }
        columns.flush()
    }

    private static func text(_ list: Members, _ links: LinkNames) -> String {
        let shown = list.first.map { links.label(of: $0) }.joined(separator: ", ")
        let count = ValueText.count(list.count, "member")
        if list.count == 0 { return count }
        return "\(count): \(shown)\(list.count > list.first.count ? ", …" : "")"
    }

    func json(
        _ names: RecordedNames, _ store: Store, _ events: [(event: RecordedEvent, transaction: TransactionRecord)]?
    ) -> JSONObject {
        [
            "object": names.name(of: id), "uri": ObjectReference.uri(id, names, in: store),
            "eventNumber": eventNumber.rawValue, "revision": revision.rawValue,
            "values": JSONObject(values.map { ($0.name, JSONText.Value($0.value) { names.name(of: $0) }) }),
            "members": JSONObject(
                members.map { list in
                    let first = list.first.map { names.name(of: $0) }
                    return (list.name, ["count": list.count, "first": first] as JSONObject)
                }),
            "history": events.map { $0.map { $0.event.json($0.transaction, names) } },
        ]
    }
}
