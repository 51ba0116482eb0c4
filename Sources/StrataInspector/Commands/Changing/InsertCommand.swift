import ArgumentParser
import StrataGraph
import StrataModel
import StrataStore

/// `strata insert`: makes a new object.
struct InsertCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "insert",
        abstract: "Makes a new object.",
        discussion: """
            \(Assignments.help) What is not given has the default of the model.

            \(ChangeArguments.help)

            Examples:
                strata insert BowTies.strata BowTie name='Red Bow Tie' rating=4.5 \\
                    drawer.label=top
                strata insert BowTies.strata BowTie name=Blue photo=@blue.jpg \\
                    --author ann --json
            """)

    @OptionGroup var store: StoreArguments
    @Argument(help: ArgumentHelp("The entity; it cannot be abstract.", valueName: "entity"), completion: .entityNames)
    var entity: String
    @Argument(help: ArgumentHelp("The values.", valueName: "property=value")) var assignments: [String] = []
    @Option(
        name: [.customLong("nil")],
        help: ArgumentHelp("Set nil instead of the default.", valueName: "property"))
    var nils: [String] = []
    @OptionGroup var change: ChangeArguments

    func run() throws {
        let assignments = try Assignments(assignments, nils: nils)
        try change.run(store) { store, context in
            let entity = try EntityName.find(entity, in: store)
            guard !entity.isAbstract else { throw UsageError("\(entity.name) is abstract and has no objects itself.") }
            let object = try context.insertNewObject(forEntityName: entity.name)
            try assignments.apply(to: object, ObjectFinder(store, context))
        }
    }
}
