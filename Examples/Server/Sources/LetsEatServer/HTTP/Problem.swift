import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Strata

/// An answer that says what went wrong and what to do about it, as JSON (RFC 9457).
struct Problem: Error, HTTPResponseError, Encodable {
    /// A property of a review that breaks a rule.
    struct Field: Encodable, Hashable, Sendable {
        let name: String
        let message: String
    }

    /// A property that others have changed as well, with its three values.
    struct Conflict: Encodable, Sendable {
        let name: String
        let base: JSONValue
        let theirs: JSONValue
        let mine: JSONValue
    }

    let status: HTTPResponse.Status
    let detail: String
    let remedy: String
    /// The number of the store's error, if it comes from there.
    var code: Int?
    var fields: [Field]?
    var conflicts: [Conflict]?
    /// The review as it is now, for a client that has an older one.
    var current: ReviewResource?
    var headers: HTTPFields = [:]

    init(_ status: HTTPResponse.Status, _ detail: String, remedy: String) {
        self.status = status
        self.detail = detail
        self.remedy = remedy
    }

    private enum CodingKeys: String, CodingKey {
        case title, status, detail, remedy, code, fields, conflicts, current
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(status.reasonPhrase, forKey: .title)
        try container.encode(status.code, forKey: .status)
        try container.encode(detail, forKey: .detail)
        try container.encode(remedy, forKey: .remedy)
        try container.encodeIfPresent(code, forKey: .code)
        try container.encodeIfPresent(fields, forKey: .fields)
        try container.encodeIfPresent(conflicts, forKey: .conflicts)
        try container.encodeIfPresent(current, forKey: .current)
    }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        var headers = headers
        headers[.contentType] = "application/problem+json"
        if let current { headers[.eTag] = current.tag.description }
        let body = ByteBuffer(bytes: try JSONText.encoder.encode(self))
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
    }
}

/// A value of an attribute as JSON has it.
struct JSONValue: Encodable, Hashable, Sendable {
    let value: AttributeValue

    init(_ value: AttributeValue) { self.value = value }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch value {
        case .null: try container.encodeNil()
        case .boolean(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .float(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        default: try container.encode("\(value)")
        }
    }
}

enum JSONText {
    static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    /// - Throws: an `EncodingError`.
    static func text(_ value: some Encodable) throws -> String {
        String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
