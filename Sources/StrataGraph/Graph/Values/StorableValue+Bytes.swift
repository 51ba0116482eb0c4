public import Foundation
public import StrataModel

extension String: StorableValue {
    /// `string`
    public static var attributeType: AttributeType { .string }

    /// Reads the slot of an attribute.
    @inlinable public static func _load(_ object: ManagedObject, _ location: _FieldLocation) -> String {
        let bytes = object._bytes(location)
        if let short = String(_shortASCII: bytes) { return short }
        return bytes.count < LongText.fewestBytes ? String(decoding: bytes, as: UTF8.self) : object._longText(bytes)
    }

    /// Writes the slot of an attribute.
    @inlinable public static func _store(_ value: String, in object: ManagedObject, _ location: _FieldLocation) {
        var value = value
        value.withUTF8 { object._storeBytes(UnsafeRawBufferPointer($0), location) }
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
    public static func _load(_ object: ManagedObject, _ location: _FieldLocation) -> URL {
        let text = String._load(object, location)
        return URL(string: text) ?? URL(filePath: text)
    }

    /// Writes the slot of an attribute.
    public static func _store(_ value: URL, in object: ManagedObject, _ location: _FieldLocation) {
        String._store(value.absoluteString, in: object, location)
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
    public static func _load(_ object: ManagedObject, _ location: _FieldLocation) -> Data {
        if location.flags & _FieldLocation.externalStorage != 0 { return object.externalData(at: location) }
        return Data(object._bytes(location))
    }

    /// Writes the slot of an attribute.
    public static func _store(_ value: Data, in object: ManagedObject, _ location: _FieldLocation) {
        if location.flags & _FieldLocation.externalStorage != 0 {
            object.storeExternalData(value, at: location)
        } else {
            value.withUnsafeBytes { object._storeBytes($0, location) }
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
    public static func _load(_ object: ManagedObject, _ location: _FieldLocation) -> Decimal {
        DecimalStorage.load(UnsafeRawPointer(object._row + location.start))
    }

    /// Writes the slot of an attribute.
    public static func _store(_ value: Decimal, in object: ManagedObject, _ location: _FieldLocation) {
        DecimalStorage.store(value, to: object._row + location.start)
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
