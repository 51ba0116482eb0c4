import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// `strata blame`: shows for each value of an object who wrote it, and when.
struct BlameCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "blame",
        abstract: "Shows for each value of an object who wrote it, and when.",
        discussion: """
            \(ObjectReference.help) \(Moment.help) Members of to-many relationships are not values of the object; \
            'strata log --object' shows its links.

            --json prints {"object", "eventNumber", "values": {property: {"value", "event", "eventNumber", "transaction", \
            "time", "author", "reason", "beforeHistory"}}}. Who wrote a value before the history was truncated is no longer \
            known: then "beforeHistory" is true. A value by default has no event.

            Examples:
                strata blame BowTies.strata BowTie/p12
                strata blame BowTies.strata BowTie/p12 --at 'before import'
            """)

    @OptionGroup var store: StoreArguments
    @Argument(help: ArgumentHelp("The object.", valueName: "object")) var object: String
    @Option(help: ArgumentHelp("Show the values of this moment.", valueName: "moment")) var at: String?
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        try store.reading { store in
            let id = try ObjectReference.parse(object, in: store, past: true)
            let moment = try StoreMoment(at, in: store)
            let names = try store.recordedNames()
            guard let state = try ShownObject.read(id, at: moment, in: store) else {
                throw try ShownObject.absent(id, moment.eventNumber, names, store)
            }
            let origins = try ValueOrigins(of: id, store.history(of: id), through: moment.eventNumber, store)
            if json { return try printJSON(state, origins, names) }
            print(state, origins, moment.linkNames(names, in: store))
        }
    }

    private func print(_ state: ShownObject, _ origins: ValueOrigins, _ links: LinkNames) {
        var columns = Columns(
            [.left, .right, .left, .left, .left, .left], isFirm: [false, true, true, false, true, false],
            cutsToTerminal: true)
        for value in state.values {
            let origin = origins[value.property]
            columns.add([
                .init(value.name, .bold), .init(origin.map { "\($0.event.eventNumber)" } ?? "-", .dim),
                .init(origin.map { ValueText.moment($0.transaction.date) } ?? "-", .dim),
                .init(origin?.transaction.author ?? "-", .cyan),
                .init(origin.map { "\($0.event.kind)" } ?? (origins.isCut ? "before the history" : "by default")),
                .init(ValueText.of(value.value) { links.label(of: $0) }),
            ])
        }
        columns.flush()
    }

    private func printJSON(_ state: ShownObject, _ origins: ValueOrigins, _ names: RecordedNames) throws {
        func text(_ value: AttributeValue, _ origin: ValueOrigin?) -> JSONObject {
            [
                "value": JSONText.Value(value) { names.name(of: $0) }, "event": origin.map { "\($0.event.kind)" },
                "eventNumber": origin?.event.eventNumber.rawValue,
                "transaction": origin?.transaction.number.rawValue,
                "time": origin.map { ValueText.moment($0.transaction.date) }, "author": origin?.transaction.author,
                "reason": origin?.transaction.reason, "beforeHistory": origin == nil && origins.isCut,
            ]
        }
        try JSONText.print([
            "object": names.name(of: state.id), "eventNumber": state.eventNumber.rawValue,
            "values": JSONObject(state.values.map { ($0.name, text($0.value, origins[$0.property])) }),
        ])
    }
}

/// The event that gave a property its value.
struct ValueOrigin {
    let event: RecordedEvent
    let transaction: TransactionRecord
    /// The number that the property had then.
    let property: PropertyID
}

/// The events that gave an object's properties their values at a moment.
struct ValueOrigins {
    private var byProperty: [PropertyID: ValueOrigin] = [:]
    private let entity: EntityID
    private let lineage: PropertyLineage
    /// Whether the history begins after the object's insertion: then a value without an origin may have been written
    /// before. Otherwise it is the default.
    private(set) var isCut: Bool

    /// - Parameter history: the events of the object, newest first.
    init(of id: ObjectID, _ history: [RecordedEvent], through last: EventNumber, _ store: Store) throws {
        isCut = try store.baseline() != nil
        lineage = try store.propertyLineage()
        entity = id.entityID
        for event in history where event.eventNumber <= last {
            let properties: [PropertyID]
            switch event.payload {
            case .inserted(let values): properties = values.map(\.property)
            case .updated(let changes): properties = changes.map(\.property)
            default: continue
            }
            guard let transaction = try store.transaction(event.transaction) else { continue }
            for property in properties where self[property] == nil {
                byProperty[newest(property)] = ValueOrigin(event: event, transaction: transaction, property: property)
            }
            // Events before this one belong to an earlier life of the object, before it was deleted and restored.
            if event.kind == .inserted {
                isCut = false
                break
            }
        }
    }

    /// The origin of a property's value, by any number that the property has or had.
    subscript(property: PropertyID) -> ValueOrigin? { byProperty[newest(property)] }

    /// The newest number of a property of the object.
    func newest(_ property: PropertyID) -> PropertyID { lineage.newest(property, in: entity) }
}
