import ArgumentParser
import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// The arguments of commands that change objects: author, reason and `--json`.
struct ChangeArguments: ParsableArguments {
    @Option(help: ArgumentHelp("The author for the log; your login name by default.", valueName: "name"))
    var author: String?
    @Option(parsing: .unconditional, help: ArgumentHelp("The reason for the log.", valueName: "text")) var reason:
        String?
    @Flag(help: "Print JSON.") var json = false

    init() {}

    /// The paragraphs that the help of all these commands shares.
    static let help = """
        The command makes the same checks as a save in an app: types, required properties, rules, uniqueness, both ends \
        of relationships, delete rules. It saves all changes in one transaction that names the author, or none.

        --json prints {"transaction", "eventNumber", "events", "changes": [{"event", "object"}]}; if nothing changed, \
        "transaction" is null.
        """

    /// Runs `body` in a context, saves, and prints what changed.
    func run(_ arguments: StoreArguments, _ body: (Store, ManagedObjectContext) throws -> Void) throws {
        try arguments.writing { store in
            let context = try context(over: store)
            let before = context.eventNumber
            try body(store, context)
            try context.save()
            try ChangeReport(store, after: before, through: context.eventNumber).print(asJSON: json)
        }
    }

    /// A context that saves with the author and the reason.
    func context(over store: Store) throws -> ManagedObjectContext {
        let context = try PersistentContainer(over: store).newBackgroundContext()
        context.name = "strata"
        context.transactionAuthor = author ?? NSUserName()
        context.transactionReason = reason
        return context
    }
}

/// Reports what one save did, from the log.
struct ChangeReport: Encodable {
    struct Change: Encodable {
        let event: String
        let object: String
    }

    let transaction: UInt64?
    let eventNumber: UInt64
    let events: Int
    let changes: [Change]

    private enum CodingKeys: CodingKey {
        case transaction, eventNumber, events, changes
    }

    init(_ store: Store, after before: EventNumber, through last: EventNumber) throws {
        let record = try last > before ? store.transaction(containing: last) : nil
        transaction = record?.number.rawValue
        eventNumber = last.rawValue
        events = record?.eventCount ?? 0
        guard let record else {
            changes = []
            return
        }
        let names = try store.recordedNames()
        var changes: [Change] = []
        try store.events(from: record.firstEvent, through: record.lastEvent) { event in
            changes.append(Change(event: "\(event.kind)", object: Self.text(event, names)))
            return true
        }
        self.changes = changes
    }

    /// The object, or the two ends of the link.
    private static func text(_ event: RecordedEvent, _ names: RecordedNames) -> String {
        switch event.payload {
        case .linked(let pair), .unlinked(let pair), .moved(let pair):
            "\(names.name(of: pair.key.source)).\(names.name(of: pair.key.property)) - "
                + names.name(of: pair.key.target)
        default: event.object.map { names.name(of: $0) } ?? "-"
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(transaction, forKey: .transaction)
        try container.encode(eventNumber, forKey: .eventNumber)
        try container.encode(events, forKey: .events)
        try container.encode(changes, forKey: .changes)
    }

    private static let mostShown = 20

    func print(asJSON: Bool) throws {
        if asJSON { return Output.shared.line(try JSONText.of(self)) }
        guard let transaction else { return Output.shared.line("nothing changed") }
        var columns = Columns([.left, .left])
        for change in changes.prefix(Self.mostShown) { columns.add(change.event, change.object) }
        columns.flush()
        if changes.count > Self.mostShown {
            Output.shared.line("… and \(ValueText.count(changes.count - Self.mostShown)) more")
        }
        Output.shared.line("transaction \(transaction), \(ValueText.count(events, "event"))")
    }
}
