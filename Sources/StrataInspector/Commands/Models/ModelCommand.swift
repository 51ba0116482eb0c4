import ArgumentParser

/// `strata model`: shows, compares, checks and exports models: Xcode's files, or the model in a store.
struct ModelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model",
        abstract: "Shows, compares, checks and exports models: Xcode's files, or the model in a store.",
        discussion: """
            MODEL is an .xcdatamodeld, an .xcdatamodel, or a store's directory. Of several versions the current one is \
            read, unless --version names another.

            Each takes --json; what it prints stands in its own help, such as {"model", "sound", ...} of \
            `strata help model check`.
            """,
        subcommands: [
            ModelShowCommand.self, ModelCheckCommand.self, ModelDiffCommand.self, ModelExportCommand.self,
        ])
}
