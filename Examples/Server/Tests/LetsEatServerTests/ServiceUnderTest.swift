import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Strata
import Testing

@testable import LetsEatServer

/// A service over a store in memory, and requests of it.
struct ServiceUnderTest: Sendable {
    var service: LetsEatService
    let metrics = PrometheusMetrics()

    init(webhook: (any Webhook)? = nil) throws {
        var logger = Logger(label: "tests")
        logger.logLevel = .critical
        service = try LetsEatService(at: .inMemory, webhook: webhook, metrics: metrics, logger: logger)
    }

    var container: PersistentContainer { service.container }

    /// Runs `body` while the service runs, on a free port if it is live.
    func running(
        _ setup: TestingSetup = .router, _ body: @escaping @Sendable (Visitor) async throws -> Void
    ) async throws {
        try await service.application(address: .hostname("127.0.0.1", port: 0)).test(setup) { client in
            try await service.store.waitUntilReady()
            try await body(Visitor(client: client))
        }
    }
}

/// A client of the service.
struct Visitor: Sendable {
    let client: any TestClientProtocol

    struct Answer: Sendable {
        let status: Int
        let headers: HTTPFields
        let text: String

        var json: [String: Any] {
            get throws {
                let json = try JSONSerialization.jsonObject(with: Data(text.utf8))
                return try #require(json as? [String: Any])
            }
        }

        var tag: String { headers[.eTag] ?? "" }

        var review: ReviewResource {
            get throws {
                let decoder = JSONDecoder()
                decoder.dateDecodingStrategy = .iso8601
                return try decoder.decode(ReviewResource.self, from: Data(text.utf8))
            }
        }
    }

    func ask(
        _ method: HTTPRequest.Method, _ uri: String, _ headers: HTTPFields = [:], _ body: String? = nil
    ) async throws -> Answer {
        var headers = headers
        if body != nil, headers[.contentType] == nil { headers[.contentType] = "application/json" }
        let response = try await client.executeRequest(
            uri: uri, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
        return Answer(status: response.status.code, headers: response.headers, text: String(buffer: response.body))
    }

    /// Makes a review of restaurant 17.
    @discardableResult
    func make(
        _ text: String = "Good soup.", rating: Double = 4, key: String = UUID().uuidString, restaurant: Int = 17
    ) async throws -> Answer {
        try await ask(
            .post, "/restaurants/\(restaurant)/reviews", [.idempotencyKey: key, .user: "mira"],
            #"{"name":"Mira","rating":\#(rating),"customerReview":"\#(text)"}"#)
    }
}
