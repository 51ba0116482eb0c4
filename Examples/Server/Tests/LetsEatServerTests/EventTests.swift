import AsyncHTTPClient
import Foundation
import HTTPTypes
import NIOCore
import Strata
import Testing

@testable import LetsEatServer

/// Server-sent events over a real connection.
@Suite struct EventTests {
    private let service: ServiceUnderTest

    init() throws { service = try ServiceUnderTest() }

    @Test func savesArriveAndAClientThatComesBackMissesNothing() async throws {
        try await service.running(.live) { visitor in
            var feed = try await Feed(visitor, "/events")
            let made = try await visitor.make("One.")
            let first = try await feed.next()
            #expect(first.data.contains(#""kind":"inserted""#) && first.data.contains("One."))
            #expect(first.data.contains(#""author":"mira""#))
            let path = try #require(made.headers[.location])
            _ = try await visitor.ask(.patch, path, [.ifMatch: made.tag], #"{"rating":1}"#)
            try await visitor.make("Two.")
            var back = try await Feed(visitor, "/events", lastEventID: first.id)
            let (second, third) = (try await back.next(), try await back.next())
            #expect(second.data.contains(#""kind":"updated""#) && second.data.contains(#""rating":1"#))
            #expect(third.data.contains("Two."))
            #expect(try await feed.next() == second)
        }
    }

    @Test func aListIsSentAgainAfterEachChange() async throws {
        try await service.running(.live) { visitor in
            try await visitor.make("One.")
            var feed = try await Feed(visitor, "/restaurants/17/reviews/live")
            let first = try await feed.next()
            #expect(first.data.contains("One.") && first.data.contains(#""inserted":[]"#))
            try await visitor.make("Elsewhere.", restaurant: 18)
            let made = try await visitor.make("Two.")
            let number = try made.review.number
            let second = try await feed.next()
            #expect(second.data.contains(#""inserted":[\#(number)]"#) && second.data.contains("One."))
            #expect(!second.data.contains("Elsewhere."))
        }
    }

    @Test func aTokenOfAnotherStoreIsRefused() async throws {
        let token = #"{"storeIdentifier":"\#(UUID().uuidString)","transactionNumber":1}"#
        try await service.running { visitor in
            let answer = try await visitor.ask(.get, "/events", [.lastEventID: token])
            #expect(answer.status == 400)
        }
    }

    @Test func placesAreLimitedAndBecomeFreeAgain() async throws {
        let feeds = FeedLimit(1)
        let events = AsyncStream<FeedEvent> { $0.finish() }
        do {
            let response = try feeds.response(events)
            #expect(response.status == .ok)
            #expect(throws: Problem.self) { try feeds.response(events) }
        }
        #expect(try feeds.response(events).status == .ok)
    }
}

/// A connection that receives events.
private struct Feed {
    struct Event: Equatable {
        var id: String?
        var data = ""
    }

    private var chunks: HTTPClientResponse.Body.AsyncIterator
    private var rest = ""

    init(_ visitor: Visitor, _ path: String, lastEventID: String? = nil) async throws {
        let port = try #require(visitor.client.port)
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        if let lastEventID { request.headers.add(name: "Last-Event-ID", value: lastEventID) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
        #expect(response.status == .ok && response.headers.first(name: "Content-Type") == "text/event-stream")
        chunks = response.body.makeAsyncIterator()
        // The comment with which a feed begins: from now on it misses nothing.
        rest = String(buffer: try #require(try await chunks.next()))
    }

    /// The next event, comments left out.
    mutating func next() async throws -> Event {
        while true {
            while let end = rest.range(of: "\n\n") {
                let lines = rest[..<end.lowerBound].split(separator: "\n")
                rest = String(rest[end.upperBound...])
                var event = Event()
                for line in lines where line.hasPrefix("id: ") { event.id = String(line.dropFirst(4)) }
                for line in lines where line.hasPrefix("data: ") { event.data += line.dropFirst(6) }
                if !event.data.isEmpty { return event }
            }
            rest += String(buffer: try #require(try await chunks.next(), "The feed has ended."))
        }
    }
}
