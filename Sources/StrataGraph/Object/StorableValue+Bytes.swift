public import Foundation
public import StrataModel

extension String: StorableValue {
    public static var attributeType: AttributeType { .string }

    @inlinable public static func _load(_ object: ManagedObject, _ place: FieldPlace) -> String {
        let bytes = object._bytes(place)
        // Short ASCII stands in the String itself, which this makes without a call.
        if bytes.count <= 15 { return String(unsafeUninitializedCapacity: bytes.count) { bytes._copyShort(to: $0) } }
        return String(decoding: bytes, as: UTF8.self)
    }

    @inlinable public static func _store(_ value: String, in object: ManagedObject, _ place: FieldPlace) {
        var value = value
        value.withUTF8 { object._storeBytes(UnsafeRawBufferPointer($0), place) }
    }

    public var attributeValue: AttributeValue { .string(self) }

    public init?(attributeValue: AttributeValue) {
        guard case .string(let value) = attributeValue else { return nil }
        self = value
    }
}

extension URL: StorableValue {
    public static var attributeType: AttributeType { .uri }

    /// A URL cannot be empty: a slot that does not hold one reads as `about:blank`.
    public static func _load(_ object: ManagedObject, _ place: FieldPlace) -> URL {
        let text = String._load(object, place)
        return URL(string: text) ?? URL(filePath: text)
    }

    public static func _store(_ value: URL, in object: ManagedObject, _ place: FieldPlace) {
        String._store(value.absoluteString, in: object, place)
    }

    public var attributeValue: AttributeValue { .url(self) }

    public init?(attributeValue: AttributeValue) {
        switch attributeValue {
        case .url(let value): self = value
        default: return nil
        }
    }
}

extension Data: StorableValue {
    public static var attributeType: AttributeType { .binaryData }

    public static func _load(_ object: ManagedObject, _ place: FieldPlace) -> Data {
        if place.flags & FieldPlace.externalStorage != 0 { return object.externalData(at: place) }
        return Data(object._bytes(place))
    }

    public static func _store(_ value: Data, in object: ManagedObject, _ place: FieldPlace) {
        if place.flags & FieldPlace.externalStorage != 0 {
            object.storeExternalData(value, at: place)
        } else {
            value.withUnsafeBytes { object._storeBytes($0, place) }
        }
    }

    public var attributeValue: AttributeValue { .data(self) }

    public init?(attributeValue: AttributeValue) {
        guard case .data(let value) = attributeValue else { return nil }
        self = value
    }
}

extension Decimal: StorableValue {
    public static var attributeType: AttributeType { .decimal }

    public static func _load(_ object: ManagedObject, _ place: FieldPlace) -> Decimal {
        DecimalStorage.load(UnsafeRawPointer(object._row + place.start))
    }

    public static func _store(_ value: Decimal, in object: ManagedObject, _ place: FieldPlace) {
        DecimalStorage.store(value, to: object._row + place.start)
    }

    public var attributeValue: AttributeValue { .decimal(self) }

    public init?(attributeValue: AttributeValue) {
        switch attributeValue {
        case .decimal(let value): self = value
        case .integer(let value): self = Decimal(value)
        default: return nil
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Copies at most 16 bytes, a word at a time, and returns how many.
    @inlinable func _copyShort(to room: UnsafeMutableBufferPointer<UInt8>) -> Int {
        guard let source = baseAddress, let target = UnsafeMutableRawBufferPointer(room).baseAddress else { return 0 }
        if count >= 8 {
            let last = source.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
            target.storeBytes(of: source.loadUnaligned(as: UInt64.self), as: UInt64.self)
            target.storeBytes(of: last, toByteOffset: count &- 8, as: UInt64.self)
        } else if count >= 4 {
            let last = source.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
            target.storeBytes(of: source.loadUnaligned(as: UInt32.self), as: UInt32.self)
            target.storeBytes(of: last, toByteOffset: count &- 4, as: UInt32.self)
        } else {
            for place in 0..<count {
                target.storeBytes(
                    of: source.load(fromByteOffset: place, as: UInt8.self), toByteOffset: place, as: UInt8.self)
            }
        }
        return count
    }
}
