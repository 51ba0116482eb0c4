public import Foundation

/// The page that a request asks for.
public struct StudioAddress: Sendable, Hashable {
    /// The parts of the path, decoded: the name of a store, a page, and what the page shows.
    public var path: [String]
    /// The parameters of the page by name, decoded.
    public var query: [String: String]

    /// An address with a path and parameters.
    public init(path: [String], query: [String: String] = [:]) {
        self.path = path
        self.query = query
    }
}

/// A page, or a value of the store, as a server sends it.
public struct StudioAnswer: Sendable, Hashable {
    /// The status of HTTP.
    public let status: Int
    /// The media type of the body.
    public let contentType: String
    /// The content.
    public let body: Data
    /// The name under which a browser saves the body instead of showing it; nil if it is to be shown.
    public let fileName: String?

    init(status: Int = 200, contentType: String, body: Data, fileName: String? = nil) {
        self.status = status
        self.contentType = contentType
        self.body = body
        self.fileName = fileName
    }

    init(status: Int = 200, json page: some Encodable) throws {
        self.init(
            status: status, contentType: "application/json; charset=utf-8",
            body: Data(try JSONText.of(page, isPretty: false).utf8))
    }
}
