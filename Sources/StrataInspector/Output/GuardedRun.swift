import ArgumentParser
import Foundation

/// Runs the command again in a child process, because a damaged file can end the process that reads it. The parent then
/// reports the signal as a finding.
enum GuardedRun {
    private static let mark = "STRATA_GUARDED"
    private static let parentKey = "STRATA_GUARDED_BY"
    /// The variable that names the file of notes in a child of `doctor`.
    static let doctorNotesKey = "STRATA_DOCTOR"

    /// Whether this process is such a child.
    static var isChild: Bool {
        let environment = ProcessInfo.processInfo.environment
        return environment[mark] != nil || environment[doctorNotesKey] != nil
    }

    /// Returns in the child, and also in the parent if no child can be started.
    ///
    /// - Parameter report: called if a signal ended the child, with a sentence without its full stop.
    /// - Throws: in the parent, the child's exit code, also if that is 0.
    static func enter(_ report: (String) throws -> Void) throws {
        guard ProcessInfo.processInfo.environment[mark] == nil, let end = childEnd([mark: "1"]) else { return }
        try report("reading it \(sentence(try signal(end)))")
        throw ExitStatus.FoundProblem()
    }

    /// Ends the child with SIGTERM when its parent has ended, because then no parent passes on signals.
    static func followParent() {
        guard let parent = ProcessInfo.processInfo.environment[parentKey].flatMap({ pid_t($0) }) else { return }
        Thread.detachNewThread {
            while getppid() == parent { usleep(100_000) }
            kill(getpid(), SIGTERM)
        }
    }

    static func sentence(_ signal: Int32) -> String {
        "ended in signal \(signal) (\(String(cString: strsignal(signal)))): the file is damaged"
    }

    /// The end of a child process.
    enum End {
        case code(Int32)
        case signal(Int32)
    }

    /// Runs the program again with additional variables; nil if no child can be started.
    ///
    /// - Parameter arguments: the program's name and its arguments; those of this process by default.
    static func childEnd(_ variables: [String: String], _ arguments: [String] = CommandLine.arguments) -> End? {
        guard let program = executable else { return nil }
        // A backtrace of the child would hide the error.
        let quiet = ["SWIFT_BACKTRACE": "enable=no", parentKey: "\(getpid())"].merging(variables) { $1 }
        let environment = ProcessInfo.processInfo.environment.merging(quiet) { $1 }
        guard let status = spawn(program, arguments, environment) else { return nil }
        return status & 0x7F == 0 ? .code(status >> 8 & 0xFF) : .signal(status & 0x7F)
    }

    /// The signal that ended the child.
    ///
    /// - Throws: the child's exit code, also if that is 0, when it ended by itself.
    static func signal(_ end: End) throws -> Int32 {
        switch end {
        case .code(let code): throw ExitCode(code)
        // The user asked for this end, so there is nothing to report.
        case .signal(let number) where Interrupt.isEnd(number): throw ExitCode(128 + number)
        case .signal(let number): return number
        }
    }

    private static var executable: String? {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? Bundle.main.executablePath
    }

    /// - Returns: the child's status as `waitpid` gives it.
    private static func spawn(
        _ program: String, _ arguments: [String], _ environment: [String: String]
    ) -> Int32? {
        var arguments: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var process: pid_t = 0
        guard posix_spawn(&process, program, nil, nil, &arguments, &variables) == 0 else { return nil }
        // Passes a signal that only this process got on to the child.
        Interrupt.hand(to: process)
        defer { Interrupt.release() }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { return nil }
        }
        return status
    }
}
