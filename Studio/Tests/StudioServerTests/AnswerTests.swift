import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import StrataInspector
import Synchronization
import Testing

@testable import StudioServer

/// Clients that ask and do not take the answer, or take it slowly.
@Suite(.timeLimit(.minutes(2))) struct AnswerTests {
    private let store: SmallStore
    private let gate = StudioGate()
    /// An answer of ten megabytes, more than the system keeps for a connection.
    private let path = "/Small/value/Film/p3/title"

    init() throws { store = try SmallStore() }

    /// Runs `body` with a server that has one connection at a time. Hummingbird's own test client drops that bound.
    private func serving(
        patience: TimeAmount, _ body: @escaping @Sendable (Int, Visitor) async throws -> Void
    ) async throws {
        let studio = try Studio(paths: [store.path])
        var logger = Logger(label: "studio-tests")
        logger.logLevel = .critical
        let (ports, found) = AsyncStream.makeStream(of: Int?.self)
        let application = Application(
            responder: try StudioResponder(studio, gate, patience: .seconds(600)),
            server: StudioConnections.server(patience: patience),
            configuration: StudioConnections.configuration(.hostname("localhost", port: 0), most: 1, logger: logger),
            onServerRunning: { found.yield($0.localAddress?.port) }, logger: logger)
        let token = try #require(gate.unusedToken)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            defer { tasks.cancelAll() }
            tasks.addTask {
                defer { found.finish() }
                try await application.run()
            }
            let port = try #require(await ports.first { $0 != nil } ?? nil)
            try await body(port, Visitor(port: port, token: token))
        }
        studio.close()
    }

    /// Connects, asks twice, and reads nothing by itself.
    private func asking(_ port: Int, _ cookie: String, _ handler: Taking) async throws -> any Channel {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.autoRead, value: false)
            .channelInitializer { $0.pipeline.addHandler(handler) }
            .connect(host: "localhost", port: port).get()
        let request = "GET \(path) HTTP/1.1\r\nHost: localhost\r\nCookie: \(cookie)\r\n\r\n"
        try await channel.writeAndFlush(ByteBuffer(string: request + request))
        return channel
    }

    @Test func aClientThatTakesNothingDoesNotKeepItsConnection() async throws {
        try await serving(patience: .milliseconds(500)) { [self] port, visitor in
            let cookie = try await visitor.enter()
            let channel = try await asking(port, cookie, Taking())
            // Without an end of the first connection this waits until the test's time is over.
            #expect(try await visitor.get("/Small/model.json", [.cookie: cookie]).status == .ok)
            channel.close(promise: nil)
        }
    }

    @Test func aClientThatTakesItsAnswerSlowlyGetsAllOfIt() async throws {
        try await serving(patience: .seconds(2)) { [self] port, visitor in
            let cookie = try await visitor.enter()
            let taking = Taking(pause: .milliseconds(50))
            let start = ContinuousClock.now
            let channel = try await asking(port, cookie, taking)
            channel.read()
            try await channel.closeFuture.get()
            #expect(taking.bytes.withLock { $0 } > 2 * SmallStore.huge.utf8.count)
            #expect(start.duration(to: .now) > .seconds(2), "That was not slow.")
        }
    }
}

/// Counts what comes, and takes more after a pause; nothing more without one.
private final class Taking: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    let bytes = Mutex(0)
    private let pause: TimeAmount?

    init(pause: TimeAmount? = nil) { self.pause = pause }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let count = unwrapInboundIn(data).readableBytes
        bytes.withLock { $0 += count }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard let pause else { return }
        let channel = context.channel
        context.eventLoop.scheduleTask(in: pause) { channel.read() }
    }
}
