import Locking
import StrataModel
import StrataStore

/// Verifications of stores that run, one for each store at most: they take as long as the store is large.
final class StudioVerification: Sendable {
    /// A step of a verification for a page, or its end.
    struct Step: Encodable, Sendable, Equatable {
        var phase: String?
        var done: Int?
        /// Nil if unknown.
        var total: Int?
        /// At the end: whether nothing is wrong.
        var isSound: Bool?
        /// At the end: what was read, or why the verification ended.
        var text: String?
        var problems: [String]?
    }

    private let running = Locked(Set<String>())

    /// The steps as lines of JSON. A verification runs to its end, even after its page was closed.
    func run(_ source: StudioStore, _ depth: VerificationDepth) -> AsyncStream<String> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            guard running.withLock({ $0.insert(source.name).inserted }) else {
                Self.send(Step(text: "A verification of this store is running. Wait for its end."), continuation)
                return continuation.finish()
            }
            let end: @Sendable (Step) -> Void = { step in
                Self.send(step, continuation)
                self.running.withLock { _ = $0.remove(source.name) }
                continuation.finish()
            }
            do {
                try BackgroundThread.start("strata.verify") { end(Self.result(source.store, depth, continuation)) }
            } catch {
                end(Step(text: "The store cannot be verified now: \(error)."))
            }
        }
    }

    private static func result(
        _ store: Store, _ depth: VerificationDepth, _ continuation: AsyncStream<String>.Continuation
    ) -> Step {
        do {
            let report = try store.verify(depth) { progress in
                send(
                    Step(
                        phase: progress.phase, done: progress.done, total: progress.total > 0 ? progress.total : nil),
                    continuation)
            }
            let text =
                "\(ValueText.count(report.transactionCount, "transaction")), "
                + "\(ValueText.count(report.eventCount, "event")), \(ValueText.count(report.objectCount, "object")); "
                + "read \(ValueText.count(report.read.recordCount, "record")) in \(ValueText.duration(report.duration))"
            return Step(isSound: report.isSound, text: text, problems: report.problems.map(\.description))
        } catch {
            return Step(text: StudioProblem(error).message)
        }
    }

    private static func send(_ step: Step, _ continuation: AsyncStream<String>.Continuation) {
        if let line = try? JSONText.of(step, isPretty: false) { continuation.yield(line) }
    }
}
