public import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// `strata`: looks into any store, without the app's code, because the model lives in the store.
public struct StrataCommand: ParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "strata",
        abstract: "Works on a Strata store: what is in it, who changed what and when, and whether it is sound.",
        discussion: """
            STORE is the store's directory, such as ~/.local/share/BowTies/BowTies.strata. Commands that only read open it \
            for reading and leave every byte of it alone; apps may use the store meanwhile.

            Exit codes: 0 all is well, 1 a problem was found or the command failed, 2 bad usage, 130 it was interrupted \
            (Ctrl-C), 143 it was ended (SIGTERM). Whenever a command ends, the store is sound.

            Colour is used on a terminal only; NO_COLOR=1 has none, CLICOLOR_FORCE=1 has it elsewhere too.
            What takes over a second tells on standard error how far it is, when that is a terminal. \
            STRATA_PROGRESS=10 tells elsewhere too, in a line every 10 seconds; STRATA_PROGRESS=never is silent.
            """,
        version: "strata (unreleased), \(StoreVersions.text)",
        groupedSubcommands: [
            CommandGroup(
                name: "Looking",
                subcommands: [
                    InspectCommand.self, QueryCommand.self, CountCommand.self, ShowCommand.self, StatsCommand.self,
                ]),
            CommandGroup(
                name: "History",
                subcommands: [
                    LogCommand.self, BlameCommand.self, DiffCommand.self, TimelineCommand.self, ReplayCommand.self,
                ]),
            CommandGroup(
                name: "Changing",
                subcommands: [
                    InsertCommand.self, UpdateCommand.self, DeleteCommand.self, LinkCommand.self, UnlinkCommand.self,
                    RevertCommand.self, ImportCommand.self, ExportCommand.self,
                ]),
            CommandGroup(
                name: "Care",
                subcommands: [
                    VerifyCommand.self, RebuildCommand.self, BackupCommand.self, RestoreCommand.self,
                    CompactCommand.self, DoctorCommand.self,
                ]),
            CommandGroup(name: "Models", subcommands: [CreateCommand.self, ModelCommand.self, GenerateCommand.self]),
            CommandGroup(name: "Others", subcommands: [PredicateCommand.self, CompletionsCommand.self]),
        ])

    public init() {}

    /// Runs the program with the process's arguments and ends it.
    public static func start() -> Never {
        Output.ignoreClosedPipes()
        Interrupt.unblock()
        GuardedRun.followParent()
        do {
            try checkArguments()
            var command = try parseAsRoot()
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
    /// Swift would put other characters in the place of bytes that are no text, and so name other files.
    ///
    /// - Throws: `UsageError`.
    private static func checkArguments() throws {
        for place in 0..<Int(CommandLine.argc) {
            guard let bytes = CommandLine.unsafeArgv[place], String(validatingCString: bytes) == nil else { continue }
            throw UsageError("Argument \(place) is not UTF-8: '\(String(cString: bytes))'.")
        }
    }
}
