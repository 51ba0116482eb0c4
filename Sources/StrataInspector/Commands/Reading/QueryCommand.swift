import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// `strata query`: finds objects and prints them as a table, JSON, NDJSON or CSV.
struct QueryCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Finds objects and prints them as a table, JSON, NDJSON or CSV.",
        discussion: """
            --where is a condition in Core Data's format language, and --columns are key paths and expressions in it: \
            'name, drawer.label, ties.@count, price * 1.2'. Without --columns the columns are the object, its \
            attributes and its to-ones. AS names a column: 'price * 1.2 AS gross'. A key path across a to-many is a \
            list: 'name, ties.name'. With --group-by, objects with the same values of these key paths make one row, \
            and columns may be aggregates: 'year, count, average(rating)'; --having is a condition on such rows, in \
            which count is the number of objects, as it is in --sort. Across \
            a to-many, an object is once in the group of each value among its members. --sort is 'name,-rating' (- for \
            descending): key paths, names of columns, or expressions. \(Moment.help)

            --match finds objects by the words of the full text that the entity declares: 'stalk* NEAR zone', \
            '"the zone" NOT room', 'title: zone'. Without --sort they are in order of relevance, the best first. \
            --snippet adds a column with the part of the text that was found, the words in [brackets].

            --explain prints how the objects are found instead of the objects: each step with its estimated rows, its \
            actual rows, and its time.

            --json prints an array with an object for each row, --format ndjson an object on each line. Keys are the \
            columns in their order, dates ISO 8601, objects as BowTie/p12, data as its size, lists arrays. CSV has a \
            heading; nil is empty, and lists have semicolons. A table shows the unique name of an object that a link \
            leads to. With --explain, --json prints {"result": step}; a step is {"operation", "detail", "index", \
            "estimatedRows", "rows", "nanoseconds", "note", "inputs": [step]}.

            Examples:
                strata query BowTies.strata BowTie --where 'rating > 4' \\
                    --sort -rating,name --limit 10
                strata query BowTies.strata BowTie --where 'drawer = %@' \\
                    --argument Drawer/p3 --columns 'name, wears.@count'
                strata query BowTies.strata BowTie --where 'lastWorn >= "2026-01-01"'
                strata query BowTies.strata BowTie --group-by drawer.label \\
                    --columns 'drawer.label, count, average(rating) AS mean' \\
                    --having 'count > 2' --sort -mean
                strata query BowTies.strata BowTie --at 'before import' --format csv
                strata query BowTies.strata BowTie --where 'rating > 4' --explain
                strata query Films.strata Film --match 'stalk* NEAR zone' \\
                    --snippet --limit 5
            """)

    @OptionGroup var store: StoreArguments
    @OptionGroup var query: QueryArguments
    @Option(
        parsing: .unconditional, help: ArgumentHelp("Key paths; - before one sorts it descending.", valueName: "keys"),
        completion: .keyPaths)
    var sort: String?
    @Option(help: ArgumentHelp("Only objects whose full text meets this.", valueName: "words")) var match: String?
    @Flag(help: "Print what --match found of each text.") var snippet = false
    @Option(help: "At most this many rows.") var limit: Int?
    @Option(help: "Skip this many rows.") var offset = 0
    @Option(
        parsing: .unconditional, help: ArgumentHelp("What to print of each object or group.", valueName: "list"),
        completion: .keyPaths)
    var columns: String?
    @Option(
        help: ArgumentHelp("Key paths with equal values in the objects of a row.", valueName: "keys"),
        completion: .keyPaths)
    var groupBy: String?
    @Option(
        parsing: .unconditional, help: ArgumentHelp("Only groups whose rows meet this.", valueName: "format"),
        completion: .keyPaths)
    var having: String?
    @Flag(help: "Print equal rows once.") var distinct = false
    @Flag(help: "Print how the objects are found.") var explain = false
    @OptionGroup var format: RowFormatArguments

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is less than 0.") }
        if offset < 0 { throw ValidationError("--offset is less than 0.") }
        if having != nil, groupBy == nil, columns == nil {
            throw ValidationError("--having is a condition on groups: give --group-by, or --columns with aggregates.")
        }
        guard snippet else { return }
        if match == nil { throw ValidationError("--snippet needs a --match.") }
        if groupBy != nil || distinct { throw ValidationError("--snippet is of single objects.") }
    }

    func run() throws {
        try store.reading { store in
            let moment = try StoreMoment(query.at, in: store)
            var request = try request(moment, in: store)
            let snippets = try snippets(moment, &request)
            if explain { return try explain(request.objects, moment, store) }
            if format.chosen == .json || format.chosen == .ndjson {
                try ListText.checkNoneTwice(snippets?.columns.map(\.name) ?? request.columns.map(\.name))
            }
            let links = moment.linkNames(try store.recordedNames(), in: store)
            var writer = format.writer(snippets?.columns ?? request.columns, links)
            let rows = try RowStream(request, of: try moment.entity(named: query.entity), at: moment, in: store)
            // For the store, 0 means no limit.
            if limit != 0 { try rows.forEach { writer.row(snippets?.row($0) ?? $0) } }
            writer.finish()
        }
    }

    private func request(_ moment: StoreMoment, in store: Store) throws -> RowsRequest {
        let entity = try moment.entity(named: query.entity)
        let names = try moment.propertyNames
        var keys = ListText.parts(groupBy ?? "")
        if groupBy != nil, keys.isEmpty { throw UsageError("--group-by is empty.") }
        if let call = keys.first(where: { $0.contains("(") }) {
            throw UsageError(
                "--group-by takes key paths, not \(call). A view can have it as a key: strata views create --key "
                    + "'name = \(call)'; or group by a derived attribute.")
        }
        keys = try keys.map { try names.keyPath($0, of: entity) }
        let chosen =
            try columns.map { try ColumnText.parse($0, of: entity, at: moment) }
            ?? (keys.isEmpty ? ColumnText.usual(of: entity) : keys.map { OutputColumn($0) } + [ColumnText.count])
        var request = RowsRequest(
            objects: try query.request(moment, in: store), columns: chosen, groupBy: keys,
            having: try ConditionText.predicate(having, in: store), isDistinct: distinct)
        let headings = Set(chosen.map(\.name))
        request.having = try request.having.map { try names.predicate($0, of: entity, keeping: headings) }
        let isCountNamed = chosen.contains { $0.name == "count" } || keys.contains("count")
        let countsGroups = request.isGrouped && !isCountNamed
        if countsGroups {
            request.having = request.having?.replacingKeyPaths { path in
                path == "count" ? ColumnText.count.expression : .keyPath(path)
            }
        }
        request.objects.sort = try names.order(
            SortText.parse(sort, isOfGroups: countsGroups), of: entity, keeping: headings)
        if let match {
            let condition = FetchPredicate.matchesText(match)
            request.objects.predicate = request.objects.predicate.map { $0 && condition } ?? condition
            if sort == nil, !request.isGrouped, !distinct { request.objects.sort = [.relevance] }
        }
        request.objects.limit = limit ?? 0
        request.objects.offset = offset
        return request
    }

    /// Adds the columns from which snippets are made.
    private func snippets(_ moment: StoreMoment, _ request: inout RowsRequest) throws -> SnippetColumn? {
        guard snippet, let match else { return nil }
        let names = moment.schema.fullText(of: try moment.entity(named: query.entity))
        let column = SnippetColumn(try FullTextQuery(match), request.columns, attributeCount: names.count)
        request.columns += names.map { OutputColumn($0) }
        return column
    }

    private func explain(_ request: StoreRequest, _ moment: StoreMoment, _ store: Store) throws {
        var request = request
        // Groups are sorted and limited after the steps that `explain` shows.
        if groupBy != nil || distinct { (request.sort, request.limit, request.offset) = ([], 0, 0) }
        let explanation = try moment.read(store) { try $0.explain(request) }
        Output.shared.line(format.chosen == .json ? try JSONText.of(explanation) : explanation.description)
    }
}
