import ArgumentParser
import StrataGraph
import StrataModel
import StrataStore

/// `strata link`: adds members to a to-many, or sets a to-one.
struct LinkCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "link",
        abstract: "Adds members to a to-many, or sets a to-one.",
        discussion: """
            The other end of the relationship follows. Objects that are members already keep their positions. With \
            --position the named members stand next to each other, the first at that position.

            \(ChangeArguments.help)

            Examples:
                strata link BowTies.strata Drawer/p3 ties BowTie/p1 BowTie/p2
                strata link BowTies.strata Drawer/p3 ties BowTie/p2 --position 0
            """)

    @OptionGroup var store: StoreArguments
    @Argument(help: ArgumentHelp("The object.", valueName: "object")) var object: String
    @Argument(help: ArgumentHelp("The relationship.", valueName: "relationship")) var relationship: String
    @Argument(help: ArgumentHelp("The objects to link.", valueName: "member")) var members: [String]
    @Option(help: ArgumentHelp("The position of the first in an ordered to-many, from 0.", valueName: "number"))
    var position: Int?
    @OptionGroup var change: ChangeArguments

    func run() throws {
        try change.run(store) { store, context in
            let link = try RelationshipTarget(object, relationship, store, context)
            let members = try members.map { try TargetArguments().object($0, store, context) }
            if position != nil, !link.isOrdered {
                throw UsageError("\(relationship) is not ordered, so it has no positions.")
            }
            guard link.isToMany else {
                guard members.count == 1 else { throw UsageError("\(relationship) leads to one object only.") }
                return try link.object.setValue(members[0], forKey: relationship)
            }
            if let position { return try link.object.insertMembers(members, forKey: relationship, at: position) }
            for member in members { try link.object.insertMember(member, forKey: relationship) }
        }
    }
}
