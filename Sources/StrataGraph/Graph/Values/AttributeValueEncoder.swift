import Foundation
import StrataModel

// Codable values as composites, so that the command line and predicates see into them: a keyed container is a
// composite with its keys, an unkeyed one a composite with the keys "0", "1", and so on plus "#" with the count, a
// storable value stands as itself. A value that is no container stands in a composite under the empty key. The elements
// of sets, and of dictionaries whose keys are no texts or integers, are in the order of their bytes, so that equal values
// are equal composites.

/// Encodes a Codable value as a composite.
enum AttributeValueEncoder {
    /// - Throws: what the value's `encode(to:)` throws.
    static func encode(_ value: some Encodable) throws -> AttributeValue {
        let box = EncodingBox()
        try EncodingNode(box: box, codingPath: []).encode(any: value)
        let result = box.value
        if case .composite = result { return result }
        return .composite(["": result])
    }
}

/// The value that is being encoded; containers write through when they change.
private final class EncodingBox {
    enum Content {
        case none
        case single(AttributeValue)
        case keyed([(String, EncodingBox)])
        case unkeyed([EncodingBox])
    }
    var content = Content.none

    var value: AttributeValue {
        switch content {
        case .none: .composite([:])
        case .single(let value): value
        case .keyed(let parts): .composite(Dictionary(parts.map { ($0, $1.value) }, uniquingKeysWith: { $1 }))
        case .unkeyed(let parts):
            .composite(
                Dictionary(
                    parts.enumerated().map { (String($0), $1.value) } + [("#", .integer(Int64(parts.count)))],
                    uniquingKeysWith: { $1 }))
        }
    }

    func child(_ key: String) -> EncodingBox {
        let box = EncodingBox()
        if case .keyed(let parts) = content {
            content = .none
            content = .keyed(parts + [(key, box)])
        } else {
            content = .keyed([(key, box)])
        }
        return box
    }

    func appended() -> EncodingBox {
        let box = EncodingBox()
        if case .unkeyed(var parts) = content {
            content = .none
            parts.append(box)
            content = .unkeyed(parts)
        } else {
            content = .unkeyed([box])
        }
        return box
    }

    var count: Int { if case .unkeyed(let parts) = content { parts.count } else { 0 } }
}

private struct EncodingNode: Encoder, SingleValueEncodingContainer {
    let box: EncodingBox
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .keyed = box.content {} else { box.content = .keyed([]) }
        return KeyedEncodingContainer(KeyedEncoding<Key>(box: box, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .unkeyed = box.content {} else { box.content = .unkeyed([]) }
        return UnkeyedEncoding(box: box, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encode(any value: some Encodable) throws {
        if let storable = value as? any StorableValue {
            box.content = .single(storable.attributeValue)
        } else if let parts = try (value as? any UnorderedCollection)?.partsInOrder() {
            for part in parts { box.appended().content = .single(part) }
            if parts.isEmpty { box.content = .unkeyed([]) }
        } else {
            try value.encode(to: self)
        }
    }

    func encodeNil() throws { box.content = .single(.null) }
    func encode<T: Encodable>(_ value: T) throws {
        switch value {
        // Integers of other widths are tried last by the single-value container.
        case let value as UInt64: box.content = .single(try Self.integer(value, codingPath))
        case let value as UInt: box.content = .single(try Self.integer(UInt64(value), codingPath))
        case let value as any FixedWidthInteger: box.content = .single(.integer(Int64(value)))
        default: try encode(any: value)
        }
    }

    private static func integer(_ value: UInt64, _ path: [any CodingKey]) throws -> AttributeValue {
        guard let exact = Int64(exactly: value) else {
            throw EncodingError.invalidValue(value, .init(codingPath: path, debugDescription: "larger than Int64"))
        }
        return .integer(exact)
    }
}

private struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let box: EncodingBox
    let codingPath: [any CodingKey]

    private func node(_ key: any CodingKey) -> EncodingNode {
        EncodingNode(box: box.child(key.stringValue), codingPath: codingPath + [key])
    }

    func encodeNil(forKey key: Key) throws { try node(key).encodeNil() }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try node(key).encode(value) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { node(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { node(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { EncodingNode(box: box.child("super"), codingPath: codingPath) }
    func superEncoder(forKey key: Key) -> any Encoder { node(key) }
}

private struct UnkeyedEncoding: UnkeyedEncodingContainer {
    let box: EncodingBox
    let codingPath: [any CodingKey]
    var count: Int { box.count }

    private func node() -> EncodingNode { EncodingNode(box: box.appended(), codingPath: codingPath) }

    func encodeNil() throws { try node().encodeNil() }
    func encode<T: Encodable>(_ value: T) throws { try node().encode(value) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        node().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { node().unkeyedContainer() }
    func superEncoder() -> any Encoder { node() }
}

/// A collection whose elements have no order of their own.
private protocol UnorderedCollection {
    /// The encoded values, in an order that does not depend on how the object was made; nil if its own encoding has
    /// one.
    func partsInOrder() throws -> [AttributeValue]?
}

extension Set: UnorderedCollection where Element: Encodable {
    fileprivate func partsInOrder() throws -> [AttributeValue]? {
        try map { try EncodedPart($0) }.sorted().map(\.value)
    }
}

extension Dictionary: UnorderedCollection where Key: Encodable, Value: Encodable {
    fileprivate func partsInOrder() throws -> [AttributeValue]? {
        // Such keys are names of a keyed container.
        if Key.self == String.self || Key.self == Int.self || Key.self is any CodingKeyRepresentable.Type { return nil }
        let parts = try map { (key: try EncodedPart($0.key), value: try EncodedPart($0.value)) }
        return parts.sorted { $0.key < $1.key }.flatMap { [$0.key.value, $0.value.value] }
    }
}

/// An element with the bytes by which it is ordered.
private struct EncodedPart: Comparable {
    let value: AttributeValue
    private let bytes: [UInt8]

    init(_ element: some Encodable) throws {
        let box = EncodingBox()
        try EncodingNode(box: box, codingPath: []).encode(element)
        value = box.value
        var writer = ByteWriter()
        try ValueCodec.encode(value, into: &writer)
        bytes = Array(writer.bytes)
    }

    static func < (left: EncodedPart, right: EncodedPart) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    static func == (left: EncodedPart, right: EncodedPart) -> Bool { left.bytes == right.bytes }
}
