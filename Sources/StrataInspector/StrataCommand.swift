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

/// What the program's exit code says.
enum ExitStatus {
    static let fine: Int32 = 0
    static let problem: Int32 = 1
    static let badUsage: Int32 = 2

    /// A problem was found and has been told already.
    struct FoundProblem: Error {}

    /// Tells an error in one clear line on standard error, or a request for help on standard output.
    static func report(_ error: any Error) -> Int32 {
        switch error {
        case is FoundProblem: return problem
        case let code as ExitCode: return code.rawValue
        case let error as UsageError:
            Output.printError("strata: \(error.message)")
            return badUsage
        case let conflicts as NamedConflicts:
            for line in conflicts.lines { Output.printError("strata: \(line)") }
            return problem
        case let error as StrataError:
            for line in error.commandLineTexts { Output.printError("strata: \(line)") }
            if let advice = DamageGuard.advice(on: error) { Output.printError("strata: \(advice)") }
            return error.isBadUsage ? badUsage : problem
        default:
            let code = StrataCommand.exitCode(for: error).rawValue
            let message = StrataCommand.fullMessage(for: error)
            if code == 0 {
                Output.shared.line(message)
                Output.shared.flush()
                return fine
            }
            // What no one named better; what the command line itself lacks is told by its parser.
            let isUnknown = code == ExitCode.failure.rawValue && message.hasPrefix("Error: ")
            if isUnknown { Output.printError("strata: \(message.dropFirst("Error: ".count))") }
            if !isUnknown, !message.isEmpty { Output.printError(message) }
            return code == ExitCode.validationFailure.rawValue ? badUsage : problem
        }
    }
}

/// An argument that makes no sense for this store.
struct UsageError: Error {
    let message: String

    init(_ message: String) { self.message = message }
}

extension StrataError {
    /// Whether the command line asked for what no such store could answer.
    var isBadUsage: Bool { [.invalidRequest, .unknownKey, .unknownEntity, .wrongType].contains(code) }

    /// A line for each failure.
    var commandLineTexts: [String] { details.isEmpty ? [commandLineText] : details.map(\.commandLineText) }

    /// One line: what failed and where, without codes of layers below.
    var commandLineText: String {
        var text = message
        if let fault = cause as? FetchFormatFault { return "Column \(fault.column): \(fault.sentence)\n\(fault)" }
        if let name = context.entityName, let id = context.objectID, context.conflicts.isEmpty {
            text += " (\(name)/p\(id.row))"
        }
        if let path = context.path, !text.contains(path) { text += " (\(path))" }
        if let eventNumber = context.eventNumber { text += " (event number \(eventNumber))" }
        return text.split(separator: "\n").joined(separator: " ")
    }
}

/// An error with conflicts, and the names of the objects that these are about.
struct NamedConflicts: Error {
    let error: StrataError
    let names: RecordedNames

    /// A line for each failure, then one for each property.
    var lines: [String] { error.commandLineTexts + error.context.conflicts.flatMap { lines(of: $0) } }

    private func lines(of conflict: MergeConflict) -> [String] {
        func text(_ value: AttributeValue) -> String { ValueText.of(value) { names.name(of: $0) } }
        let name = names.name(of: conflict.objectID)
        if conflict.isDeletedInStore { return ["\(name): it has been deleted since"] }
        return conflict.properties.map {
            "\(name).\($0.name): now \(text($0.theirs)), was to become \(text($0.mine))"
        }
    }
}
