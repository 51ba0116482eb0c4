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

    /// Runs `body` in a context, saves, and prints what changed. Both are done anew if another process changes the model
    /// meanwhile.
    func run(_ arguments: StoreArguments, _ body: (Store, ManagedObjectContext) throws -> Void) throws {
        let report = try arguments.writingOnce { store in
            let context = try context(over: store)
            let before = context.eventNumber
            try body(store, context)
            try context.save()
            // What fails from here on is no reason to save again.
            return Result { try ChangeReport(store, after: before, through: context.eventNumber) }
        }
        try report.get().print(asJSON: json)
    }

    /// A context that saves with the author and the reason.
    func context(over store: Store) throws -> ManagedObjectContext {
        let context = try PersistentContainer(over: store).newBackgroundContext()
        context.name = "strata"
        context.transactionAuthor = try AuthorName.of(author)
        context.transactionReason = reason
        return context
    }
}

/// Reports what one save did, from the log.
struct ChangeReport {
    private let eventNumber: EventNumber
    /// nil if nothing changed.
    private let transaction: TransactionRecord?
    private var changes: [(event: String, object: String)] = []

    init(_ store: Store, after before: EventNumber, through last: EventNumber) throws {
        eventNumber = last
        transaction = try last > before ? store.transaction(containing: last) : nil
        guard let transaction else { return }
        let names = try store.recordedNames()
        try store.events(from: transaction.firstEvent, through: transaction.lastEvent) { event in
            changes.append(("\(event.kind)", Self.text(event, names)))
            return true
        }
    }

    /// The object, or the two ends of the link.
    private static func text(_ event: RecordedEvent, _ names: RecordedNames) -> String {
        switch event.payload {
        case .linked(let pair), .unlinked(let pair), .moved(let pair):
            "\(names.name(of: pair.key.source)).\(names.name(of: pair.key)) - "
                + names.name(of: pair.key.target)
        default: event.object.map { names.name(of: $0) } ?? "-"
        }
    }

    private static let mostShown = 20

    func print(asJSON: Bool) throws {
        if asJSON {
            return try JSONText.print([
                "transaction": JSONObject.orNull(transaction?.number.rawValue), "eventNumber": eventNumber.rawValue,
                "events": transaction?.eventCount ?? 0,
                "changes": changes.map { change -> JSONObject in ["event": change.event, "object": change.object] },
            ])
        }
        guard let transaction else { return Output.shared.line("nothing changed") }
        var columns = Columns([.left, .left])
        for change in changes.prefix(Self.mostShown) { columns.add(change.event, change.object) }
        columns.flush()
        if changes.count > Self.mostShown {
            Output.shared.line("… and \(ValueText.count(changes.count - Self.mostShown)) more")
        }
        Output.shared.line("transaction \(transaction.number), \(ValueText.count(transaction.eventCount, "event"))")
    }
}
