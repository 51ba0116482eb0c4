public import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// The program `strata`: reads and changes any store without the app's code, because the store contains its model.
public struct StrataCommand: ParsableCommand {
    /// The name, help and subcommands of the program.
    public static let configuration = CommandConfiguration(
        commandName: "strata",
        abstract: "Reads, changes and checks Strata stores, and shows their history.",
        discussion: """
            STORE is the store's directory, such as ~/.local/share/BowTies/BowTies.strata. Commands that only read change no \
            byte of it; apps may use the store meanwhile.

            Exit codes: 0 success, 1 a problem was found or the command failed, 2 wrong usage, 129 hung up (SIGHUP), \
            130 interrupted (Ctrl-C), 143 ended (SIGTERM). Whenever a command ends, the store is sound.

            Colours are used on a terminal only; NO_COLOR=1 turns them off, CLICOLOR_FORCE=1 turns them on elsewhere.
            A command that takes more than a second shows its progress on standard error if that is a terminal. \
            STRATA_PROGRESS=10 prints a line every 10 seconds elsewhere too; STRATA_PROGRESS=never prints nothing.
            """,
        version: "strata 0.1.0, \(StoreVersions.text)",
        groupedSubcommands: [
            CommandGroup(
                name: "Reading",
                subcommands: [
                    InspectCommand.self, QueryCommand.self, CountCommand.self, ShowCommand.self, StatsCommand.self,
                    TopCommand.self, ViewsCommand.self,
                ]),
            CommandGroup(
                name: "History",
                subcommands: [
                    LogCommand.self, BlameCommand.self, DiffCommand.self, TimelineCommand.self, ReplayCommand.self,
                    TagCommand.self, SubscriptionsCommand.self, HistoryCommand.self,
                ]),
            CommandGroup(
                name: "Changing",
                subcommands: [
                    InsertCommand.self, UpdateCommand.self, DeleteCommand.self, LinkCommand.self, UnlinkCommand.self,
                    RevertCommand.self, ImportCommand.self, ExportCommand.self,
                ]),
            CommandGroup(
                name: "Maintenance",
                subcommands: [
                    VerifyCommand.self, RebuildCommand.self, BackupCommand.self, RestoreCommand.self,
                    ShipCommand.self, StandbyCommand.self, CompactCommand.self, UpgradeCommand.self, EraseCommand.self,
                    KeysCommand.self, DoctorCommand.self, SharedCommand.self,
                ]),
            CommandGroup(
                name: "Models",
                subcommands: [CreateCommand.self, MigrateCommand.self, ModelCommand.self, GenerateCommand.self]),
            CommandGroup(
                name: "Other", subcommands: [ShellCommand.self, PredicateCommand.self, CompletionsCommand.self]),
        ])

    /// Makes the command, for the argument parser.
    public init() {}

    /// Runs the program with the process's arguments and ends it.
    ///
    /// - Parameter makeBucket: nil has the program `strata-s3` run in place of this one where a bucket is named.
    public static func start(makeBucket: BucketMaker? = nil) -> Never {
        Output.takeClosedDescriptors()
        BucketProgram.use(makeBucket)
        BucketProgram.takeOver(CommandLine.arguments)
        Output.ignoreClosedPipes()
        Interrupt.unblock()
        Terminal.widenHelp()
        GuardedRun.followParent()
        do {
            try checkArguments()
            let arguments = CommandNames.arranged(Array(CommandLine.arguments.dropFirst()))
            try CommandNames.check(arguments)
            var command = try parseAsRoot(arguments)
            (command as? any StoreCommand)?.store.logLevel?.begin()
            try command.run()
            Output.shared.flush()
            Foundation.exit(ExitStatus.fine)
        } catch {
            Interrupt.waitForEnd()
            Output.shared.flush()
            Foundation.exit(ExitStatus.report(error))
        }
    }
}

extension StrataCommand {
    /// Refuses arguments that are not UTF-8: Swift would replace those bytes, and so name other files.
    ///
    /// - Throws: `UsageError`.
    private static func checkArguments() throws {
        for index in 0..<Int(CommandLine.argc) {
            guard let bytes = CommandLine.unsafeArgv[index], String(validatingCString: bytes) == nil else { continue }
            throw UsageError("Argument \(index) is not UTF-8: '\(String(cString: bytes))'.")
        }
    }
}
