import Foundation
import StrataModel

/// The JSON that commands print: sorted keys, ISO 8601 dates, and strings for identifiers that may exceed 2^53.
enum JSONText {
    static func print(_ object: JSONObject, isPretty: Bool = true) throws {
        Output.shared.line(try of(object, isPretty: isPretty))
    }

    static func of(_ value: some Encodable, isPretty: Bool = true) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting =
            isPretty ? [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted] : [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// A value in the form that commands document: null, booleans, numbers and strings as they are; dates, UUIDs, URLs
    /// and object ids as strings; data as its size (exports write the bytes).
    enum Value: Encodable {
        case null
        case boolean(Bool)
        case integer(Int64)
        case number(Double)
        case text(String)
        case object([String: Value])

        init(
            _ value: AttributeValue, date: (Date) -> String = ValueText.moment, name: (ObjectID) -> String
        ) {
            switch value {
            case .null: self = .null
            case .boolean(let value): self = .boolean(value)
            case .integer(let value): self = .integer(value)
            case .float(let value): self = .number(Double(value))
            case .double(let value): self = .number(value)
            case .decimal(let value): self = .text("\(value)")
            case .string(let text): self = .text(text)
            case .date(let moment): self = .text(date(moment))
            case .uuid(let uuid): self = .text(uuid.uuidString)
            case .url(let url): self = .text(url.absoluteString)
            case .data(let data): self = .object(["sizeInBytes": .integer(Int64(data.count))])
            case .blob(let blob):
                self = .object([
                    "blob": .text(blob.digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()),
                    "sizeInBytes": .integer(Int64(clamping: blob.sizeInBytes)),
                ])
            case .objectID(let id): self = .text(name(id))
            case .composite(let elements):
                self = .object(elements.mapValues { Value($0, date: date, name: name) })
            case .encrypted: self = .text("(encrypted)")
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .null: try container.encodeNil()
            case .boolean(let value): try container.encode(value)
            case .integer(let value): try container.encode(value)
            case .number(let value): try container.encode(value)
            case .text(let value): try container.encode(value)
            case .object(let value): try container.encode(value)
            }
        }
    }
}
