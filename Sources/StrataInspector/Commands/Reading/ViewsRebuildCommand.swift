import ArgumentParser
import StrataModel
import StrataStore

/// `strata views rebuild`: rebuilds the rows of a view from the objects.
struct ViewsRebuildCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "Makes the rows of a view anew from the objects.",
        discussion: """
            If they differ from those before, these were damaged, and the exit code is 1, although the view is sound \
            now. 'strata rebuild' makes all tables anew from the log.

            --json prints {"view", "unchanged", "rows"}.

            Example:
                strata views rebuild BowTies.strata RatingsByDrawer
            """)

    @OptionGroup var store: StoreArguments
    @Argument(help: ArgumentHelp("The view.", valueName: "view")) var view: String
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let (isUnchanged, rows) = try store.writing { store in
            _ = try ViewName.find(view, in: store.schema)
            let isUnchanged = try store.rebuild(view: view)
            return (isUnchanged, try store.views().first { $0.description.name == view }?.groupCount ?? 0)
        }
        if json {
            try JSONText.print(["view": view, "unchanged": isUnchanged, "rows": rows])
        } else {
            Output.shared.line(
                "\(view): \(ValueText.count(rows, "row")), \(isUnchanged ? "unchanged" : "they have changed")")
        }
        if !isUnchanged { throw ExitStatus.FoundProblem() }
    }
}
