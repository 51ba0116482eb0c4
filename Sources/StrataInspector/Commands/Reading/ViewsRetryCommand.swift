import ArgumentParser
import StrataModel
import StrataStore

/// `strata views retry`: has a failed view tried again at once.
struct ViewsRetryCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Has a failed view tried again at once.",
        discussion: """
            A view that catches up fails at an event if it cannot group an object. It is tried again by itself, less and \
            less often.

            --json prints {"name", "version", "entity", "definition", "rows", "values", "orderEntries", "bytes", "upkeep", \
            "state", "progress", "position", "lagEvents", "lagSeconds", "leftOut", "failure"}; a failure is {"event", \
            "object", "reason", "attempts"}, or null.

            Example:
                strata views retry BowTies.strata RatingsByDrawer
            """)

    @OptionGroup var store: StoreArguments
    @Argument(help: ArgumentHelp("The view.", valueName: "view")) var view: String
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let use = try store.writing { store in
            _ = try ViewName.find(view, in: store.schema)
            try store.retryView(view)
            try store.keepViews()
            return try store.views().first { $0.description.name == view }
        }
        guard let use else { return }
        if json { return try JSONText.print(use.json) }
        Output.shared.line("\(view): \(use.stateText)")
    }
}
