/// The exit codes of the program.
enum ExitStatus {
    static let fine: Int32 = 0
    static let problem: Int32 = 1
    static let badUsage: Int32 = 2

    /// The command found a problem and has reported it.
    struct FoundProblem: Error {}
}

/// A command line that cannot be carried out, such as an entity that the store does not have. The exit code is 2.
struct UsageError: Error {
    let message: String

    init(_ message: String) { self.message = message }
}

/// An operation that the system refused to a command, such as writing a file. The exit code is 1.
struct CommandFailure: Error {
    let message: String

    init(_ message: String) { self.message = message }
}
