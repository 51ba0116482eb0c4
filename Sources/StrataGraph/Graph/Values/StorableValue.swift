public import Foundation
public import StrataModel

// In this folder: Swift types as values of attributes: storable ones, Codable ones (encoder and decoder), and those
// that a transformer stores.

/// A type whose values are stored in a row as they are: numbers, strings, dates, data and the like.
///
/// Strata has all its conformances. An attribute of another type is stored by its raw value, as a composite, or by a
/// value transformer.
public protocol StorableValue: Codable, Hashable, Sendable {
    /// The type in the model of an attribute of this Swift type.
    static var attributeType: AttributeType { get }
    /// The value as the model has it.
    var attributeValue: AttributeValue { get }
    /// Makes the value; nil for a value of another type, or out of range.
    init?(attributeValue: AttributeValue)
    /// Reads the slot of an attribute; a slot that is nil reads as zero or empty.
    static func _load(_ object: ManagedObject, _ location: _FieldLocation) -> Self
    /// Writes the slot of an attribute in an object's own copy of its row.
    static func _store(_ value: Self, in object: ManagedObject, _ location: _FieldLocation)
}

extension ManagedObject {
    @inlinable final func _isNull(_ location: _FieldLocation) -> Bool {
        _row.isNull(slot: Int(location.slot))
    }

    /// Clears the null bit and sets the changed bit.
    @inlinable final func _didStore(_ location: _FieldLocation) {
        _row.clearNullBit(slot: Int(location.slot))
        if location.slot < 64 { _mask |= 1 << UInt64(location.slot) } else { _markChanged(slot: Int(location.slot)) }
    }

    @inlinable final func _loadScalar<Value: BitwiseCopyable>(_ location: _FieldLocation, as type: Value.Type) -> Value
    {
        _row.loadUnaligned(fromByteOffset: location.start, as: type)
    }

    @inlinable final func _storeScalar<Value: BitwiseCopyable>(_ value: Value, _ location: _FieldLocation) {
        _row.storeBytes(of: value, toByteOffset: location.start, as: Value.self)
    }

    /// The bytes of a variable-width slot; valid until the object changes.
    @inlinable final func _bytes(_ location: _FieldLocation) -> UnsafeRawBufferPointer {
        UnsafeRawPointer(_row).variableBytes(at: location.start)
    }
}

extension StorableValue where Self: FixedWidthInteger & BitwiseCopyable {
    /// Reads the slot of an attribute.
    @inlinable public static func _load(_ object: ManagedObject, _ location: _FieldLocation) -> Self {
        Self(littleEndian: object._loadScalar(location, as: Self.self))
    }

    /// Writes the slot of an attribute.
    @inlinable public static func _store(_ value: Self, in object: ManagedObject, _ location: _FieldLocation) {
        object._storeScalar(value.littleEndian, location)
    }

    /// The value as the model has it.
    public var attributeValue: AttributeValue { .integer(Int64(self)) }

    /// Makes the value; nil for a value of another type, or out of range.
    public init?(attributeValue: AttributeValue) {
        guard case .integer(let value) = attributeValue, let exact = Self(exactly: value) else { return nil }
        self = exact
    }
}

extension Int16: StorableValue {
    /// `integer16`
    public static var attributeType: AttributeType { .integer16 }
}

extension Int32: StorableValue {
    /// `integer32`
    public static var attributeType: AttributeType { .integer32 }
}

extension Int64: StorableValue {
    /// `integer64`
    public static var attributeType: AttributeType { .integer64 }
}

extension Int: StorableValue {
    /// `integer64`
    public static var attributeType: AttributeType { .integer64 }
}

extension Bool: StorableValue {
    /// `boolean`
    public static var attributeType: AttributeType { .boolean }

    /// Reads the slot of an attribute.
    @inlinable public static func _load(_ object: ManagedObject, _ location: _FieldLocation) -> Bool {
        object._loadScalar(location, as: UInt8.self) != 0
    }

    /// Writes the slot of an attribute.
    @inlinable public static func _store(_ value: Bool, in object: ManagedObject, _ location: _FieldLocation) {
        object._storeScalar(UInt8(value ? 1 : 0), location)
    }

    /// The value as the model has it.
    public var attributeValue: AttributeValue { .boolean(self) }

    /// Makes the value; nil for a value of another type, or out of range.
    public init?(attributeValue: AttributeValue) {
        guard case .boolean(let value) = attributeValue else { return nil }
        self = value
    }
}

extension Float: StorableValue {
    /// `float`
    public static var attributeType: AttributeType { .float }

    /// Reads the slot of an attribute.
    @inlinable public static func _load(_ object: ManagedObject, _ location: _FieldLocation) -> Float {
        Float(bitPattern: UInt32(littleEndian: object._loadScalar(location, as: UInt32.self)))
    }

    /// Writes the slot of an attribute.
    @inlinable public static func _store(_ value: Float, in object: ManagedObject, _ location: _FieldLocation) {
        object._storeScalar(value.bitPattern.littleEndian, location)
    }

    /// The value as the model has it.
    public var attributeValue: AttributeValue { .float(self) }

    /// Makes the value; nil for a value of another type, or out of range.
    public init?(attributeValue: AttributeValue) {
        switch attributeValue {
        case .float(let value): self = value
        case .double(let value): self = Float(value)
        case .integer(let value): self = Float(value)
        default: return nil
        }
    }
}

extension Double: StorableValue {
    /// `double`
    public static var attributeType: AttributeType { .double }

    /// Reads the slot of an attribute.
    @inlinable public static func _load(_ object: ManagedObject, _ location: _FieldLocation) -> Double {
        Double(bitPattern: UInt64(littleEndian: object._loadScalar(location, as: UInt64.self)))
    }

    /// Writes the slot of an attribute.
    @inlinable public static func _store(_ value: Double, in object: ManagedObject, _ location: _FieldLocation) {
        object._storeScalar(value.bitPattern.littleEndian, location)
    }

    /// The value as the model has it.
    public var attributeValue: AttributeValue { .double(self) }

    /// Makes the value; nil for a value of another type, or out of range.
    public init?(attributeValue: AttributeValue) {
        switch attributeValue {
        case .double(let value): self = value
        case .float(let value): self = Double(value)
        case .integer(let value): self = Double(value)
        default: return nil
        }
    }
}

extension Date: StorableValue {
    /// `date`
    public static var attributeType: AttributeType { .date }

    /// Reads the slot of an attribute.
    @inlinable public static func _load(_ object: ManagedObject, _ location: _FieldLocation) -> Date {
        Date(timeIntervalSinceReferenceDate: Double._load(object, location))
    }

    /// Writes the slot of an attribute.
    @inlinable public static func _store(_ value: Date, in object: ManagedObject, _ location: _FieldLocation) {
        Double._store(value.timeIntervalSinceReferenceDate, in: object, location)
    }

    /// The value as the model has it.
    public var attributeValue: AttributeValue { .date(self) }

    /// Makes the value; nil for a value of another type, or out of range.
    public init?(attributeValue: AttributeValue) {
        guard case .date(let value) = attributeValue else { return nil }
        self = value
    }
}

extension UUID: StorableValue {
    /// `uuid`
    public static var attributeType: AttributeType { .uuid }

    /// Reads the slot of an attribute.
    @inlinable public static func _load(_ object: ManagedObject, _ location: _FieldLocation) -> UUID {
        UUID(uuid: object._loadScalar(location, as: uuid_t.self))
    }

    /// Writes the slot of an attribute.
    @inlinable public static func _store(_ value: UUID, in object: ManagedObject, _ location: _FieldLocation) {
        object._storeScalar(value.uuid, location)
    }

    /// The value as the model has it.
    public var attributeValue: AttributeValue { .uuid(self) }

    /// Makes the value; nil for a value of another type, or out of range.
    public init?(attributeValue: AttributeValue) {
        guard case .uuid(let value) = attributeValue else { return nil }
        self = value
    }
}

extension ObjectID: StorableValue {
    /// `objectID`
    public static var attributeType: AttributeType { .objectID }

    /// Reads the slot of an attribute.
    @inlinable public static func _load(_ object: ManagedObject, _ location: _FieldLocation) -> ObjectID {
        ObjectID(rawValue: UInt64(littleEndian: object._loadScalar(location, as: UInt64.self)))
    }

    /// Writes the slot of an attribute.
    @inlinable public static func _store(_ value: ObjectID, in object: ManagedObject, _ location: _FieldLocation) {
        object._storeScalar(value.rawValue.littleEndian, location)
    }

    /// The value as the model has it.
    public var attributeValue: AttributeValue { .objectID(self) }

    /// Makes the value; nil for a value of another type, or out of range.
    public init?(attributeValue: AttributeValue) {
        guard case .objectID(let value) = attributeValue else { return nil }
        self = value
    }
}
