import ArgumentParser
import StrataModel
import StrataStore

/// `strata views drop`: removes a view that belongs to a store.
struct ViewsDropCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Removes a view that belongs to a store.",
        discussion: """
            A view that an app's model declares would be made again when the app opens the store: remove it there.

            --json prints {"dropped", "rows"}.

            Example:
                strata views drop BowTies.strata RatingsByDrawer
            """)

    @OptionGroup var store: StoreArguments
    @Argument(help: ArgumentHelp("The view.", valueName: "view")) var view: String
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        var rows = 0
        try store.changingModel(keepingOwnViews: false) { store in
            let found = try ViewName.find(view, in: store.schema)
            guard found.isOfStore else {
                throw UsageError("The view '\(view)' is declared by the model of an app; remove it there.")
            }
            rows = try store.views().first { $0.description.name == view }?.groupCount ?? 0
            return store.schema.model.without(view: view)
        } _: { _ in
        }
        if json { return try JSONText.print(["dropped": view, "rows": rows]) }
        Output.shared.line("dropped \(view), \(ValueText.count(rows, "row"))")
    }
}
