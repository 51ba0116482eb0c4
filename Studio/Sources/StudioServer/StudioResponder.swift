import Foundation
import HTTPTypes
public import Hummingbird
public import HummingbirdCore
import NIOCore
import ServiceLifecycle
public import StrataInspector

/// Answers requests for pages of stores: the gate first, then files of the front end, then the stores.
///
/// A browser that asks for HTML gets the front end, which asks for the same address as JSON. So every page can be shared
/// and read by programs: with `Accept: application/json`, or with `.json` after the path.
public struct StudioResponder: HTTPResponder {
    public typealias Context = BasicRequestContext

    private let studio: Studio
    private let gate: StudioGate
    private let files: StaticFiles
    private let patience: Duration

    /// A responder for stores behind a gate.
    ///
    /// - Parameter patience: how long a page may take before the responder looks whether its client has gone. A connection
    ///   on which it has looked ends with the answer.
    /// - Throws: an error of the file system if the files of the program are not there.
    public init(_ studio: Studio, _ gate: StudioGate, patience: Duration = .milliseconds(50)) throws {
        self.studio = studio
        self.gate = gate
        self.patience = patience
        files = try StaticFiles()
    }

    public func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        var response: Response
        switch gate.verdict(on: request) {
        case .refuses(let status, let message):
            response = Self.refusal(status, message, request)
            if status == .methodNotAllowed { response.headers[.allow] = gate.methods }
        case .admits(let cookie):
            response = Response(status: .seeOther, headers: [.location: studio.home])
            response.headers[.setCookie] =
                "\(cookie); Path=/; HttpOnly; SameSite=Strict\(gate.isSecure ? "; Secure" : "")"
        case .passes: response = try await answer(request)
        }
        let isKept = response.headers[.cacheControl] != nil
        response.headers.append(contentsOf: isKept ? Self.headers.filter { $0.name != .cacheControl } : Self.headers)
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// Nothing is loaded from elsewhere, nothing inline runs, and no page of another site frames or reads this one.
    private static let headers: HTTPFields = [
        .contentSecurityPolicy:
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
            + "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
            + "trusted-types 'none'",
        .xContentTypeOptions: "nosniff",
        .known("Referrer-Policy"): "no-referrer",
        .known("X-Frame-Options"): "DENY",
        .known("Cross-Origin-Opener-Policy"): "same-origin",
        .known("Cross-Origin-Resource-Policy"): "same-origin",
        .cacheControl: "no-store",
    ]

    private static func wantsPage(_ request: Request) -> Bool {
        request.headers[.accept]?.contains("text/html") ?? false
    }

    private static func refusal(_ status: HTTPResponse.Status, _ message: String, _ request: Request) -> Response {
        let isPage = wantsPage(request)
        let text = isPage ? message + "\n" : #"{"error":{"message":"\#(message)"}}"#
        return response(
            status, isPage ? "text/plain; charset=utf-8" : "application/json; charset=utf-8", Data(text.utf8))
    }

    private static func response(_ status: HTTPResponse.Status, _ type: String, _ body: Data) -> Response {
        Response(status: status, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    // MARK: Answers

    private func answer(_ request: Request) async throws -> Response {
        guard request.method == .post || !Self.hasBody(request) else {
            var refusal = Self.refusal(.contentTooLarge, "A page takes no content of a request.", request)
            refusal.headers[.connection] = "close"
            return refusal
        }
        guard var address = StudioAddress(request.uri) else {
            return Self.refusal(.badRequest, "The address cannot be decoded.", request)
        }
        if request.method == .post { return try await change(address, request) }
        if address.path.first == "-" { return file(address.path.dropFirst(), request) }
        let isJSON = takesEnding(&address)
        if address.path.count == 2, let feed = feed(address) {
            return feed.lines.map(Self.events) ?? Self.refusal(.notFound, "There is no such store.", request)
        }
        let isOther = address.path.count > 1 && ["value", "model.svg", "export"].contains(address.path[1])
        if Self.wantsPage(request), !isJSON, !isOther { return file(["index.html"], request) }
        return try await response(to: address, request)
    }

    private static func hasBody(_ request: Request) -> Bool {
        request.headers[.transferEncoding] != nil || request.headers[.contentLength].map { $0 != "0" } ?? false
    }

    /// Removes `.json` from the end of an address such as `/S/model.json`, which asks for data and not for a page.
    private func takesEnding(_ address: inout StudioAddress) -> Bool {
        guard let last = address.path.last, last.hasSuffix(".json") else { return false }
        // A store may have a name with this ending.
        if address.path.count == 1, studio.names.contains(last) { return false }
        let name = String(last.dropLast(".json".count))
        address.path.removeLast()
        // Below the stores, an entity or a property may be called index.
        if !name.isEmpty, name != "index" || address.path.count > 1 { address.path.append(name) }
        return true
    }

    private static let mostBytesOfChange = 1 << 20

    /// Shows what a change would do, or saves it. It is not stopped when the client goes: it is short, and all or nothing.
    private func change(_ address: StudioAddress, _ request: Request) async throws -> Response {
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: Self.mostBytesOfChange)
        } catch is NIOTooManyBytesError {
            return Self.refusal(.contentTooLarge, "A change has at most a megabyte.", request)
        } catch {
            return Self.refusal(.badRequest, "The content of the request cannot be read.", request)
        }
        return Self.response(await studio.change(address, Data(body.readableBytesView)))
    }

    /// A file of the front end; under an address with its version it never changes, so that the browser may keep it.
    private func file(_ path: ArraySlice<String>, _ request: Request) -> Response {
        let hasVersion = path.count > 1 && path.first == files.version
        guard let file = files.files[(hasVersion ? path.dropFirst() : path).joined(separator: "/")] else {
            return Self.refusal(.notFound, "There is no such file.", request)
        }
        var response = Self.response(.ok, file.contentType, file.content)
        if hasVersion { response.headers[.cacheControl] = "private, max-age=31536000, immutable" }
        return response
    }

    /// Asks for a page, and stops asking when the client has gone or the server ends.
    private func response(to address: StudioAddress, _ request: Request) async throws -> Response {
        let asking = LateAnswer { [studio] in await studio.answer(address) }
        if let answer = await asking.answer(within: patience) { return Self.response(answer) }
        // To see the client go is to take what it sends next, so that the connection ends with the answer.
        let answer = try await request.body.consumeWithCancellationOnInboundClose { _ in await asking.answer }
        var response = Self.response(answer)
        response.headers[.connection] = "close"
        return response
    }

    private static func response(_ answer: StudioAnswer) -> Response {
        var response = response(.init(code: answer.status), answer.contentType, answer.body)
        if let name = answer.fileName { response.headers[.contentDisposition] = "attachment; filename=\"\(name)\"" }
        return response
    }

    // MARK: Events

    /// What an address of server-sent events sends; its lines are nil for a store that is not here.
    private struct Feed {
        let lines: AsyncStream<String>?
    }

    /// nil for the address of a page.
    private func feed(_ address: StudioAddress) -> Feed? {
        switch address.path[1] {
        case "live":
            guard let moves = studio.moves(of: address.path[0]) else { return Feed(lines: nil) }
            return Feed(lines: Self.texts(moves))
        case "verify":
            return Feed(lines: studio.verification(of: address.path[0], isQuick: address.query["depth"] == "quick"))
        default: return nil
        }
    }

    private static func texts(_ numbers: AsyncStream<UInt64>) -> AsyncStream<String> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let following = Task {
                for await number in numbers { continuation.yield("\(number)") }
                continuation.finish()
            }
            continuation.onTermination = { _ in following.cancel() }
        }
    }

    /// An event for each line; a comment every few seconds finds clients that have gone.
    private static func events(_ lines: AsyncStream<String>) -> Response {
        let body = ResponseBody { writer in
            let (events, source) = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingNewest(16))
            let following = Task {
                for await line in lines { source.yield("data: \(line)\n\n") }
                source.finish()
            }
            let waiting = Task {
                while !Task.isCancelled {
                    source.yield(": here\n\n")
                    try? await Task.sleep(for: .seconds(10))
                }
            }
            defer {
                following.cancel()
                waiting.cancel()
            }
            for try await event in events.cancelOnGracefulShutdown() {
                try await writer.write(ByteBuffer(string: event))
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: [.contentType: "text/event-stream"], body: body)
    }
}

extension StudioAddress {
    /// The address of a request; nil if it cannot be decoded.
    init?(_ uri: URI) {
        var path: [String] = []
        for part in uri.path.split(separator: "/") {
            guard let name = part.removingPercentEncoding else { return nil }
            path.append(name)
        }
        var query: [String: String] = [:]
        for pair in (uri.query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let texts = parts.map { $0.replacing("+", with: " ").removingPercentEncoding }
            guard let name = texts[0], let value = texts.count > 1 ? texts[1] : "" else { return nil }
            query[name] = value
        }
        self.init(path: path, query: query)
    }
}
