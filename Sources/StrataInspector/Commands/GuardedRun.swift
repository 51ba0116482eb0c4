import ArgumentParser
import Foundation

/// Runs the program again as a child that does the work, because a damaged file can end the process that reads it:
/// then the signal is a finding and not a crash.
enum GuardedRun {
    private static let mark = "STRATA_GUARDED"

    /// Returns in the child, and where no child can be made.
    ///
    /// - Throws: in the parent, the child's exit code if it is not 0; ends the parent if it is.
    static func enter() throws {
        let environment = ProcessInfo.processInfo.environment
        guard environment[mark] == nil, let program = executable else { return }
        // A backtrace of the child would hide the one line that matters.
        let child = environment.merging([mark: "1", "SWIFT_BACKTRACE": "enable=no"]) { $1 }
        guard let status = spawn(program, child) else { return }
        if status & 0x7F == 0 {
            let code = status >> 8 & 0xFF
            if code == ExitStatus.fine { Foundation.exit(ExitStatus.fine) }
            throw ExitCode(code)
        }
        let number = status & 0x7F
        // Whoever asked for the end knows why.
        if number == SIGINT || number == SIGTERM { throw ExitCode(128 + number) }
        Output.shared.line(
            "table: data.mdb: reading it ended in signal \(number) (\(String(cString: strsignal(number)))): "
                + "the file is damaged")
        throw ExitStatus.FoundProblem()
    }

    private static var executable: String? {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? Bundle.main.executablePath
    }

    /// - Returns: the child's status as `waitpid` gives it.
    private static func spawn(_ program: String, _ environment: [String: String]) -> Int32? {
        var arguments: [UnsafeMutablePointer<CChar>?] = CommandLine.arguments.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var process: pid_t = 0
        guard posix_spawn(&process, program, nil, nil, &arguments, &variables) == 0 else { return nil }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { return nil }
        }
        return status
    }
}
