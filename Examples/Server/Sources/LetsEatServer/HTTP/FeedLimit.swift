import AsyncAlgorithms
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle
import Synchronization

/// One server-sent event.
struct FeedEvent: Hashable, Sendable {
    /// What the client sends as `Last-Event-ID` when it comes back.
    let id: String?
    let data: String

    var text: String { (id.map { "id: \($0)\n" } ?? "") + "data: \(data)\n\n" }
}

/// Gives answers that go on, to so many clients at once at most.
final class FeedLimit: Sendable {
    private let limit: Int
    private let heartbeat: Duration
    private let count = Mutex(0)

    init(_ limit: Int, heartbeat: Duration = .seconds(10)) {
        self.limit = limit
        self.heartbeat = heartbeat
    }

    /// An answer of server-sent events, until the client has gone or the service ends.
    ///
    /// The next event is made when the last one is written, so a client that reads slowly holds back its own feed only. A
    /// comment every few seconds finds clients that have gone.
    ///
    /// - Throws: a problem with status 503 if there are too many clients.
    func response<Events: AsyncSequence & Sendable>(_ events: Events) throws -> Response
    where Events.Element == FeedEvent {
        let isAdmitted = count.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
        guard isAdmitted else {
            var problem = Problem(.serviceUnavailable, "Too many clients follow changes.", remedy: "Come again later.")
            problem.headers[.retryAfter] = "10"
            throw problem
        }
        let place = Place { [self] in count.withLock { $0 -= 1 } }
        let body = ResponseBody { [heartbeat] writer in
            _ = place
            let beats = AsyncTimerSequence(interval: heartbeat, clock: .continuous).map { _ in ": here\n\n" }
            try await writer.write(ByteBuffer(string: ": begin\n\n"))
            for try await text in merge(events.map(\.text), beats).cancelOnGracefulShutdown() {
                try await writer.write(ByteBuffer(string: text))
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"], body: body)
    }

    /// A client's place, which is free again when its answer has gone.
    private final class Place: Sendable {
        private let leave: @Sendable () -> Void

        init(_ leave: @escaping @Sendable () -> Void) { self.leave = leave }
        deinit { leave() }
    }
}
