import ArgumentParser
import StrataGraph
import StrataModel
import StrataStore

/// `strata unlink`: removes members from a to-many, or clears a to-one.
struct UnlinkCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlink",
        abstract: "Removes members from a to-many, or clears a to-one.",
        discussion: """
            Without members, everything that the relationship leads to is unlinked; for a to-many this needs --all. An \
            object that is not a member is an error: exit code 1, and nothing is saved.

            \(ChangeArguments.help)

            Examples:
                strata unlink BowTies.strata Drawer/p3 ties BowTie/p1
                strata unlink BowTies.strata Drawer/p3 ties --all
            """)

    @OptionGroup var store: StoreArguments
    @Argument(help: ArgumentHelp("The object.", valueName: "object")) var object: String
    @Argument(help: ArgumentHelp("The relationship.", valueName: "relationship")) var relationship: String
    @Argument(help: ArgumentHelp("The objects to unlink.", valueName: "member")) var members: [String] = []
    @Flag(help: "All members.") var all = false
    @OptionGroup var change: ChangeArguments

    func validate() throws {
        guard !all || members.isEmpty else {
            throw ValidationError("Name the members or give --all, not both: --all unlinks the others too.")
        }
    }

    func run() throws {
        try change.run(store) { store, context in
            let link = try RelationshipTarget(object, relationship, store, context)
            if members.isEmpty {
                guard all || !link.isToMany else { throw UsageError("Name the members, or give --all.") }
                let nothing: [ManagedObject] = []
                return try link.object.setValue(link.isToMany ? nothing : nil, forKey: relationship)
            }
            var seen: Set<ObjectID> = []
            for word in members {
                let member = try TargetArguments().object(word, store, context)
                guard seen.insert(member.objectID).inserted else { continue }
                guard try link.unlink(member) else {
                    throw StrataError(.referentialIntegrity, "\(object).\(relationship) does not lead to \(word).")
                }
            }
        }
    }
}
