import Foundation
import Locking
import StrataModel

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends signed requests to a bucket and waits for the answers. Safe to use from any thread.
struct BucketConnection: Sendable {
    /// The answer of a server.
    struct Answer: Sendable {
        let status: Int
        let body: Data

        /// The code in the body of an error, such as `NoSuchKey`.
        var code: String? { BucketXML(body).text("Code") }
    }

    /// The scheme and the server, with the port if it is no usual one.
    let server: URL
    let region: String
    let credentials: BucketCredentials
    /// The name of the server in messages.
    let label: String
    private let session: URLSession

    /// The number of times that a request is sent at most, if the server is too busy or the connection breaks.
    private static let tries = 4

    init(server: URL, region: String, credentials: BucketCredentials, label: String) {
        self.server = server
        self.region = region
        self.credentials = credentials
        self.label = label
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 30
        configuration.timeoutIntervalForResource = 600
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        session = URLSession(configuration: configuration)
    }

    /// Sends a request, again if that may help.
    ///
    /// - Parameter path: percent-encoded, begins with `/`.
    /// - Throws: `targetUnavailable` if there is no answer, or one that says that there will be none; `noSpace`.
    func send(
        _ method: String, _ path: String, query: [(String, String)] = [], headers: [String: String] = [:],
        body: Data = Data()
    ) throws -> Answer {
        var failure = StrataError(.targetUnavailable, "The bucket cannot be reached.", context: .init(path: label))
        for attempt in 0..<Self.tries {
            if attempt > 0 { Thread.sleep(forTimeInterval: 0.1 * Double(1 << attempt)) }
            do {
                let answer = try sendOnce(method, path, query, headers, body)
                guard answer.status >= 500, answer.status != 501 || answer.code != "NotImplemented" else {
                    return answer
                }
                failure = refusal(answer)
                if failure.code == .noSpace { throw failure }
            } catch let error as StrataError {
                throw error
            } catch {
                failure = StrataError(
                    .targetUnavailable, "The bucket cannot be reached: \(error.localizedDescription)",
                    context: .init(path: label), cause: error)
            }
        }
        throw failure
    }

    private func sendOnce(
        _ method: String, _ path: String, _ query: [(String, String)], _ headers: [String: String], _ body: Data
    ) throws -> Answer {
        guard var components = URLComponents(url: server, resolvingAgainstBaseURL: false), let host = components.host
        else { throw URLError(.badURL) }
        components.percentEncodedPath = path
        if !query.isEmpty { components.percentEncodedQuery = RequestSignature.encoded(query) }
        guard let url = components.url else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.httpMethod = method
        let signature = RequestSignature(credentials: credentials, region: region, date: Date())
        let signed = signature.headers(
            method, host: components.port.map { "\(host):\($0)" } ?? host, path: path, query: query, headers: headers,
            body: body)
        for (name, value) in signed { request.setValue(value, forHTTPHeaderField: name) }
        if method == "PUT" {
            request.httpBody = body
            request.setValue("application/octet-stream", forHTTPHeaderField: "content-type")
        }
        return try wait(for: request)
    }

    private func wait(for request: URLRequest) throws -> Answer {
        let result = Locked<Result<Answer, any Error>?>(nil)
        let done = DispatchSemaphore(value: 0)
        let task = session.dataTask(with: request) { data, response, error in
            let outcome: Result<Answer, any Error> =
                if let response = response as? HTTPURLResponse {
                    .success(Answer(status: response.statusCode, body: data ?? Data()))
                } else {
                    .failure(error ?? URLError(.badServerResponse))
                }
            result.withLock { $0 = error.map { .failure($0) } ?? outcome }
            done.signal()
        }
        task.resume()
        done.wait()
        guard let outcome = result.withLock({ $0 }) else { throw URLError(.unknown) }
        return try outcome.get()
    }

    private static let codesOfFullTargets: Set = [
        "QuotaExceeded", "InsufficientCapacity", "InsufficientStorage", "XMinioStorageFull", "EntityTooLarge",
    ]

    /// The error for an unexpected answer.
    func refusal(_ answer: Answer) -> StrataError {
        let code = answer.code
        let reason = BucketXML(answer.body).text("Message").map { ": \($0)" } ?? ""
        let isFull = answer.status == 507 || code.map(Self.codesOfFullTargets.contains) ?? false
        let name = "\(answer.status)\(code.map { " \($0)" } ?? "")"
        return isFull
            ? StrataError(
                .noSpace, "The target is full (\(name)). Make room there, or keep fewer snapshots.",
                context: .init(path: label))
            : StrataError(
                .targetUnavailable, "The bucket refuses (\(name))\(reason)", context: .init(path: label))
    }
}
