import ArgumentParser
import Foundation
import StrataModel
import StrataStore

// Prints errors and chooses the exit code.

extension ExitStatus {
    /// Prints an error as one line on standard error, or the help that was asked for on standard output.
    ///
    /// - Returns: the exit code of the program.
    static func report(_ error: any Error) -> Int32 {
        switch error {
        case is FoundProblem: return problem
        case let code as ExitCode: return code.rawValue
        case let error as UsageError:
            Output.printError("strata: \(error.message)")
            return badUsage
        case let error as CommandFailure:
            Output.printError("strata: \(error.message)")
            return problem
        case let error as AbsentProperty:
            Output.printError("strata: \(error.sentence)")
            return badUsage
        case let conflicts as NamedConflicts:
            for line in conflicts.lines { Output.printError("strata: \(line)") }
            return problem
        case let error as StrataError:
            for line in error.commandLineTexts { Output.printError("strata: \(line)") }
            if let advice = DamageGuard.advice(on: error) { Output.printError("strata: \(advice)") }
            return error.isBadUsage ? badUsage : problem
        case let error as CocoaError:
            Output.printError("strata: " + (error.filePath.map { "\($0): " } ?? "") + error.systemReason)
            return problem
        default:
            let code = StrataCommand.exitCode(for: error).rawValue
            let message = CommandNames.correctingOption(in: StrataCommand.fullMessage(for: error))
            if code == 0 {
                Output.shared.line(message)
                Output.shared.flush()
                return fine
            }
            // ArgumentParser words its own errors; others get the program's name in place of "Error".
            let isUnknown = code == ExitCode.failure.rawValue && message.hasPrefix("Error: ")
            if isUnknown { Output.printError("strata: \(message.dropFirst("Error: ".count))") }
            if !isUnknown, !message.isEmpty { Output.printError(message) }
            return code == ExitCode.validationFailure.rawValue ? badUsage : problem
        }
    }
}
