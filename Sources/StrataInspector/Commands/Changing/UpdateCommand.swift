import ArgumentParser
import StrataGraph
import StrataStore

/// `strata update`: changes objects: the ones named, or those of an entity that meet a condition.
struct UpdateCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Changes objects: the ones named, or those of an entity that meet a condition.",
        discussion: """
            \(Assignments.help)

            \(ChangeArguments.help)

            Examples:
                strata update BowTies.strata BowTie/p3 BowTie/p4 rating=5
                strata update BowTies.strata BowTie --where 'rating < 1' rating=1 \\
                    --reason 'not that bad'
            """)

    @OptionGroup var store: StoreArguments
    @Argument(
        help: ArgumentHelp("Objects, or an entity with --where or --all; then what to set.", valueName: "word"))
    var words: [String]
    @Option(name: [.customLong("nil")], help: ArgumentHelp("Set nil.", valueName: "property"))
    var nils: [String] = []
    @OptionGroup var targets: TargetArguments
    @OptionGroup var change: ChangeArguments

    func run() throws {
        // Names of objects and entities contain no `=`.
        let assignments = try Assignments(words.filter { $0.contains("=") }, nils: nils)
        guard !assignments.isEmpty else { throw UsageError("There is nothing to set. Write property=value.") }
        try change.run(store) { store, context in
            let finder = ObjectFinder(store, context)
            let objects = try targets.objects(words.filter { !$0.contains("=") }, store, context)
            for object in objects { try assignments.apply(to: object, finder) }
        }
    }
}
