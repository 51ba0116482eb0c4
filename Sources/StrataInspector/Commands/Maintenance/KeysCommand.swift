import ArgumentParser

/// `strata keys`: the keys of encrypted attributes.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Lists the keys of encrypted attributes, encrypts values under a new one, and destroys keys.",
        discussion: """
            A key is a file of 32 random bytes or more, such as 'head -c 32 /dev/urandom > new.key' makes. A store names a \
            key by its id, which says nothing of it.

            Each takes --json; what it prints stands in its own help, such as {"keys": [...]} of 'strata help keys list'.
            """,
        subcommands: [KeysListCommand.self, KeysRotateCommand.self, KeysDestroyCommand.self])
}
