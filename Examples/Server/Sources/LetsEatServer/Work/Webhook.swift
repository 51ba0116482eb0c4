import AsyncHTTPClient
import NIOCore

/// Where the outbox sends its messages.
protocol Webhook: Sendable {
    func post(_ message: OutboxMessage) async -> WebhookAnswer
}

enum WebhookAnswer: Hashable, Sendable {
    case taken
    /// It will not take the message, however often it is sent.
    case refused(String)
    case unavailable(String)
}

/// A webhook at an address. It is to remember the `Idempotency-Key` of what it has taken.
struct HTTPWebhook: Webhook {
    let url: String
    var timeout = TimeAmount.seconds(5)

    func post(_ message: OutboxMessage) async -> WebhookAnswer {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: "Idempotency-Key", value: message.key)
        request.body = .bytes(ByteBuffer(string: message.body))
        do {
            let response = try await HTTPClient.shared.execute(request, timeout: timeout)
            switch response.status.code {
            case 200..<300: return .taken
            case 408, 425, 429, 500...: return .unavailable("\(response.status)")
            default: return .refused("\(response.status)")
            }
        } catch {
            return .unavailable("\(error)")
        }
    }
}
