import ArgumentParser
import StrataModel
import StrataStore

/// `strata views skip`: has a failed view leave out the object that it cannot group.
struct ViewsSkipCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "skip",
        abstract: "Has a failed view leave out the object that it cannot group.",
        discussion: """
            The view goes on without the object, until 'strata views rebuild' makes it anew. 'strata views show' names the \
            object and says why.

            --json prints {"name", "version", "entity", "definition", "rows", "values", "orderEntries", "bytes", "upkeep", \
            "state", "progress", "position", "lagEvents", "lagSeconds", "leftOut", "failure"}; a failure is {"event", \
            "object", "reason", "attempts"}, or null.

            Example:
                strata views skip BowTies.strata RatingsByDrawer
            """)

    @OptionGroup var store: StoreArguments
    @Argument(help: ArgumentHelp("The view.", valueName: "view")) var view: String
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let use = try store.writing { store in
            _ = try ViewName.find(view, in: store.schema)
            try store.skipEvent(ofView: view)
            try store.keepViews()
            return try store.views().first { $0.description.name == view }
        }
        guard let use else { return }
        if json { return try JSONText.print(use.json) }
        Output.shared.line("\(view): \(use.stateText)")
    }
}
