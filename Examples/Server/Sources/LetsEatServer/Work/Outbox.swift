import CoreMetrics
import Foundation
import Logging
import ServiceLifecycle
import Strata
import StrataObservability

/// Tells a webhook of every new review.
///
/// The log of the store is the outbox: a review and the fact that it is to be told are one save, so neither is there
/// without the other. A subscription remembers in the store how far the outbox has come, and moves on after the webhook
/// has answered. Killed in between, the outbox sends the same message again after its restart, with the same key and the
/// same bytes. So each message arrives at least once, and a receiver that remembers keys acts on it exactly once. No
/// protocol between two machines can promise more: the sender cannot know whether a message arrived whose answer it
/// never got.
struct Outbox: Service {
    static let subscriptionName = "outbox"

    let container: PersistentContainer
    let store: ContainerService
    let webhook: any Webhook
    let logger: Logger
    let metrics: any MetricsFactory
    /// How long it waits after the first failure; twice as long after each further one, up to `longestPause`.
    var pause = Duration.milliseconds(100)
    var longestPause = Duration.seconds(30)
    /// Noting progress costs a sync of the disk. It is done after so many transactions, and when every message is sent.
    var progressStep = 100

    func run() async throws {
        try await store.waitUntilReady()
        let subscription = try container.subscription(named: Self.subscriptionName, from: .event(.zero))
        try await cancelWhenGracefulShutdown { try await send(subscription) }
    }

    private func send(_ subscription: HistorySubscription) async throws {
        var told: HistoryToken?
        var unnoted = 0
        do {
            for try await change in try subscription.transactions() {
                for message in try OutboxMessage.messages(of: change) { try await deliver(message) }
                (told, unnoted) = (change.token, unnoted + 1)
                guard try unnoted >= progressStep || change.token == container.currentHistoryToken() else { continue }
                try subscription.acknowledge(change.token)
                (told, unnoted) = (nil, 0)
            }
        } catch is CancellationError {}
        if let told { try subscription.acknowledge(told) }
    }

    /// Returns when the webhook has taken the message, or has refused it for good.
    ///
    /// - Throws: `CancellationError`.
    private func deliver(_ message: OutboxMessage) async throws {
        var pause = pause
        while true {
            let outcome: String
            switch await webhook.post(message) {
            case .taken: return count("taken")
            case .refused(let why):
                // The message stays in the log with its key. It is not sent again.
                logger.error("the webhook refuses message \(message.key) for good: \(why)")
                return count("refused")
            case .unavailable(let why): outcome = why
            }
            count("failed")
            logger.warning("message \(message.key) will be sent again in \(pause): \(outcome)")
            try await Task.sleep(for: pause)
            pause = min(pause * 2, longestPause)
        }
    }

    private func count(_ outcome: String) {
        Counter(label: "letseat.outbox.messages", dimensions: [("outcome", outcome)], factory: metrics).increment()
    }
}
