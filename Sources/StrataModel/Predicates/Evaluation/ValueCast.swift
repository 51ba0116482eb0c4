package import Foundation

/// A type that `CAST` converts values to.
package enum ValueCast: Sendable {
    case string, wholeNumber, double, float, decimal, boolean, date, uuid, url, data, objectID, blob
    /// Any number.
    case number

    /// The type with a name of Foundation's or Swift's, or `blob` for a value kept beside the store; nil for another name.
    package init?(typeName: String) {
        switch typeName.hasPrefix("NS") ? String(typeName.dropFirst(2)).lowercased() : typeName.lowercased() {
        case "string", "mutablestring": self = .string
        case "number": self = .number
        case "int", "integer", "int16", "int32", "int64", "long": self = .wholeNumber
        case "double", "timeinterval": self = .double
        case "float": self = .float
        case "decimalnumber", "decimal": self = .decimal
        case "bool", "boolean": self = .boolean
        case "date": self = .date
        case "uuid": self = .uuid
        case "url": self = .url
        case "data": self = .data
        case "managedobjectid", "objectid": self = .objectID
        case "blob": self = .blob
        default: return nil
        }
    }

    /// The value converted to the type; nil if it cannot be converted.
    ///
    /// A number is read as a date in seconds since 2001-01-01 00:00 UTC, and a date gives that number; text is read as
    /// a date in ISO 8601 or as that number.
    package func value(of value: AttributeValue) -> AttributeValue? {
        if value.isNull { return value }
        switch self {
        case .string: return Self.text(value).map(AttributeValue.string)
        case .number: return Self.number(value)
        case .wholeNumber: return Self.whole(value).map(AttributeValue.integer)
        case .double: return Self.double(value).map(AttributeValue.double)
        case .float:
            if case .string(let text) = value { return Float(text).map(AttributeValue.float) }
            // A literal is read as a double first; its shortest decimal representation is the float that was meant.
            return Self.double(value).flatMap { Float($0.description) }.map(AttributeValue.float)
        case .decimal:
            guard case .string(let text) = value else { return value.coerced(to: .decimal) }
            return text.lowercased() == "nan" ? .decimal(.nan) : Decimal(exactText: text).map(AttributeValue.decimal)
        case .boolean: return Self.whole(value).map { .boolean($0 != 0) }
        case .date:
            if case .date = value { return value }
            if case .string(let text) = value, let date = Date(iso8601Text: text) { return .date(date) }
            return Self.double(value).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        default: return identity(value)
        }
    }

    private func identity(_ value: AttributeValue) -> AttributeValue? {
        switch (self, value) {
        case (.uuid, .uuid), (.url, .url), (.data, .data), (.objectID, .objectID), (.blob, .blob): value
        case (.uuid, .string(let text)): UUID(uuidString: text).map(AttributeValue.uuid)
        case (.url, .string(let text)): URL(string: text).map(AttributeValue.url)
        case (.data, .string(let text)): Data(base64Encoded: text).map(AttributeValue.data)
        case (.objectID, .string(let text)): ObjectID(text).map(AttributeValue.objectID)
        case (.blob, .string(let text)): Self.blob(text).map(AttributeValue.blob)
        default: nil
        }
    }

    private static func text(_ value: AttributeValue) -> String? {
        switch value {
        case .boolean(let value): value ? "1" : "0"
        case .integer(let value): String(value)
        case .float(let value): value.description
        case .double(let value): value.description
        case .decimal(let value): value.description
        case .uuid(let value): value.uuidString
        case .objectID(let value): value.description
        default: value.text
        }
    }

    private static func number(_ value: AttributeValue) -> AttributeValue? {
        switch value {
        case .boolean, .integer, .float, .double, .decimal: value
        case .date(let date): .double(date.timeIntervalSinceReferenceDate)
        case .string(let text): Int64(text).map(AttributeValue.integer) ?? Double(text).map(AttributeValue.double)
        default: nil
        }
    }

    private static func double(_ value: AttributeValue) -> Double? {
        guard let number = number(value), case .double(let double)? = number.coerced(to: .double) else { return nil }
        return double
    }

    private static func whole(_ value: AttributeValue) -> Int64? {
        if let number = number(value), case .integer(let whole)? = number.coerced(to: .integer64) { return whole }
        return double(value).flatMap { Int64(exactly: $0.rounded(.towardZero)) }
    }

    private static func blob(_ text: String) -> BlobReference? {
        let parts = text.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let size = UInt64(parts[0]), let digest = Data(base64Encoded: String(parts[1])) else {
            return nil
        }
        return BlobReference(digest: digest, sizeInBytes: size)
    }
}

extension Decimal {
    /// A decimal from text that is a number as a whole; `Decimal(string:)` accepts text with a number at its beginning.
    package init?(exactText text: String) {
        guard !text.isEmpty, text.utf8.count <= 256,
            text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }), Double(text) != nil,
            let value = Decimal(string: text)
        else { return nil }
        self = value
    }
}

extension ObjectID {
    /// Reads the text that `description` writes.
    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].hasPrefix("p"), let entity = UInt16(parts[0]),
            let row = UInt64(parts[1].dropFirst()), row <= Self.maximumRow
        else { return nil }
        self.init(entity: EntityID(rawValue: entity), row: row)
    }
}
