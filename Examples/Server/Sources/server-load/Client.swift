import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// Makes requests of the server, each once.
struct Client: Sendable {
    struct Answer: Sendable {
        let status: Int
        let tag: String?
        let body: Data

        func decoded<Body: Decodable>(_ type: Body.Type) throws -> Body {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            return try decoder.decode(type, from: body)
        }
    }

    private let address: String
    private let http: HTTPClient

    init(address: String, connections: Int) {
        self.address = address
        var configuration = HTTPClient.Configuration(
            timeout: .init(connect: .milliseconds(500), read: .seconds(10)),
            connectionPool: .init(
                idleTimeout: .seconds(30), concurrentHTTP1ConnectionsPerHostSoftLimit: connections))
        configuration.connectionPool.retryConnectionEstablishment = false
        http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func shutdown() async throws { try await http.shutdown() }

    /// - Returns: nil without an answer, when it is not known whether the server has done what was asked.
    func ask(
        _ method: HTTPMethod, _ path: String, _ headers: [(String, String)] = [], body: String? = nil
    ) async -> Answer? {
        var request = HTTPClientRequest(url: address + path)
        request.method = method
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(string: body))
        }
        do {
            let response = try await http.execute(request, timeout: .seconds(15))
            let body = try await response.body.collect(upTo: 1 << 22)
            return Answer(
                status: Int(response.status.code), tag: response.headers.first(name: "ETag"),
                body: Data(body.readableBytesView))
        } catch {
            return nil
        }
    }

    /// Asks until there is an answer that says what became of the request.
    func insist(
        _ method: HTTPMethod, _ path: String, _ headers: [(String, String)] = [], body: String? = nil
    ) async -> (answer: Answer, attempts: Int) {
        var attempts = 1
        while true {
            if let answer = await ask(method, path, headers, body: body), answer.status < 500 {
                return (answer, attempts)
            }
            attempts += 1
            // Also while it is cancelled: it has to be known what became of the request.
            await Task.detached { try? await Task.sleep(for: .milliseconds(20)) }.value
        }
    }
}

/// A review as the server gives it.
struct Review: Decodable, Sendable {
    struct Content: Decodable, Sendable {
        let customerReview: String?
    }

    let number: UInt64
    let review: Content
}
