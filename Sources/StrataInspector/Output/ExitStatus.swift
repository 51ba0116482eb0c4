/// The exit codes of the program.
enum ExitStatus {
    static let fine: Int32 = 0
    static let problem: Int32 = 1
    static let badUsage: Int32 = 2

    /// A problem was found, and the command has reported it already.
    struct FoundProblem: Error {}
}

/// A command line that cannot be carried out: an argument with no meaning for this store.
struct UsageError: Error {
    let message: String

    init(_ message: String) { self.message = message }
}
