import Foundation
import StrataModel

/// Decodes what `AttributeValueEncoder` encoded.
enum AttributeValueDecoder {
    /// - Throws: what the type's `init(from:)` throws when the value is of another shape.
    static func decode<T: Decodable>(_ type: T.Type, from value: AttributeValue) throws -> T {
        if case .composite(let parts) = value, parts.count == 1, let single = parts[""] {
            return try DecodingNode(value: single, codingPath: []).decode(any: type)
        }
        return try DecodingNode(value: value, codingPath: []).decode(any: type)
    }
}

private struct DecodingNode: Decoder, SingleValueDecodingContainer {
    let value: AttributeValue
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .composite(let parts) = value else { throw mismatch([String: AttributeValue].self) }
        return KeyedDecodingContainer(KeyedDecoding<Key>(parts: parts, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .composite(let parts) = value, case .integer(let count)? = parts["#"],
            count >= 0, count <= parts.count
        else { throw mismatch([AttributeValue].self) }
        return UnkeyedDecoding(parts: parts, codingPath: codingPath, count: Int(count))
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func mismatch(_ type: Any.Type) -> DecodingError {
        .typeMismatch(type, .init(codingPath: codingPath, debugDescription: "the stored value is of another kind"))
    }

    func decode<T: Decodable>(any type: T.Type) throws -> T {
        if let storable = type as? any StorableValue.Type {
            guard let decoded = storable.init(attributeValue: value) as? T else { throw mismatch(type) }
            return decoded
        }
        return try T(from: self)
    }

    func decodeNil() -> Bool { value.isNull }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        if let integer = type as? any FixedWidthInteger.Type, !(type is any StorableValue.Type) {
            guard case .integer(let number) = value, let decoded = integer.init(exactly: number) as? T else {
                throw mismatch(type)
            }
            return decoded
        }
        return try decode(any: type)
    }
}

private struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let parts: [String: AttributeValue]
    let codingPath: [any CodingKey]
    var allKeys: [Key] { parts.keys.compactMap(Key.init(stringValue:)) }

    private func node(_ key: any CodingKey) throws -> DecodingNode {
        guard let value = parts[key.stringValue] else {
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "no such element"))
        }
        return DecodingNode(value: value, codingPath: codingPath + [key])
    }

    func contains(_ key: Key) -> Bool { parts[key.stringValue] != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try node(key).decodeNil() }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try node(key).decode(type) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try node(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try node(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        DecodingNode(value: parts["super"] ?? .null, codingPath: codingPath)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try node(key) }
}

private struct UnkeyedDecoding: UnkeyedDecodingContainer {
    let parts: [String: AttributeValue]
    let codingPath: [any CodingKey]
    let count: Int?
    var currentIndex = 0

    var isAtEnd: Bool { currentIndex >= count ?? 0 }

    private mutating func next() throws -> DecodingNode {
        guard !isAtEnd, let value = parts[String(currentIndex)] else {
            throw DecodingError.valueNotFound(
                AttributeValue.self, .init(codingPath: codingPath, debugDescription: "no more elements"))
        }
        currentIndex += 1
        return DecodingNode(value: value, codingPath: codingPath)
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, parts[String(currentIndex)]?.isNull ?? false else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next().decode(type) }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { try next().container(keyedBy: type) }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { try next() }
}
