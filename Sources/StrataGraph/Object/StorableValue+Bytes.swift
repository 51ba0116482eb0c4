public import Foundation
public import StrataModel

extension String: StorableValue {
    public static var attributeType: AttributeType { .string }

    @inlinable public static func _load(_ object: ManagedObject, _ place: _FieldLocation) -> String {
        let bytes = object._bytes(place)
        if let short = String(_shortASCII: bytes) { return short }
        return bytes.count < LongText.fewestBytes ? String(decoding: bytes, as: UTF8.self) : object._longText(bytes)
    }

    @inlinable public static func _store(_ value: String, in object: ManagedObject, _ place: _FieldLocation) {
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
    public static func _load(_ object: ManagedObject, _ place: _FieldLocation) -> URL {
        let text = String._load(object, place)
        return URL(string: text) ?? URL(filePath: text)
    }

    public static func _store(_ value: URL, in object: ManagedObject, _ place: _FieldLocation) {
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

    public static func _load(_ object: ManagedObject, _ place: _FieldLocation) -> Data {
        if place.flags & _FieldLocation.externalStorage != 0 { return object.externalData(at: place) }
        return Data(object._bytes(place))
    }

    public static func _store(_ value: Data, in object: ManagedObject, _ place: _FieldLocation) {
        if place.flags & _FieldLocation.externalStorage != 0 {
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

    public static func _load(_ object: ManagedObject, _ place: _FieldLocation) -> Decimal {
        DecimalStorage.load(UnsafeRawPointer(object._row + place.start))
    }

    public static func _store(_ value: Decimal, in object: ManagedObject, _ place: _FieldLocation) {
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
