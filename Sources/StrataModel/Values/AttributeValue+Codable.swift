import Foundation

/// A value is coded as a container with one key, the name of its case.
extension AttributeValue: Codable {
    private enum Key: String, CodingKey {
        case null, boolean, integer, float, double, decimal, string, date, uuid, url, data, blob, objectID, composite
        case encrypted
    }

    /// Reads a value written by `encode(to:)`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        guard container.allKeys.count == 1, let key = container.allKeys.first else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "An attribute value must have exactly one key.")
            )
        }
        func read<T: Decodable>(_ type: T.Type) throws -> T { try container.decode(type, forKey: key) }
        switch key {
        case .null: self = .null
        case .boolean: self = .boolean(try read(Bool.self))
        case .integer: self = .integer(try Self.integer(read(String.self), at: decoder))
        case .float: self = .float(Float(bitPattern: try read(UInt32.self)))
        case .double: self = .double(Double(bitPattern: try Self.bits(read(String.self), at: decoder)))
        case .decimal: self = .decimal(try Self.decimal(in: container))
        case .string: self = .string(try read(String.self))
        case .date:
            let bits = try Self.bits(read(String.self), at: decoder)
            self = .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits)))
        case .uuid: self = .uuid(try read(UUID.self))
        case .url: self = .url(try read(URL.self))
        case .data: self = .data(try read(Data.self))
        case .blob: self = .blob(try read(BlobReference.self))
        case .objectID: self = .objectID(try read(ObjectID.self))
        case .composite: self = .composite(try read([String: AttributeValue].self))
        case .encrypted: self = .encrypted(EncryptedValue(stored: try read(Data.self)))
        }
    }

    /// Writes integers as text and floating-point numbers as bit patterns, so that every bit survives.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .null: try container.encode(true, forKey: .null)
        case .boolean(let value): try container.encode(value, forKey: .boolean)
        case .integer(let value): try container.encode(String(value), forKey: .integer)
        case .float(let value): try container.encode(value.bitPattern, forKey: .float)
        case .double(let value): try container.encode(String(value.bitPattern), forKey: .double)
        case .decimal(let value) where value.isNaN: try container.encode(Self.notANumber, forKey: .decimal)
        case .decimal(let value): try container.encode(value, forKey: .decimal)
        case .string(let value): try container.encode(value, forKey: .string)
        case .date(let value):
            try container.encode(String(value.timeIntervalSinceReferenceDate.bitPattern), forKey: .date)
        case .uuid(let value): try container.encode(value, forKey: .uuid)
        case .url(let value): try container.encode(value, forKey: .url)
        case .data(let value): try container.encode(value, forKey: .data)
        case .blob(let value): try container.encode(value, forKey: .blob)
        case .objectID(let value): try container.encode(value, forKey: .objectID)
        case .composite(let value): try container.encode(value, forKey: .composite)
        case .encrypted(let value): try container.encode(value.stored, forKey: .encrypted)
        }
    }

    /// The text for a decimal NaN, which JSON numbers cannot express.
    private static let notANumber = "NaN"

    private static func decimal(in container: KeyedDecodingContainer<Key>) throws -> Decimal {
        // If it is not text, it must be a number.
        guard let text = try? container.decode(String.self, forKey: .decimal) else {
            return try container.decode(Decimal.self, forKey: .decimal)
        }
        guard text == notANumber else {
            throw DecodingError.dataCorruptedError(
                forKey: .decimal, in: container, debugDescription: "Not a decimal: \(text).")
        }
        return .nan
    }

    private static func integer(_ text: String, at decoder: any Decoder) throws -> Int64 {
        guard let value = Int64(text) else { throw notANumber(text, at: decoder) }
        return value
    }

    private static func bits(_ text: String, at decoder: any Decoder) throws -> UInt64 {
        guard let value = UInt64(text) else { throw notANumber(text, at: decoder) }
        return value
    }

    private static func notANumber(_ text: String, at decoder: any Decoder) -> DecodingError {
        .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "Not a number: \(text)."))
    }
}
