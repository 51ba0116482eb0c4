import ArgumentParser
import StrataModel
import StrataStore

/// `strata views list`: lists the declared views with their sizes.
struct ViewsListCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the declared views with their sizes.",
        discussion: """
            --json prints {"views": [{"name", "version", "entity", "definition", "rows", "values", "orderEntries", \
            "bytes", "upkeep", "state", "progress", "position", "lagEvents", "lagSeconds", "leftOut", "failure"}]}; \
            values are records that are kept for min, max, countDistinct, first and last. A failure is {"event", \
            "object", "reason", "attempts"}, or null.

            Example:
                strata views list BowTies.strata
            """)

    @OptionGroup var store: StoreArguments
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        try store.reading { store in
            let views = try store.views()
            if json { return try JSONText.print(["views": views.map(\.json)]) }
            if views.isEmpty { return Output.shared.line("no view; 'strata views create' declares one") }
            var columns = Columns([.left, .right, .left, .right, .right, .left], cutsToTerminal: true)
            columns.add(["view", "version", "entity", "rows", "bytes", "state"].map { .init($0, .bold) })
            for view in views {
                columns.add(
                    view.description.name, "\(view.description.version)", view.description.entityName,
                    ValueText.count(view.groupCount), ValueText.count(view.sizeInBytes),
                    view.stateText)
            }
            columns.flush()
        }
    }
}
