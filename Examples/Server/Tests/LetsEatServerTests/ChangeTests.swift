import Foundation
import HTTPTypes
import Strata
import Testing

@testable import LetsEatServer

/// Changes by several clients: preconditions, and merging with a base.
@Suite struct ChangeTests {
    private let service: ServiceUnderTest

    init() throws { service = try ServiceUnderTest() }

    private static let draft = #"{"name":"Ann","rating":2,"customerReview":"Cold."}"#

    @Test(arguments: [HTTPRequest.Method.put, .patch, .delete])
    func aChangeWithoutAPreconditionIsRefused(method: HTTPRequest.Method) async throws {
        try await service.running { visitor in
            let path = try #require(try await visitor.make().headers[.location])
            let answer = try await visitor.ask(method, path, [:], Self.draft)
            #expect(answer.status == 428 && answer.text.contains("If-Match"))
        }
    }

    @Test(arguments: [HTTPRequest.Method.put, .patch, .delete])
    func aStaleTagIsAnsweredWithThePresentReview(method: HTTPRequest.Method) async throws {
        try await service.running { visitor in
            let made = try await visitor.make()
            let path = try #require(made.headers[.location])
            let changed = try await visitor.ask(.patch, path, [.ifMatch: made.tag], #"{"rating":1}"#)
            #expect(changed.status == 200 && changed.tag != made.tag)
            for tags in [made.tag, "\"1\", \"2\"", "W/\(changed.tag)", "nonsense"] {
                let stale = try await visitor.ask(method, path, [.ifMatch: tags], Self.draft)
                #expect(stale.status == 412 && stale.tag == changed.tag)
                let current = try #require(try stale.json["current"] as? [String: Any])
                #expect((current["review"] as? [String: Any])?["rating"] as? Double == 1)
            }
            let fresh = try await visitor.ask(method, path, [.ifMatch: "\"1\" , \(changed.tag)"], Self.draft)
            #expect(fresh.status == (method == .delete ? 204 : 200))
        }
    }

    @Test func aStarMatchesWhatIsThere() async throws {
        try await service.running { visitor in
            let path = try #require(try await visitor.make().headers[.location])
            #expect(try await visitor.ask(.put, path, [.ifMatch: "*"], Self.draft).status == 200)
            #expect(try await visitor.ask(.put, "/reviews/999999", [.ifMatch: "*"], Self.draft).status == 404)
        }
    }

    @Test func ofTwentyClientsWithOneTagOneWins() async throws {
        try await service.running { visitor in
            let made = try await visitor.make()
            let path = try #require(made.headers[.location])
            let statuses = try await withThrowingTaskGroup(of: Int.self) { tasks in
                for number in 0..<20 {
                    tasks.addTask {
                        try await visitor.ask(.patch, path, [.ifMatch: made.tag], #"{"name":"\#(number)"}"#).status
                    }
                }
                return try await tasks.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.sorted() == [200] + Array(repeating: 412, count: 19))
        }
    }

    @Test func changesOfDifferentPropertiesAreMerged() async throws {
        try await service.running { visitor in
            let made = try await visitor.make(rating: 4)
            let (path, base) = (try #require(made.headers[.location]), try made.review.revision)
            #expect(try await visitor.ask(.patch, "\(path)?base=\(base)", [:], #"{"rating":1}"#).status == 200)
            let merged = try await visitor.ask(.patch, "\(path)?base=\(base)", [:], #"{"customerReview":"Cold."}"#)
            #expect(merged.status == 200)
            let review = try merged.review.review
            #expect(review.rating == 1 && review.customerReview == "Cold." && review.name == "Mira")
        }
    }

    @Test func changesOfTheSamePropertyAreAConflictWithItsThreeValues() async throws {
        try await service.running { visitor in
            let made = try await visitor.make(rating: 4)
            let (path, base) = (try #require(made.headers[.location]), try made.review.revision)
            let theirs = try await visitor.ask(.patch, "\(path)?base=\(base)", [:], #"{"rating":1,"name":null}"#)
            let answer = try await visitor.ask(.patch, "\(path)?base=\(base)", [:], #"{"rating":3,"name":"Ann"}"#)
            #expect(answer.status == 409 && answer.headers[.contentType] == "application/problem+json")
            #expect(answer.tag == theirs.tag)
            let conflicts = try #require(try answer.json["conflicts"] as? [[String: Any]])
            #expect(conflicts.map { $0["name"] as? String } == ["name", "rating"])
            #expect(conflicts[0]["base"] as? String == "Mira" && conflicts[0]["theirs"] is NSNull)
            #expect(conflicts[0]["mine"] as? String == "Ann")
            #expect(conflicts[1]["base"] as? Double == 4 && conflicts[1]["theirs"] as? Double == 1)
            #expect(conflicts[1]["mine"] as? Double == 3)
            // Nothing of it was saved, and with their revision as the base it is.
            #expect(try await visitor.ask(.get, path).tag == theirs.tag)
            let newest = try theirs.review.revision
            let again = try await visitor.ask(.patch, "\(path)?base=\(newest)", [:], #"{"rating":3}"#)
            #expect(again.status == 200)
        }
    }

    @Test func theSameChangeTwiceIsNoConflict() async throws {
        try await service.running { visitor in
            let made = try await visitor.make(rating: 4)
            let (path, base) = (try #require(made.headers[.location]), try made.review.revision)
            for _ in 0..<2 {
                #expect(try await visitor.ask(.patch, "\(path)?base=\(base)", [:], #"{"rating":1}"#).status == 200)
            }
        }
    }

    @Test(arguments: [("1", 400), ("99999", 400), ("x", 400), ("0", 400)])
    func aBaseThatIsNoneIsRefused(base: String, status: Int) async throws {
        try await service.running { visitor in
            let path = try #require(try await visitor.make().headers[.location])
            #expect(try await visitor.ask(.patch, "\(path)?base=\(base)", [:], #"{"rating":1}"#).status == status)
        }
    }
}
