package import Foundation
package import StrataModel

/// Converts the values of transformables whose model names no transformer, or Core Data's own.
///
/// It takes every `Codable` type, and what property lists and JSON have: text, numbers, dates, data, lists, and
/// dictionaries with keys of text. The bytes are JSON with sorted keys, so equal values (but sets) have equal bytes:
/// `{"value": …}` as a type encodes itself, or `{"plain": …}` where no type is known.
struct StandardTransformer {
    /// The type of the property in its class; nil if there is no class, or the type is not `Codable`.
    private let type: (any Codable.Type)?

    init(_ type: Any.Type?) { self.type = type as? any Codable.Type }

    /// Whether a model means this transformer by a name.
    static func isMeant(by name: String) -> Bool { names.contains(name) }

    private static let names: Set<String> = [
        "", "NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformer", "NSKeyedUnarchiveFromData",
        "NSUnarchiveFromData", "NSSecureUnarchiveFromDataTransformerName", "NSKeyedUnarchiveFromDataTransformerName",
        "NSUnarchiveFromDataTransformerName",
    ]

    fileprivate struct Typed<Value: Codable>: Codable {
        var value: Value?
        var plain: PlainValue?
    }

    private struct Unknown<Value: Encodable>: Encodable { let value: Value }

    // MARK: Converting

    /// - Returns: nil for a value that is not of the type, or of no type that can be encoded.
    func data(of value: Any) throws -> Data? {
        if let type {
            if let data = try Self.typedData(of: value, type) { return data }
            // Foundation's classes, such as an `NSArray` for a `[String]`.
            guard let same = PlainValue(value)?.swiftValue else { return nil }
            return try Self.typedData(of: same, type)
        }
        if let plain = PlainValue(value) { return try Self.encoder.encode(Typed<Bool>(plain: plain)) }
        guard let encodable = value as? any Encodable else { return nil }
        return try Self.unknownData(of: encodable)
    }

    /// - Throws: `DecodingError` for bytes of another type.
    func value(of data: Data) throws -> Any? {
        if let type { return try Self.typedValue(of: data, type) }
        if let plain = try Self.decoder.decode(Typed<PlainValue.Skipped>.self, from: data).plain {
            return plain.swiftValue
        }
        let object = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        return object?["value"].flatMap { PlainValue($0)?.swiftValue }
    }

    private static func typedData<Value: Codable>(of value: Any, _ type: Value.Type) throws -> Data? {
        guard let value = value as? Value else { return nil }
        return try encoder.encode(Typed(value: value))
    }

    private static func unknownData<Value: Encodable>(of value: Value) throws -> Data {
        try encoder.encode(Unknown(value: value))
    }

    private static func typedValue<Value: Codable>(of data: Data, _ type: Value.Type) throws -> Value? {
        let found = try decoder.decode(Typed<Value>.self, from: data)
        return found.value ?? found.plain?.swiftValue as? Value
    }

    fileprivate static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return encoder
    }

    fileprivate static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return decoder
    }
}

/// A value as property lists and JSON have them.
package indirect enum PlainValue: Codable, Hashable, Sendable {
    case value(AttributeValue)
    case list([PlainValue])
    case entries([String: PlainValue])

    /// Decodes from anything, and is nothing.
    struct Skipped: Codable {
        init(from decoder: any Decoder) {}
        func encode(to encoder: any Encoder) {}
    }

    /// nil for other values.
    init?(_ value: Any) {
        guard let value = ManagedObject.unwrapped(value) else {
            self = .value(.null)
            return
        }
        switch value {
        case let list as [Any]: self.init(list: list)
        case let list as NSArray: self.init(list: list.map { $0 })
        case let entries as [String: Any]: self.init(entries: entries)
        case let entries as NSDictionary:
            var named: [String: Any] = [:]
            for (key, value) in entries {
                guard let key = key as? String else { return nil }
                named[key] = value
            }
            self.init(entries: named)
        default:
            guard let value = try? AttributeValue(any: value, for: nil) else { return nil }
            self = .value(value)
        }
    }

    private init?(list: [Any]) {
        var values: [PlainValue] = []
        for element in list {
            guard let value = PlainValue(element) else { return nil }
            values.append(value)
        }
        self = .list(values)
    }

    private init?(entries: [String: Any]) {
        var values: [String: PlainValue] = [:]
        for (key, element) in entries {
            guard let value = PlainValue(element) else { return nil }
            values[key] = value
        }
        self = .entries(values)
    }

    /// The value as Swift has it; integers as `Int`, nil in lists and dictionaries as `NSNull`.
    var swiftValue: Any? {
        switch self {
        case .value(.integer(let value)): Int(value)
        case .value(let value): value.plain
        case .list(let list): list.map { $0.swiftValue ?? NSNull() }
        case .entries(let entries): entries.mapValues { $0.swiftValue ?? NSNull() }
        }
    }
}

extension PlainValue {
    /// The bytes of a transformable without a transformer of its own.
    package var storedBytes: Data {
        get throws { try StandardTransformer.encoder.encode(StandardTransformer.Typed<Bool>(plain: self)) }
    }

    /// - Throws: `DecodingError` for bytes of another value.
    package init(storedBytes data: Data) throws {
        let found = try StandardTransformer.decoder.decode(StandardTransformer.Typed<Skipped>.self, from: data)
        self = found.plain ?? .value(.null)
    }
}
