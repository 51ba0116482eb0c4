public import Foundation
public import StrataModel

extension String: StorableValue {
    /// `string`
    public static var attributeType: AttributeType { .string }

    /// Reads the slot of an attribute.
    @inlinable public static func _load(_ object: ManagedObject, _ place: _FieldLocation) -> String {
        let bytes = object._bytes(place)
        if let short = String(_shortASCII: bytes) { return short }
        return bytes.count < LongText.fewestBytes ? String(decoding: bytes, as: UTF8.self) : object._longText(bytes)
    }

    /// Writes the slot of an attribute.
    @inlinable public static func _store(_ value: String, in object: ManagedObject, _ place: _FieldLocation) {
        var value = value
        value.withUTF8 { object._storeBytes(UnsafeRawBufferPointer($0), place) }
    }

    /// The value as the model has it.
    public var attributeValue: AttributeValue { .string(self) }

    /// Makes the value; nil for a value of another type, or out of range.
    public init?(attributeValue: AttributeValue) {
        guard case .string(let value) = attributeValue else { return nil }
        self = value
    }
}

extension URL: StorableValue {
    /// `uri`
    public static var attributeType: AttributeType { .uri }

    /// Reads the slot of an attribute. Text that is not a URL is read as a file path.
    public static func _load(_ object: ManagedObject, _ place: _FieldLocation) -> URL {
        let text = String._load(object, place)
        return URL(string: text) ?? URL(filePath: text)
    }

    /// Writes the slot of an attribute.
    public static func _store(_ value: URL, in object: ManagedObject, _ place: _FieldLocation) {
        String._store(value.absoluteString, in: object, place)
    }

    /// The value as the model has it.
    public var attributeValue: AttributeValue { .url(self) }

    /// Makes the value; nil for a value of another type, or out of range.
    public init?(attributeValue: AttributeValue) {
        switch attributeValue {
        case .url(let value): self = value
        default: return nil
        }
    }
}

extension Data: StorableValue {
    /// `binaryData`
    public static var attributeType: AttributeType { .binaryData }

    /// Reads the slot of an attribute.
    public static func _load(_ object: ManagedObject, _ place: _FieldLocation) -> Data {
        if place.flags & _FieldLocation.externalStorage != 0 { return object.externalData(at: place) }
        return Data(object._bytes(place))
    }

    /// Writes the slot of an attribute.
    public static func _store(_ value: Data, in object: ManagedObject, _ place: _FieldLocation) {
        if place.flags & _FieldLocation.externalStorage != 0 {
            object.storeExternalData(value, at: place)
        } else {
            value.withUnsafeBytes { object._storeBytes($0, place) }
        }
    }

    /// The value as the model has it.
    public var attributeValue: AttributeValue { .data(self) }

    /// Makes the value; nil for a value of another type, or out of range.
    public init?(attributeValue: AttributeValue) {
        guard case .data(let value) = attributeValue else { return nil }
        self = value
    }
}

extension Decimal: StorableValue {
    /// `decimal`
    public static var attributeType: AttributeType { .decimal }

    /// Reads the slot of an attribute.
    public static func _load(_ object: ManagedObject, _ place: _FieldLocation) -> Decimal {
        DecimalStorage.load(UnsafeRawPointer(object._row + place.start))
    }

    /// Writes the slot of an attribute.
    public static func _store(_ value: Decimal, in object: ManagedObject, _ place: _FieldLocation) {
        DecimalStorage.store(value, to: object._row + place.start)
    }

    /// The value as the model has it.
    public var attributeValue: AttributeValue { .decimal(self) }

    /// Makes the value; nil for a value of another type, or out of range.
    public init?(attributeValue: AttributeValue) {
        switch attributeValue {
        case .decimal(let value): self = value
        case .integer(let value): self = Decimal(value)
        default: return nil
        }
    }
}
