import ArgumentParser
import StrataGraph
import StrataStore

/// `strata delete`: deletes objects, and applies their delete rules to what they are linked to.
struct DeleteCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes objects, and applies their delete rules to what they are linked to.",
        discussion: """
            The history keeps what they were: 'strata show --at', 'strata revert'.

            \(ChangeArguments.help)

            Examples:
                strata delete BowTies.strata BowTie/p3 BowTie/p4 --reason 'sold'
                strata delete BowTies.strata BowTie --where 'rating < 1'
                strata delete BowTies.strata BowTie --all
            """)

    @OptionGroup var store: StoreArguments
    @Argument(help: ArgumentHelp("Objects, or an entity with --where or --all.", valueName: "word"))
    var words: [String]
    @OptionGroup var targets: TargetArguments
    @OptionGroup var change: ChangeArguments

    func run() throws {
        try change.run(store) { store, context in
            for object in try targets.objects(words, store, context) { context.delete(object) }
        }
    }
}
