import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import NIOPosix
import StrataInspector
import Testing

@testable import StudioServer

/// What clients that keep their connections may do with them.
@Suite struct ConnectionTests {
    private let store: SmallStore
    private let gate = StudioGate()

    init() throws { store = try SmallStore() }

    private func serving(
        patience: TimeAmount = .seconds(60), _ gate: StudioGate? = nil,
        _ body: @Sendable (Int, Visitor) async throws -> Void
    ) async throws {
        let gate = gate ?? self.gate
        let studio = try Studio(paths: [store.path])
        defer { studio.close() }
        var logger = Logger(label: "studio-tests")
        logger.logLevel = .critical
        let application = Application(
            responder: try StudioResponder(studio, gate, patience: .seconds(600)),
            server: StudioConnections.server(patience: patience),
            configuration: StudioConnections.configuration(.hostname("localhost", port: 0), logger: logger),
            logger: logger)
        let token = try #require(gate.unusedToken)
        try await application.test(.live) { client in
            let port = try #require(client.port)
            try await body(port, Visitor(port: port, token: token))
        }
    }

    @Test func aConnectionGivesOnePageAfterAnother() async throws {
        try await serving { port, visitor in
            let cookie = try await visitor.enter()
            try await TestClient.withClient(host: "localhost", port: port) { client in
                for path in ["/Small/model.json", "/Small/health.json", "/Small/nothing.json", "/Small/model.svg"] {
                    let answer = try await client.execute(
                        .init(path, method: .get, authority: "localhost", headers: [.cookie: cookie]))
                    #expect(answer.status == (path.contains("nothing") ? .notFound : .ok), "\(path)")
                }
            }
        }
    }

    @Test(arguments: ["", "GET / HTTP/1.1\r\nHost: ", "GET / HTTP/1.1\r\nHost: localhost\r\n"])
    func aConnectionWithoutAWholeHeadIsClosed(text: String) async throws {
        try await serving(patience: .milliseconds(200)) { port, _ in
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "localhost", port: port).get()
            try await channel.writeAndFlush(ByteBuffer(string: text))
            // Without an end this waits until the test's time is over.
            try await channel.closeFuture.get()
        }
    }

    @Test func aBodyThatComesInDropsIsNotWaitedForWithoutEnd() async throws {
        let gate = StudioGate(isWritable: true)
        try await serving(patience: .milliseconds(500), gate) { port, visitor in
            let cookie = try await visitor.enter()
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "localhost", port: port).get()
            let head = """
                POST /Small/change HTTP/1.1\r\nHost: localhost:\(port)\r\nOrigin: http://localhost:\(port)\r
                Cookie: \(cookie)\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n
                """
            try await channel.writeAndFlush(ByteBuffer(string: head))
            let dripping = Task {
                for _ in 0..<900 {
                    try await channel.writeAndFlush(ByteBuffer(string: " "))
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
            let start = ContinuousClock.now
            try await channel.closeFuture.get()
            dripping.cancel()
            #expect(start.duration(to: .now) < .seconds(30), "The body was read to its end.")
        }
    }

    @Test func aChangeOfWrongChunksIsNotCalledTooLarge() async throws {
        let gate = StudioGate(isWritable: true)
        try await serving(patience: .seconds(60), gate) { port, visitor in
            let cookie = try await visitor.enter()
            let group = MultiThreadedEventLoopGroup.singleton
            let first = group.next().makePromise(of: String.self)
            let channel = try await ClientBootstrap(group: group)
                .channelInitializer { $0.pipeline.addHandler(FirstBytes(first)) }
                .connect(host: "localhost", port: port).get()
            let request = """
                POST /Small/draft HTTP/1.1\r\nHost: localhost:\(port)\r\nOrigin: http://localhost:\(port)\r
                Cookie: \(cookie)\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n
                """
            try await channel.writeAndFlush(ByteBuffer(string: request))
            #expect(try await first.futureResult.get().hasPrefix("HTTP/1.1 400 "))
            channel.close(promise: nil)
        }
    }

    @Test(arguments: [
        ("localhost", "strata-studio"), ("localhost:8080", "strata-studio-8080"), ("[::1]", "strata-studio"),
        ("[::1]:81", "strata-studio-81"), ("127.0.0.1:9", "strata-studio-9"),
    ]) func aPortHasACookieOfItsOwn(authority: String, name: String) {
        #expect(StudioGate.cookieName(for: authority) == name)
    }

    @Test func aSessionIsFoundAmongThoseOfOtherPorts() async throws {
        try await serving { _, visitor in
            let own = try await visitor.enter()
            for cookie in ["strata-studio-1=a; \(own)", "\(own); strata-studio-2=b", "x=y;\(own)"] {
                #expect(try await visitor.get("/Small/model.json", [.cookie: cookie]).status == .ok)
            }
            for cookie in ["strata-studio-1=a; strata-studio-2=", "studio=\(own.drop { $0 != "=" }.dropFirst())"] {
                #expect(try await visitor.get("/Small/model.json", [.cookie: cookie]).status == .unauthorized)
            }
        }
    }

    @Test func anAnswerThatIsLateIsNotThereInAShortTime() async throws {
        let late = LateAnswer {
            do { try await Task.sleep(for: .seconds(600)) } catch { return "cancelled" }
            return "late"
        }
        #expect(await late.answer(within: .milliseconds(1)) == nil)
        let waiting = Task { await late.answer }
        waiting.cancel()
        #expect(await waiting.value == "cancelled")
        let quick = LateAnswer { "quick" }
        #expect(await quick.answer(within: .seconds(600)) == "quick")
    }
}

/// Tells the first bytes that come.
private final class FirstBytes: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    private let first: EventLoopPromise<String>

    init(_ first: EventLoopPromise<String>) { self.first = first }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        first.succeed(String(buffer: unwrapInboundIn(data)))
    }

    func channelInactive(context: ChannelHandlerContext) { first.fail(ChannelError.eof) }
}
