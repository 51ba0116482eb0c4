import HTTPTypes
import NIOCore
import NIOPosix
import Testing

@testable import LetsEatServer

/// How long the server waits for a client.
@Suite struct ConnectionTests {
    @Test func aBodyThatComesInDropsIsNotWaitedForWithoutEnd() async throws {
        var test = try ServiceUnderTest()
        test.service.patience = .milliseconds(500)
        try await test.running(.live) { visitor in
            let port = try #require(visitor.client.port)
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: port).get()
            let head = """
                POST /restaurants/17/reviews HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: k\r
                Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n
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
}
