import Locking
import Logging
import StrataModel

/// Makes erasures that came with a shared log, and finishes those that could not be finished.
struct ReceivedErasures: Sendable {
    private let finish: ErasureFinish
    private let onWriter: @Sendable (@escaping @Sendable () throws -> Void) throws -> Void
    /// When an erasure that something keeps from being finished is tried again.
    private let next = Locked(ContinuousClock.now)
    private static let pause = Duration.seconds(60)

    init(
        _ finish: ErasureFinish,
        onWriter: @escaping @Sendable (@escaping @Sendable () throws -> Void) throws -> Void
    ) {
        self.finish = finish
        self.onWriter = onWriter
    }

    func make() throws {
        let now = ContinuousClock.now
        guard try finish.isDue, try finish.hasReceived || next.withLock({ $0 <= now }) else { return }
        next.withLock { $0 = now + Self.pause }
        try onWriter {
            var report = ErasureReport()
            try finish.run(&report, nil)
            if !report.isComplete {
                let rest = report.waiting.joined(separator: "; ")
                StoreLogger.shared.notice("an erasure in \(finish.file.path) is not finished: \(rest)")
            }
        }
    }
}
