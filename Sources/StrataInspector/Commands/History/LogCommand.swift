import ArgumentParser
import Dispatch
import Foundation
import StrataModel
import StrataStore

/// `strata log`: lists what happened: when, by whom, to which object, before and after.
struct LogCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Lists what happened: when, by whom, to which object, before and after.",
        discussion: """
            One line for each changed property, oldest first, and one for the reason of a transaction that has one. --reverse begins with the newest, and --limit counts \
            from where the listing begins. \(Moment.help)

            --json prints one object a line for each event: {"eventNumber", "time", "transaction", "author", "reason", \
            "event", "object", "changes": {property: {"before", "after"}}} for updated; "values": {property: value} for inserted \
            and deleted; "relationship", "source", "target", "position" and "positionBefore" for linked, unlinked and moved; \
            "model" for modelInstalled; "erasure": {"objects", "properties", "reason"} for an erasure; "erased" is true for an \
            event from which values were erased, "thinned" for one from which replaced values were dropped.

            --follow goes on with what is saved from now on, by any process, until it is interrupted, its reader goes \
            away, or --limit is reached.

            Examples:
                strata log BowTies.strata --since '2 hours ago'
                strata log BowTies.strata --entity BowTie --property rating \\
                    --author ann --reverse --limit 10
                strata log BowTies.strata --follow --json
            """)

    @OptionGroup var store: StoreArguments
    @Option(help: "Only events on objects of this entity or its subentities.", completion: .entityNames)
    var entity: String?
    @Option(help: "Only events on this object: BowTie/p12.") var object: String?
    @Option(
        help: "Only events of this kind: inserted, updated, deleted, linked, unlinked, moved, modelInstalled.")
    var kind: String?
    @Option(help: "Only changes of this property.") var property: String?
    @Option(help: "Only transactions of this author.") var author: String?
    @OptionGroup var span: SpanArguments
    @Option(help: "At most this many events.") var limit: Int?
    @Flag(help: "Newest first.") var reverse = false
    @Flag(help: "Wait for new events and print them as they are saved.") var follow = false
    @Flag(help: "Print JSON, an event a line.") var json = false

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is less than 0.") }
        if let kind, LogFilter.kind(named: kind) == nil {
            throw ValidationError("There is no kind of event '\(kind)'.")
        }
        if follow, reverse || span.until != nil {
            throw ValidationError("--follow goes with neither --reverse nor --until.")
        }
    }

    func run() throws {
        try store.reading { store in
            let names = try store.recordedNames()
            let filter = try filter(store, names)
            var left = limit ?? .max
            try list(filter, &left, names, store)
            if follow { try follow(filter, left, store) }
        }
    }

    /// - Parameter left: how many events may still be printed.
    private func list(_ filter: LogFilter, _ left: inout Int, _ names: RecordedNames, _ store: Store) throws {
        var walk = LogWalk(store: store, filter: filter, order: reverse ? .newestFirst : .oldestFirst)
        walk.limit = left
        var printer: any EventPrinter =
            json
            ? JSONEventPrinter(names: names)
            : ColumnEventPrinter(try StoreMoment(nil, in: store).linkNames(names, in: store))
        try walk.run { event, transaction in
            left -= 1
            try printer.print(event, transaction)
        }
        printer.finish()
    }

    private func follow(_ filter: LogFilter, _ limit: Int, _ store: Store) throws {
        let moved = DispatchSemaphore(value: 0)
        let observation = try store.observeHead { _ in moved.signal() }
        defer { observation.cancel() }
        var filter = filter
        var left = limit
        while left > 0 {
            Output.shared.flush()
            let head = try store.head()
            if head > filter.last {
                filter.first = max(filter.first, filter.last.advanced(by: 1))
                filter.last = head
                // Reads the names again: a new model may have come with the events.
                try list(filter, &left, try store.recordedNames(), store)
            } else if moved.wait(timeout: .now() + .milliseconds(500)) == .timedOut, Output.hasNoReader {
                return
            }
        }
    }

    private func filter(_ store: Store, _ names: RecordedNames) throws -> LogFilter {
        var filter = LogFilter()
        if let entity { filter.entities = try EntityName.numbersEver(of: entity, in: store) }
        if let object { filter.object = try ObjectReference.parse(object, in: store, past: true) }
        filter.kind = kind.flatMap(LogFilter.kind(named:))
        if let property {
            filter.properties = names.properties(named: property)
            if filter.properties?.isEmpty ?? false { throw UsageError("The store has no property '\(property)'.") }
        }
        filter.author = author
        (filter.first, filter.last) = try span.events(in: store)
        return filter
    }
}
