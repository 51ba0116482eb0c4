import Foundation
import HTTPTypes
import Strata
import Testing

@testable import LetsEatServer

/// Every refusal has a status, a sentence and a remedy, and no secret.
@Suite struct ProblemTests {
    private let service: ServiceUnderTest

    init() throws { service = try ServiceUnderTest() }

    @Test func rulesOfTheModelAreNamedByField() async throws {
        try await service.running { visitor in
            let long = String(repeating: "a", count: 2001)
            let answer = try await visitor.make(long, rating: 7)
            #expect(answer.status == 422)
            let fields = try #require(try answer.json["fields"] as? [[String: String]])
            #expect(Set(fields.compactMap { $0["name"] }) == ["customerReview", "rating"])
            #expect(fields.allSatisfy { $0["message"]?.isEmpty == false })
        }
    }

    @Test(arguments: [
        ("not json", "application/json", 400), ("{}", "application/json", 400), ("[]", "application/json", 400),
        (#"{"rating":"five"}"#, "application/json", 400), (#"{"rating":4}"#, "text/plain", 415),
        (#"{"rating":4,"date":"yesterday"}"#, "application/json", 400), ("", "application/json", 400),
    ]) func bodiesThatDoNotFitAreRefused(body: String, type: String, status: Int) async throws {
        try await service.running { visitor in
            let headers: HTTPFields = [.idempotencyKey: "a", .contentType: type]
            let answer = try await visitor.ask(.post, "/restaurants/17/reviews", headers, body)
            #expect(answer.status == status)
            #expect(try answer.json["remedy"] as? String != nil)
            #expect(try service.container.newBackgroundContext().count(for: FetchRequest<Review>()) == 0)
        }
    }

    @Test(arguments: [#"{"uuid":"a"}"#, #"{"restaurantID":3}"#, #"{"rating":null}"#, #"{"ratign":1}"#, "3"])
    func whatCannotBeChangedIsNamed(patch: String) async throws {
        try await service.running { visitor in
            let made = try await visitor.make()
            let path = try #require(made.headers[.location])
            #expect(try await visitor.ask(.patch, path, [.ifMatch: made.tag], patch).status == 400)
        }
    }

    @Test func aBodyThatIsTooLargeIsRefused() async throws {
        try await service.running { visitor in
            let answer = try await visitor.make(String(repeating: "a", count: 70_000))
            #expect(answer.status == 413 && answer.text.contains("64 KiB"))
        }
    }

    @Test func aNewReviewNeedsAKey() async throws {
        try await service.running { visitor in
            let missing = try await visitor.ask(.post, "/restaurants/17/reviews", [:], #"{"rating":4}"#)
            #expect(missing.status == 400 && missing.text.contains("Idempotency-Key"))
            #expect(try await visitor.make(key: String(repeating: "k", count: 201)).status == 400)
        }
    }

    @Test(arguments: [
        ("/reviews/999999", 404), ("/reviews/x", 400), ("/reviews/-1", 400), ("/reviews/18446744073709551615", 404),
        ("/restaurants/0/reviews", 400), ("/restaurants/99999999999/reviews", 400), ("/restaurants/5/rating", 404),
        ("/nothing", 404), ("/events?since=x", 400), ("/events?since=%7B%7D", 400),
    ]) func addressesThatLeadNowhereSayWhatToDo(path: String, status: Int) async throws {
        try await service.running { visitor in
            let answer = try await visitor.ask(.get, path)
            #expect(answer.status == status && answer.headers[.contentType] == "application/problem+json")
            #expect(try answer.json["remedy"] as? String != "" && answer.json["status"] as? Int == status)
        }
    }

    @Test(arguments: [
        (StrataError.Code.persistentStoreTimeout, 503), (.inDoubt, 503), (.noSpace, 507), (.corrupt, 500),
        (.historyDropped, 410), (.saveTooLarge, 413), (.budgetExceeded, 400), (.constraintMerge, 409),
        (.persistentStoreSaveConflicts, 412), (.validationStringTooLong, 422),
    ]) func errorsOfTheStoreHaveTheirStatus(code: StrataError.Code, status: Int) throws {
        let problem = Problem(StrataError(code, "secret", context: .init(path: "/secret")))
        #expect(problem.status.code == status && problem.code == code.rawValue)
        let text = try JSONText.text(problem)
        #expect(text.contains("remedy") && (status < 500 || !text.contains("secret")))
        #expect((problem.headers[.retryAfter] != nil) == (status == 503))
    }
}
