import Foundation
import Logging
import Strata
import Synchronization
import Testing

@testable import LetsEatServer

/// Which messages the webhook receives, with failures and restarts.
@Suite struct OutboxTests {
    @Test func everyNewReviewIsToldOnce() async throws {
        let webhook = RecordedWebhook()
        let service = try ServiceUnderTest(webhook: webhook)
        try await service.running(.live) { visitor in
            let made = try await visitor.make("One.")
            try await visitor.make("Two.")
            let path = try #require(made.headers[.location])
            _ = try await visitor.ask(.patch, path, [.ifMatch: made.tag], #"{"customerReview":"Edited."}"#)
            try await webhook.waitFor(2)
            try await Self.waitUntilTold(service)
            #expect(webhook.messages.count == 2 && Set(webhook.messages.map(\.key)).count == 2)
            #expect(webhook.messages[0].body.contains("One."))
            #expect(service.metrics.text().contains(#"letseat_outbox_messages_total{outcome="taken"} 2"#))
        }
    }

    @Test func aWebhookThatFailsIsAskedAgainWithTheSameMessage() async throws {
        let webhook = RecordedWebhook([.unavailable("busy"), .unavailable("busy"), .taken])
        let service = try ServiceUnderTest(webhook: webhook)
        try await service.running(.live) { visitor in
            try await visitor.make("One.")
            try await webhook.waitFor(3)
            try await Self.waitUntilTold(service)
            #expect(Set(webhook.messages).count == 1)
        }
    }

    @Test func aRefusedMessageDoesNotHoldBackTheNext() async throws {
        let webhook = RecordedWebhook([.refused("400"), .taken])
        let service = try ServiceUnderTest(webhook: webhook)
        try await service.running(.live) { visitor in
            try await visitor.make("One.")
            try await visitor.make("Two.")
            try await webhook.waitFor(2)
            try await Self.waitUntilTold(service)
            #expect(service.metrics.text().contains(#"letseat_outbox_messages_total{outcome="refused"} 1"#))
        }
    }

    /// As after a kill between the webhook's answer and the note of progress.
    @Test func whatWasNotNotedIsToldAgainUnderTheSameKey() async throws {
        let service = try ServiceUnderTest()
        try await service.running { visitor in
            try await visitor.make("One.")
            let container = service.container
            let change = try #require(
                try await container.subscription(named: "outbox", from: .event(.zero)).transactions().messages().first)
            let again = try #require(
                try await container.subscription(named: "outbox", from: .event(.zero)).transactions().messages().first)
            #expect(change == again && change.body.contains("One."))
            #expect(change.body.contains(change.key))
        }
    }

    private static func waitUntilTold(_ service: ServiceUnderTest) async throws {
        while try service.container.usage().subscriptionLags["outbox"] != 0 { await Task.yield() }
    }
}

extension TransactionStream {
    /// The messages of the first transaction that has some.
    func messages() async throws -> [OutboxMessage] {
        for try await change in self {
            let messages = try OutboxMessage.messages(of: change)
            if !messages.isEmpty { return messages }
        }
        return []
    }
}

/// A webhook that gives the answers it was told, then takes everything.
final class RecordedWebhook: Webhook {
    private let state: Mutex<(answers: [WebhookAnswer], messages: [OutboxMessage])>

    init(_ answers: [WebhookAnswer] = []) { state = Mutex((answers, [])) }

    var messages: [OutboxMessage] { state.withLock { $0.messages } }

    func post(_ message: OutboxMessage) async -> WebhookAnswer {
        state.withLock { state in
            state.messages.append(message)
            return state.answers.isEmpty ? .taken : state.answers.removeFirst()
        }
    }

    func waitFor(_ count: Int) async throws {
        while messages.count < count { try await Task.sleep(for: .milliseconds(2)) }
    }
}
