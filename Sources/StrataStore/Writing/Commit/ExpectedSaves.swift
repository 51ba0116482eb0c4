import Dispatch

/// Guesses how many saves the writer should wait for.
///
/// Without it, contexts that save again and again fall into two groups: one queues while the other is written, so that
/// each commit holds only half of the saves. A lone save never waits, and no save waits longer than a small part of a commit.
struct ExpectedSaves {
    /// The saves in the last commit, and those that arrived during it.
    private(set) var count = 0
    /// The time until which the writer waits for them; nil if it does not wait.
    private(set) var deadline: DispatchTime?
    /// The part of the last commit's duration to wait, between `shortest` and `longest` seconds.
    private static let part = 0.25
    private static let shortest = 0.000_02
    private static let longest = 0.002

    /// - Parameter duration: the duration of the commit, without waiting.
    mutating func note(saves: Int, waiting: Int, after duration: Duration) {
        count = saves + waiting
        deadline = nil
        guard count > 1 else { return }
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        let wait = min(seconds * Self.part, Self.longest)
        if wait >= Self.shortest { deadline = .now() + wait }
    }

    /// Stops waiting for the missing saves.
    mutating func isLate() { deadline = nil }
}
