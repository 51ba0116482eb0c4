import HTTPTypes
import NIOCore
import NIOPosix
import Testing

@testable import LetsEatServer

/// What clients may take of the server: a number of connections, and a time for a request.
@Suite(.timeLimit(.minutes(2))) struct ConnectionTests {
    /// A connection on which a test writes what it likes.
    private struct RawConnection {
        let channel: any Channel
        private let answers: Answers

        /// Tells that something came.
        private final class Answers: ChannelInboundHandler, Sendable {
            typealias InboundIn = ByteBuffer
            let first: EventLoopPromise<String>
            init(_ first: EventLoopPromise<String>) { self.first = first }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                first.succeed(String(buffer: unwrapInboundIn(data)))
            }

            func channelInactive(context: ChannelHandlerContext) {
                first.fail(ChannelError.eof)
            }
        }

        /// - Parameter takesAnswers: whether it reads at all.
        init(to port: Int, takesAnswers: Bool = true) async throws {
            let group = MultiThreadedEventLoopGroup.singleton
            let answers = Answers(group.next().makePromise())
            channel = try await ClientBootstrap(group: group)
                .channelOption(.autoRead, value: takesAnswers)
                .channelInitializer { $0.pipeline.addHandler(answers) }
                .connect(host: "127.0.0.1", port: port).get()
            self.answers = answers
        }

        func write(_ text: String) async throws { try await channel.writeAndFlush(ByteBuffer(string: text)) }

        /// Sends a request, and waits for the first bytes of the answer.
        func ask(_ request: String) async throws -> String {
            try await write(request)
            return try await answers.first.futureResult.get()
        }

        func askForHealth() async throws -> String {
            try await ask("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        }
    }

    @Test func aBodyThatComesInDropsIsNotWaitedForWithoutEnd() async throws {
        var test = try ServiceUnderTest()
        test.service.patience = .milliseconds(500)
        try await test.running(.live) { visitor in
            let connection = try await RawConnection(to: try #require(visitor.client.port))
            try await connection.write(
                """
                POST /restaurants/17/reviews HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: k\r
                Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n
                """)
            let dripping = Task {
                for _ in 0..<900 {
                    try await connection.write(" ")
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
            let start = ContinuousClock.now
            try await connection.channel.closeFuture.get()
            dripping.cancel()
            #expect(start.duration(to: .now) < .seconds(30), "The body was read to its end.")
        }
    }

    @Test(arguments: ["zz\r\n", "5\r\n{\"a\":\r\nzz\r\n", "fffffffffffffffffff\r\nx"])
    func aBodyOfWrongChunksIsTheFaultOfTheClient(chunks: String) async throws {
        try await ServiceUnderTest().running(.live) { visitor in
            let connection = try await RawConnection(to: try #require(visitor.client.port))
            let answer = try await connection.ask(
                """
                POST /restaurants/17/reviews HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: k\r
                Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)
                """)
            #expect(answer.hasPrefix("HTTP/1.1 400 "))
        }
    }

    /// Runs the service with a bound on connections. Hummingbird's own test client drops the bound.
    private func running(
        _ service: LetsEatService, _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        let (ports, found) = AsyncStream.makeStream(of: Int?.self)
        let application = service.application(address: .hostname("127.0.0.1", port: 0)) { channel in
            found.yield(channel.localAddress?.port)
        }
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            defer { tasks.cancelAll() }
            tasks.addTask {
                defer { found.finish() }
                try await application.run()
            }
            try await body(try #require(await ports.first { $0 != nil } ?? nil))
        }
    }

    @Test func connectionsOverTheBoundWaitUntilOthersEnd() async throws {
        var test = try ServiceUnderTest()
        test.service.mostConnections = 2
        try await running(test.service) { port in
            let connections = [try await RawConnection(to: port), try await RawConnection(to: port)]
            for connection in connections { #expect(try await connection.askForHealth().hasPrefix("HTTP/1.1 200")) }
            let over = try await RawConnection(to: port)
            let start = ContinuousClock.now
            let closing = Task {
                try await Task.sleep(for: .milliseconds(500))
                try await connections[0].channel.close()
            }
            #expect(try await over.askForHealth().hasPrefix("HTTP/1.1 200"))
            #expect(start.duration(to: .now) >= .milliseconds(500), "The bound is not kept.")
            try await closing.value
            for connection in [connections[1], over] { try await connection.channel.close() }
        }
    }

    @Test func aClientThatTakesNoAnswerDoesNotKeepItsConnection() async throws {
        var test = try ServiceUnderTest()
        test.service.mostConnections = 1
        test.service.patience = .milliseconds(500)
        try await running(test.service) { port in
            let connection = try await RawConnection(to: port, takesAnswers: false)
            // More than the system keeps of requests and answers.
            let requests = String(repeating: "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", count: 50_000)
            connection.channel.writeAndFlush(ByteBuffer(string: requests), promise: nil)
            // Without an end of the first connection this waits until the test's time is over.
            #expect(try await RawConnection(to: port).askForHealth().hasPrefix("HTTP/1.1 200"))
            connection.channel.close(promise: nil)
        }
    }
}
