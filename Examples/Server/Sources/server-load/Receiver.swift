import Foundation
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// A webhook that counts the messages it receives. A real one would ignore a message whose key it has seen.
final class Receiver: Sendable {
    private let counts = Mutex<[String: Int]>([:])
    private let numbers = Mutex<[UInt64: Set<String>]>([:])

    /// How often each message came, by its key.
    var messages: [String: Int] { counts.withLock { $0 } }
    /// The keys of the messages about each review.
    var keys: [UInt64: Set<String>] { numbers.withLock { $0 } }

    private struct Message: Decodable {
        let key: String
        let number: UInt64
    }

    private func take(_ message: Message) {
        counts.withLock { $0[message.key, default: 0] += 1 }
        numbers.withLock { _ = $0[message.number, default: []].insert(message.key) }
    }

    /// Runs `body` with a receiver, and the address that it listens on.
    static func receiving<Result: Sendable>(
        _ body: @escaping @Sendable (Receiver, String) async throws -> Result
    ) async throws -> Result {
        let receiver = Receiver()
        let router = Router()
        router.post("messages") { request, context in
            receiver.take(try await request.decode(as: Message.self, context: context))
            return HTTPResponse.Status.noContent
        }
        let (ports, source) = AsyncStream.makeStream(of: Int.self)
        var logger = Logger(label: "receiver")
        logger.logLevel = .critical
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { source.yield($0.localAddress?.port ?? 0) }, logger: logger)
        return try await withThrowingTaskGroup(of: Result?.self) { tasks in
            tasks.addTask {
                try await application.run()
                return nil
            }
            tasks.addTask {
                for await port in ports { return try await body(receiver, "http://127.0.0.1:\(port)/messages") }
                return nil
            }
            defer { tasks.cancelAll() }
            for try await case let result? in tasks { return result }
            throw ServerProcess.Failure(description: "The receiver of messages could not listen.")
        }
    }
}
