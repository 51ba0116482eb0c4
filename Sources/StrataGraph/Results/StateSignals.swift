import StrataModel
import StrataStore

/// Signals that the state of a context or store may have changed. Signals that have not been received yet are merged into one.
///
/// Belongs to one isolation.
final class StateSignals: ContextFollower {
    private let news: AsyncStream<Void>.Continuation
    private var signals: AsyncStream<Void>.Iterator
    private var observation: HeadObservation?

    init() {
        let (stream, news) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.news = news
        signals = stream.makeAsyncIterator()
    }

    func contextMayHaveChanged() { news.yield() }

    /// Signals saves too, and the end of the store.
    func observe(_ store: Store) throws {
        observation = try store.observeHead(onClose: { [news] in news.yield() }) { [news] _ in news.yield() }
    }

    /// Waits for a signal, and then for further ones.
    ///
    /// - Returns: false when the task is cancelled while it waits for the first.
    func next(coalescing: Duration, isolation actor: isolated (any Actor)?) async throws -> Bool {
        guard let _ = await signals.next(isolation: actor) else { return false }
        if coalescing > .zero { try await Task.sleep(for: coalescing) }
        try Task.checkCancellation()
        return true
    }
}
