import ArgumentParser

@main
struct StrataBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "strata-bench",
        abstract: "Times Strata beside bare LMDB, SQLite and GRDB, in the same run and with the same rows.",
        subcommands: [
            RunCommand.self, GrowthCommand.self, QueriesCommand.self, CatalogCommand.self, DesignCommand.self,
            ContextsCommand.self, ViewsCommand.self, TextCommand.self, EncryptionCommand.self, UpkeepCommand.self,
            SharedCommand.self, FormatsCommand.self, OpeningCommand.self, CompareCommand.self, PlotCommand.self,
            TablesCommand.self,
            ColdOpenProgram.self, TableSizesProgram.self,
        ],
        defaultSubcommand: RunCommand.self)
}
