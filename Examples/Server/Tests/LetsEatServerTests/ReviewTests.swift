import Foundation
import HTTPTypes
import Strata
import Testing

@testable import LetsEatServer

/// Reviews over HTTP: reading, pages, making once.
@Suite struct ReviewTests {
    private let service: ServiceUnderTest

    init() throws { service = try ServiceUnderTest() }

    @Test func aReviewIsMadeReadAndListed() async throws {
        try await service.running { visitor in
            let made = try await visitor.make()
            #expect(made.status == 201 && made.headers[.location]?.hasPrefix("/reviews/") == true)
            let read = try await visitor.ask(.get, try #require(made.headers[.location]))
            #expect(read.status == 200 && read.tag == made.tag && read.tag.hasPrefix("\""))
            #expect(try read.review.review.customerReview == "Good soup.")
            let list = try await visitor.ask(.get, "/restaurants/17/reviews")
            #expect(list.status == 200 && list.text.contains("Good soup."))
            #expect(try await visitor.ask(.get, "/restaurants/18/reviews").text.contains("\"reviews\":[]"))
            let rating = try await visitor.ask(.get, "/restaurants/17/rating")
            #expect(try rating.json["average"] as? Double == 4)
            #expect(try await visitor.ask(.get, "/ratings").text.contains("\"restaurant\":17"))
        }
    }

    @Test func theLogHasTheAuthorAndTheRequest() async throws {
        try await service.running { visitor in
            try await visitor.make()
            let transaction = try #require(try service.container.transactions().last)
            #expect(transaction.author == "mira" && transaction.correlationID?.isEmpty == false)
        }
    }

    @Test func anUnchangedReviewIsNotSentAgain() async throws {
        try await service.running { visitor in
            let made = try await visitor.make()
            let path = try #require(made.headers[.location])
            for tags in [made.tag, "\"1\", \(made.tag)", "W/\(made.tag)", "*"] {
                let answer = try await visitor.ask(.get, path, [.ifNoneMatch: tags])
                #expect(answer.status == 304 && answer.text.isEmpty && answer.tag == made.tag)
            }
            #expect(try await visitor.ask(.get, path, [.ifNoneMatch: "\"1\""]).status == 200)
        }
    }

    // MARK: Once

    @Test func theSameRequestAgainMakesNothing() async throws {
        try await service.running { visitor in
            let first = try await visitor.make(key: "a")
            let head = try service.container.head()
            let second = try await visitor.make(key: "a")
            #expect(second.status == 201 && second.headers[.idempotencyReplayed] == "true")
            #expect(second.headers[.location] == first.headers[.location])
            #expect(try service.container.head() == head)
            #expect(first.headers[.idempotencyReplayed] == nil)
        }
    }

    @Test func twentyAtOnceMakeOne() async throws {
        try await service.running { visitor in
            let places = try await withThrowingTaskGroup(of: String?.self) { tasks in
                for _ in 0..<20 { tasks.addTask { try await visitor.make(key: "a").headers[.location] } }
                return try await tasks.reduce(into: Set<String?>()) { $0.insert($1) }
            }
            #expect(places.count == 1 && places.first != .some(nil))
            #expect(try service.container.newBackgroundContext().count(for: FetchRequest<Review>()) == 1)
        }
    }

    @Test func anotherRequestUnderAKeyIsRefused() async throws {
        try await service.running { visitor in
            try await visitor.make("One.", key: "a")
            let other = try await visitor.make("Two.", key: "a")
            #expect(other.status == 422 && other.text.contains("Idempotency-Key"))
        }
    }

    @Test func aDeletedReviewIsNotMadeAgainByALateRequest() async throws {
        try await service.running { visitor in
            let made = try await visitor.make(key: "a")
            let path = try #require(made.headers[.location])
            #expect(try await visitor.ask(.delete, path, [.ifMatch: made.tag]).status == 204)
            #expect(try await visitor.make(key: "a").status == 410)
            #expect(try await visitor.ask(.get, path).status == 404)
        }
    }

    @Test func oldReceiptsAreSwept() async throws {
        try await service.running { visitor in
            try await visitor.make(key: "a")
            let sweeper = ReceiptSweeper(
                container: service.container, store: service.service.store, logger: service.service.logger)
            #expect(try await sweeper.sweep(before: .now - 60) == 0)
            #expect(try await sweeper.sweep(before: .now + 60) == 1)
        }
    }

    // MARK: Pages

    @Test func pagesOfAMomentStayWhileTheListGrows() async throws {
        try await service.running { visitor in
            for number in 1...5 { try await visitor.make("Review \(number).") }
            var texts: [String] = []
            var path: String? = "/restaurants/17/reviews?limit=2"
            while let page = path {
                let list = try await visitor.ask(.get, page)
                let json = try list.json
                for item in try #require(json["reviews"] as? [[String: Any]]) {
                    texts.append(try #require((item["review"] as? [String: Any])?["customerReview"] as? String))
                }
                path = json["next"] as? String
                #expect((list.headers[.link] == nil) == (path == nil))
                // Comes first in the list, and would shift the next page.
                try await visitor.make("Later.")
            }
            #expect(texts.sorted() == (1...5).map { "Review \($0)." })
            #expect(texts.count == 5)
        }
    }

    @Test(arguments: [
        "limit=0", "limit=101", "limit=x", "limit=-1", "offset=-1", "offset=10001", "at=-1", "at=x", "at=99999",
        "limit=99999999999999999999",
    ]) func pagesOutOfBoundsAreRefused(query: String) async throws {
        try await service.running { visitor in
            let answer = try await visitor.ask(.get, "/restaurants/17/reviews?\(query)")
            #expect(answer.status == 400)
            #expect(try answer.json["remedy"] as? String != "")
        }
    }
}
