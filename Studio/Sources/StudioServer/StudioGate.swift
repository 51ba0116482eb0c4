import HTTPTypes
import Hummingbird
import HummingbirdCore
import Synchronization

/// Decides who may read: the browser that brought the token of the printed address, on this machine's own names.
///
/// The token is good once. The browser gets a cookie for it, which it sends to no other site. `Host` must be a name of
/// the loopback interface, so that no foreign name that resolves to it (DNS rebinding) reaches a page, and requests that
/// pages of other origins start are refused.
public final class StudioGate: Sendable {
    /// What a request is told.
    enum Verdict: Equatable {
        case passes
        /// The token was right: the browser gets the cookie, a name with a value, and is sent to the address without the
        /// token.
        case admits(cookie: String)
        case refuses(HTTPResponse.Status, String)
    }

    static let cookieName = "strata-studio"
    /// A refusal that a new address helps against.
    static let needsAddress =
        "Open the address that strata-studio printed. It is good once; start Studio again for another."

    /// The name of an interface beside the loopback under which requests may come; nil if there is none.
    private let boundName: String?
    /// Whether requests may change stores.
    private let isWritable: Bool
    /// Whether requests come encrypted, by TLS.
    public let isSecure: Bool
    /// The one-time token; nil after it was used.
    private let token: Mutex<String?>
    private let session = StudioGate.secret()

    /// A gate with a new token.
    ///
    /// - Parameters:
    ///   - isWritable: whether requests may change stores.
    ///   - boundName: the name or address under which other machines reach the server; nil for the loopback only.
    ///   - isSecure: whether requests come encrypted, by TLS.
    public init(isWritable: Bool = false, boundName: String? = nil, isSecure: Bool = false) {
        self.isWritable = isWritable
        self.isSecure = isSecure
        self.boundName = boundName.map(Self.host)
        token = Mutex(Self.secret())
    }

    /// The methods that requests may have.
    var methods: String { isWritable ? "GET, HEAD, POST" : "GET, HEAD" }

    /// `https`, or `http` without TLS.
    public var scheme: String { isSecure ? "https" : "http" }

    /// The token for the address to print; nil after it was used.
    public var unusedToken: String? { token.withLock { $0 } }

    /// 256 random bits in hexadecimal digits.
    private static func secret() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<4).map { _ in
            let bits: UInt64 = generator.next()
            let digits = String(bits, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    func verdict(on request: Request) -> Verdict {
        guard request.method == .get || request.method == .head || request.method == .post && isWritable else {
            return .refuses(
                .methodNotAllowed, isWritable ? "Studio answers \(methods) only." : "Studio only reads.")
        }
        guard request.headers[.furtherHost] == nil else {
            return .refuses(.badRequest, "A request names its host once.")
        }
        guard let authority = request.head.authority, Self.isLoopback(authority) || isBound(authority) else {
            return .refuses(
                .misdirectedRequest, "Studio answers under \(boundName ?? "127.0.0.1 and localhost") only.")
        }
        if request.method == .post, !Self.isOwnChange(request) {
            return .refuses(.forbidden, "A change must come from a page of Studio, as JSON.")
        }
        guard isOwn(request, authority) else {
            return .refuses(.forbidden, "Requests of other sites are refused.")
        }
        if request.uri.path == "/", let offered = request.uri.queryParameters["token"] {
            return exchange(String(offered), hasSession(request), authority)
        }
        return hasSession(request) ? .passes : .refuses(.unauthorized, Self.needsAddress)
    }

    private func exchange(_ offered: String, _ hasSession: Bool, _ authority: String) -> Verdict {
        let isRight = token.withLock { token in
            guard let wanted = token, Self.isEqual(offered, wanted) else { return false }
            token = nil
            return true
        }
        guard isRight || hasSession else { return .refuses(.unauthorized, Self.needsAddress) }
        return .admits(cookie: "\(Self.cookieName(for: authority))=\(session)")
    }

    /// The name of the cookie for an address. A browser sends cookies to all ports of a machine, so that without the port
    /// in its name the cookie of one Studio would take the place of another one's.
    static func cookieName(for authority: String) -> String {
        let port = (authority.hasPrefix("[") ? authority.drop { $0 != "]" }.dropFirst() : authority.drop { $0 != ":" })
        return port.isEmpty ? cookieName : "\(cookieName)-\(port.dropFirst())"
    }

    private func hasSession(_ request: Request) -> Bool {
        request.headers[values: .cookie].flatMap { $0.split(separator: ";") }.contains { cookie in
            let parts = cookie.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].drop(while: \.isWhitespace).hasPrefix(Self.cookieName) else {
                return false
            }
            return Self.isEqual(String(parts[1]), session)
        }
    }

    /// Takes the same time wherever the texts differ.
    private static func isEqual(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// Whether `Host` names the loopback interface, with any port or none.
    public static func isLoopback(_ authority: String) -> Bool {
        ["127.0.0.1", "localhost", "[::1]"].contains { isHost($0, of: authority) }
    }

    private func isBound(_ authority: String) -> Bool { boundName.map { Self.isHost($0, of: authority) } ?? false }

    /// A name or an address as addresses of pages have it: one of IPv6 in brackets.
    public static func host(_ name: String) -> String {
        name.contains(":") && !name.hasPrefix("[") ? "[\(name)]" : name
    }

    /// Whether browsers can reach a server under the name: an address that stands for all interfaces is none.
    public static func isName(_ name: String) -> Bool { !["", "0.0.0.0", "::", "[::]", "*", "0"].contains(name) }

    private static func isHost(_ name: String, of authority: String) -> Bool {
        guard authority.lowercased().hasPrefix(name.lowercased()) else { return false }
        let rest = authority.dropFirst(name.count)
        return rest.isEmpty
            || rest.first == ":" && !rest.dropFirst().isEmpty
                && rest.dropFirst().allSatisfy { ("0"..."9").contains($0) }
    }

    /// Whether a change has what only a page of the same origin can send without being asked first: an `Origin`, which
    /// is checked, and the media type of JSON.
    private static func isOwnChange(_ request: Request) -> Bool {
        request.headers[.origin] != nil
            && request.headers[.contentType]?.lowercased().hasPrefix("application/json") ?? false
    }

    /// Whether the request comes from a page of Studio, from an address that was typed, or from a program.
    ///
    /// A link on another site may lead to a page, which shows nothing without the cookie, and the browser does not send it
    /// then.
    private func isOwn(_ request: Request, _ authority: String) -> Bool {
        if let origin = request.headers[.origin], origin != "\(scheme)://\(authority)" { return false }
        switch request.headers[.fetchSite] {
        case nil, "same-origin", "none": return true
        default: return request.headers[.fetchMode] == "navigate" && request.headers[.fetchDestination] == "document"
        }
    }
}

extension HTTPField.Name {
    /// A second host: the first one is the authority of the request.
    static let furtherHost = Self.known("Host")
    static let fetchSite = Self.known("Sec-Fetch-Site")
    static let fetchMode = Self.known("Sec-Fetch-Mode")
    static let fetchDestination = Self.known("Sec-Fetch-Dest")

    /// A name that is a token, as HTTP asks.
    static func known(_ name: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else { preconditionFailure("\(name) is no name of a header.") }
        return name
    }
}
