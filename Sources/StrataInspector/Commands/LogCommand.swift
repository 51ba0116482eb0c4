import ArgumentParser
import Foundation
import StrataModel
import StrataStore

struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Lists what happened: when, by whom, to which object, before and after.",
        discussion: """
            One line for each changed property, oldest first; --reverse begins with the newest, and --limit counts from \
            where the listing begins. A moment is an event's sequence (1200), a transaction (t12), a date (2026-11-21 or \
            2026-11-21T10:00:00Z), or '2 hours ago'.

            --json prints one object a line for each event: {"sequence", "time", "transaction", "author", "event", \
            "object", "changes": {property: {"before", "after"}}} for updated; "values": {property: value} for inserted \
            and deleted; "relationship", "source", "target", "place" and "placeBefore" for linked, unlinked and moved; \
            "model" for modelInstalled.
            """)

    @OptionGroup var store: StoreArguments
    @Option(help: "Only events on objects of this entity, or of one below it.") var entity: String?
    @Option(help: "Only events on this object: BowTie/p12.") var object: String?
    @Option(
        help: "Only events of this kind: inserted, updated, deleted, linked, unlinked, moved, modelInstalled.")
    var kind: String?
    @Option(help: "Only changes of this property.") var property: String?
    @Option(help: "Only what this author did.") var author: String?
    @Option(help: "Nothing before this moment.") var since: String?
    @Option(help: "Nothing after this moment.") var until: String?
    @Option(help: "At most this many events.") var limit: Int?
    @Flag(help: "Newest first.") var reverse = false
    @Flag(help: "Print JSON, an event a line.") var json = false

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is less than 0.") }
        if let kind, LogFilter.kind(named: kind) == nil {
            throw ValidationError("There is no kind of event '\(kind)'.")
        }
    }

    func run() throws {
        try store.reading { store in
            let names = try store.recordedNames()
            var walk = LogWalk(
                store: store, filter: try filter(store, names), order: reverse ? .newestFirst : .oldestFirst)
            walk.limit = limit
            var printer: any EventPrinter =
                json ? JSONEventPrinter(names: names) : ColumnEventPrinter(names: names, head: try store.head())
            try walk.run { event, transaction in try printer.print(event, transaction) }
            printer.finish()
        }
    }

    private func filter(_ store: Store, _ names: RecordedNames) throws -> LogFilter {
        var filter = LogFilter()
        if let entity { filter.entities = Set(try EntityName.find(entity, in: store).entityIDs) }
        if let object { filter.object = try ObjectReference.parse(object, in: store) }
        filter.kind = kind.flatMap(LogFilter.kind(named:))
        if let property {
            filter.properties = names.properties(named: property)
            if filter.properties?.isEmpty ?? false { throw UsageError("The store has no property '\(property)'.") }
        }
        filter.author = author
        if let since { filter.first = try Moment.firstEvent(since, in: store) }
        filter.last = try until.map { try Moment.lastEvent($0, in: store) } ?? store.head()
        return filter
    }
}
