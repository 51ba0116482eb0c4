import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// `strata query`: finds objects and prints them as a table, JSON, NDJSON or CSV.
struct QueryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Finds objects and prints them as a table, JSON, NDJSON or CSV.",
        discussion: """
            --where is a condition in Core Data's format language, and --columns are key paths and expressions in it: \
            'name, drawer.label, ties.@count, price * 1.2'. Without --columns the columns are the object, its \
            attributes and its to-ones. With --group-by, objects with the same values of these key paths make one row, \
            and columns may be aggregates: 'year, count, average(rating)'; --having is a condition on such rows. \
            --sort is 'name,-rating' (- for descending); groups are sorted by columns only. \(Moment.help)

            --explain prints how the objects are found instead of the objects: each step with its estimated rows, its \
            actual rows, and its time.

            --json prints an array with an object for each row, --format ndjson an object on each line. Keys are the \
            columns in their order, dates ISO 8601, objects as BowTie/p12, data as its size. CSV has a heading; nil is \
            empty. With --explain, --json prints {"result": step}; a step is {"operation", "detail", "index", \
            "estimatedRows", "rows", "nanoseconds", "note", "inputs": [step]}.

            Examples:
                strata query BowTies.strata BowTie --where 'rating > 4' \\
                    --sort -rating,name --limit 10
                strata query BowTies.strata BowTie --where 'drawer = %@' \\
                    --argument Drawer/p3 --columns 'name, wears.@count'
                strata query BowTies.strata BowTie --where 'lastWorn >= "2026-01-01"'
                strata query BowTies.strata BowTie --group-by drawer.label \\
                    --columns 'drawer.label, count, average(rating)' --having 'count > 2'
                strata query BowTies.strata BowTie --at 'before import' --format csv
                strata query BowTies.strata BowTie --where 'rating > 4' --explain
            """)

    @OptionGroup var store: StoreArguments
    @OptionGroup var query: QueryArguments
    @Option(
        parsing: .unconditional, help: ArgumentHelp("Key paths; - before one sorts it descending.", valueName: "keys"))
    var sort: String?
    @Option(help: "At most this many rows.") var limit: Int?
    @Option(help: "Skip this many rows.") var offset = 0
    @Option(parsing: .unconditional, help: ArgumentHelp("What to print of each object or group.", valueName: "list"))
    var columns: String?
    @Option(help: ArgumentHelp("Key paths with equal values in the objects of a row.", valueName: "keys")) var groupBy:
        String?
    @Option(parsing: .unconditional, help: ArgumentHelp("Only groups whose rows meet this.", valueName: "format"))
    var having: String?
    @Flag(help: "Print equal rows once.") var distinct = false
    @Flag(help: "Print how the objects are found.") var explain = false
    @OptionGroup var format: RowFormatArguments

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is less than 0.") }
        if offset < 0 { throw ValidationError("--offset is less than 0.") }
    }

    func run() throws {
        try store.reading { store in
            let moment = try StoreMoment(query.at, in: store)
            let request = try request(moment, in: store)
            if explain { return try explain(request.objects, moment, store) }
            let names = request.columns.map(\.name)
            if format.chosen == .json || format.chosen == .ndjson { try ListText.checkNoneTwice(names) }
            var writer = format.writer(names, try store.recordedNames())
            // For the store, 0 means no limit.
            if limit != 0 {
                try RowStream(store: store, moment: moment, request: request).forEach { writer.row($0) }
            }
            writer.finish()
        }
    }

    private func request(_ moment: StoreMoment, in store: Store) throws -> RowsRequest {
        let entity = try moment.entity(named: query.entity)
        var objects = try query.request(moment, in: store)
        objects.sort = try SortText.parse(sort)
        objects.limit = limit ?? 0
        objects.offset = offset
        let keys = ListText.parts(groupBy ?? "")
        let chosen =
            try columns.map { try ColumnText.parse($0, of: entity) }
            ?? (keys.isEmpty ? ColumnText.usual(of: entity) : keys.map { OutputColumn($0) } + [ColumnText.count])
        return RowsRequest(
            objects: objects, columns: chosen, groupBy: keys,
            having: try ConditionText.predicate(having, in: store), isDistinct: distinct)
    }

    private func explain(_ request: StoreRequest, _ moment: StoreMoment, _ store: Store) throws {
        var request = request
        // Groups are sorted and limited after the steps that `explain` shows.
        if groupBy != nil || distinct { (request.sort, request.limit, request.offset) = ([], 0, 0) }
        let explanation = try moment.read(store) { try $0.explain(request) }
        Output.shared.line(format.chosen == .json ? try JSONText.of(explanation) : explanation.description)
    }
}
