import ArgumentParser
import StrataModel
import StrataStore

/// `strata views create`: declares a view in a store, and makes its rows.
struct ViewsCreateCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Declares a view in a store, and makes its rows.",
        discussion: """
            The view belongs to the store: apps that open it keep the view in step, whether they know it or not. Saves \
            go on while the rows of many objects are made. A process that has the store open must open it again \
            before it saves.

            --key is an attribute, a to-one or a path over to-ones, 'name = path', a part of a date such as \
            'm = month(shown, Europe/Berlin)' (year, month, day, hour; UTC without a zone), or \
            'p = bucket(gross, 100)'. Without one the view has one row. --column is 'name = count' or \
            'name = function(path)' with count, countDistinct, sum, average, min or max; \
            'name = last(title by shown)' is of the last object by a number or date, 'name = first(SELF by shown, 3)' \
            the first three objects. --order keeps an order too: 'gross', '-gross', 'studio,-gross'; \
            --ranked also counts its rows. The key 'name = SELF' gives each object a row of its own. --where is a \
            condition on the objects, in Core Data's format language. With --catching-up saves do nothing for the view; \
            one of the processes that have the store open keeps it behind them.

            --json prints {"name", "version", "entity", "definition", "rows", "values", "orderEntries", "bytes", "upkeep", \
            "state", "progress", "position", "lagEvents", "lagSeconds", "leftOut", "failure"}; a failure is {"event", \
            "object", "reason", "attempts"}, or null.

            Examples:
                strata views create BowTies.strata RatingsByDrawer --of BowTie \\
                    --key drawer --column 'ties = count' --column 'mean = average(rating)'
                strata views create BowTies.strata Worn --of BowTie --where 'rating > 0' \\
                    --key 'year = year(lastWorn, Europe/Berlin)' \\
                    --column 'ties = count' --order -ties
            """)

    @OptionGroup var store: StoreArguments
    @Argument(help: ArgumentHelp("The name of the new view.", valueName: "view")) var view: String
    @Option(help: ArgumentHelp("The entity whose objects are grouped.", valueName: "entity")) var of: String
    @OptionGroup var condition: ConditionArguments
    @Option(help: ArgumentHelp("A key. Can be repeated.", valueName: "key")) var key: [String] = []
    @Option(help: ArgumentHelp("A column. Can be repeated.", valueName: "column")) var column: [String]
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("An order of the rows to be kept. Can be repeated.", valueName: "columns"))
    var order: [String] = []
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("An order whose rows are counted, for ranks. Can be repeated.", valueName: "columns"))
    var ranked: [String] = []
    @Option(help: "The version of the definition.") var viewVersion = 1
    @Flag(help: "Leave out objects of subentities.") var withoutSubentities = false
    @Flag(help: "Keep the view behind the commits, not in them.") var catchingUp = false
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let use = try store.changingModel { store in
            if store.schema.model.view(named: view) != nil {
                throw UsageError("The model has a view '\(view)'; 'strata views drop' removes one.")
            }
            var description = ViewDescription(
                name: view, version: viewVersion, entityName: of, where: try condition.predicate(in: store),
                keys: try key.map(ViewText.key), aggregates: try column.map(ViewText.aggregate),
                orders: try order.map { ViewOrder(try SortText.parse($0)) }
                    + ranked.map { ViewOrder(try SortText.parse($0), isRanked: true) },
                includesSubentities: !withoutSubentities)
            description.isOfStore = true
            if catchingUp { description.upkeep = .catchingUp }
            return try store.schema.model.adding(views: [description])
        } _: { store in
            try store.keepViews()
            return try store.views().first { $0.description.name == view }
        }
        guard let use else { return }
        if json { return try JSONText.print(use.json) }
        Output.shared.line("\(view): \(ValueText.count(use.groupCount, "row"))")
    }
}
