import ArgumentParser
import StrataModel
import StrataStore

/// `strata views query`: prints rows of a view.
struct ViewsQueryCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Prints rows of a view as a table, JSON, NDJSON or CSV.",
        discussion: """
            --where is a condition on the columns of the view, in Core Data's format language. --sort is \
            'gross,-films' (- for descending); without it rows are in the order of their keys. \(Moment.help)

            --json prints an array with an object for each row, such as {"drawer": "left", "ties": 3}; --format \
            ndjson prints an object on each line. Keys are the columns in their order.

            Examples:
                strata views query BowTies.strata RatingsByDrawer
                strata views query BowTies.strata RatingsByDrawer \\
                    --where 'ties > 2' --sort -mean --limit 10
                strata views query BowTies.strata RatingsByDrawer --at '2 hours ago'
            """)

    @OptionGroup var store: StoreArguments
    @Argument(help: ArgumentHelp("The view.", valueName: "view")) var view: String
    @OptionGroup var condition: ConditionArguments
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Columns; - before one sorts it descending.", valueName: "columns"))
    var sort: String?
    @Option(help: "At most this many rows.") var limit: Int?
    @Option(help: "Skip this many rows.") var offset = 0
    @Option(help: ArgumentHelp("Query the state of this moment.", valueName: "moment")) var at: String?
    @OptionGroup var format: RowFormatArguments

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is less than 0.") }
        if offset < 0 { throw ValidationError("--offset is less than 0.") }
    }

    func run() throws {
        try store.reading { store in
            let moment = try StoreMoment(at, in: store)
            let found = try ViewName.find(view, in: moment.schema)
            let request = ViewRequest(
                found.name, where: try condition.predicate(in: store), sortedBy: try SortText.parse(sort),
                limit: limit ?? 0, offset: offset)
            let rows = try WatchedQuery.run(store, moment, total: 0) { try $0.rows(request) }
            let links = moment.linkNames(try store.recordedNames(), in: store)
            var writer = format.writer(found.columnNames.map { OutputColumn($0) }, links)
            // For the store, 0 means no limit.
            if limit != 0 { for row in rows { writer.row(row.map(PredicateOperand.one)) } }
            writer.finish()
        }
    }
}
