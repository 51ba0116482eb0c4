import HTTPTypes
import Hummingbird

/// What a request brings along, and how much it may send.
struct ServiceContext: RequestContext {
    var coreContext: CoreRequestContextStorage

    init(source: Source) { coreContext = .init(source: source) }

    /// The most bytes of a body: a review of 2000 characters fits.
    var maxUploadSize: Int { 64 * 1024 }
}

extension Request {
    /// Decodes a body of JSON.
    ///
    /// - Throws: a problem: 415 for another type, 413 for a body that is too large, 400 for one that does not fit.
    func json<Body: Decodable>(_ type: Body.Type, _ context: ServiceContext) async throws -> Body {
        let contentType = headers[.contentType] ?? ""
        guard contentType.contains("json") else {
            throw Problem(
                .unsupportedMediaType, "The body is not JSON.", remedy: "Send it with Content-Type: application/json.")
        }
        return try await decode(as: type, context: context)
    }

    /// Who asks. A real service puts a middleware before its routes that checks this; here it is what the client says.
    var author: String? { headers[.user].map { String($0.prefix(100)) } }
}

extension HTTPField.Name {
    static let user = Self.made("X-User")
    static let idempotencyKey = Self.made("Idempotency-Key")
    static let idempotencyReplayed = Self.made("Idempotency-Replayed")
    static let lastEventID = Self.made("Last-Event-ID")
    static let link = Self.made("Link")

    private static func made(_ name: String) -> Self {
        guard let made = Self(name) else { preconditionFailure("\(name) is no name of a header.") }
        return made
    }
}
