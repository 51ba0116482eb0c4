import ArgumentParser
import StrataModel
import StrataStore

/// `strata views show`: prints the definition and the size of a view.
struct ViewsShowCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Prints the definition and the size of a view.",
        discussion: """
            --json prints {"name", "version", "entity", "definition", "rows", "values", "orderEntries", "bytes", "upkeep", \
            "state", "progress", "position", "lagEvents", "lagSeconds", "leftOut", "failure"}; a failure is {"event", \
            "object", "reason", "attempts"}, or null.

            Example:
                strata views show BowTies.strata RatingsByDrawer
            """)

    @OptionGroup var store: StoreArguments
    @Argument(help: ArgumentHelp("The view.", valueName: "view")) var view: String
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        try store.reading { store in
            let name = try ViewName.find(view, in: store.schema).name
            guard let use = try store.views().first(where: { $0.description.name == name }) else { return }
            if json { return try JSONText.print(use.json) }
            var head = Columns([.left, .left])
            let shown = use.description
            head.add("view", shown.name)
            head.add("version", "\(shown.version)")
            let scope = shown.includesSubentities ? "" : ", without subentities"
            head.add("entity", shown.entityName + scope)
            if let predicate = shown.predicate { head.add("where", "\(predicate)") }
            for key in shown.keys { head.add("key", "\(key)") }
            for aggregate in shown.aggregates { head.add("aggregate", "\(aggregate)") }
            for order in shown.orders { head.add("order", "\(order)") }
            head.add("rows", ValueText.count(use.groupCount))
            head.add("kept values", ValueText.count(use.valueCount))
            head.add("bytes", ValueText.count(use.sizeInBytes))
            head.add("kept", shown.upkeep == .inline ? "in each commit" : "behind the commits")
            head.add("state", use.stateText)
            if use.upkeep.lagInEvents > 0 {
                head.add("behind by", ValueText.count(Int(clamping: use.upkeep.lagInEvents), "event"))
                head.add("since", "\(Int(use.upkeep.lag / .seconds(1))) s")
            }
            if let failure = use.failure {
                head.add("object", "\(failure.object)")
                head.add("reason", failure.reason)
                head.add("attempts", "\(failure.attempts)")
            }
            for object in use.upkeep.leftOut { head.add("left out", "\(object)") }
            head.flush()
        }
    }
}
