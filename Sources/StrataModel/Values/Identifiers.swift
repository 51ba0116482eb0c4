// The numbers by which a store and its log refer to entities, properties, indexes, model versions, events, transactions
// and objects. Each is a type of its own, so that the compiler tells them apart.

/// The number of an entity in one store, assigned when the entity's model was installed and never changed. 0 and 0xFFFF
/// are never assigned.
public struct EntityID: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt16

    /// The identifier with this number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Whether the left number is smaller.
    public static func < (left: EntityID, right: EntityID) -> Bool { left.rawValue < right.rawValue }

    /// The number as text.
    public var description: String { String(rawValue) }
}

/// The number of a property in one store, assigned when the property's model was installed and never changed. It is
/// unique across entities.
public struct PropertyID: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt32

    /// The identifier with this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Whether the left number is smaller.
    public static func < (left: PropertyID, right: PropertyID) -> Bool { left.rawValue < right.rawValue }

    /// The number as text.
    public var description: String { String(rawValue) }

    /// The number under which the store keeps the links of this relationship backwards if the model has no inverse.
    package var hiddenInverse: PropertyID { PropertyID(rawValue: rawValue | 0x8000_0000) }
    /// Whether this number is that of a hidden inverse.
    package var isHiddenInverse: Bool { rawValue & 0x8000_0000 != 0 }
    /// The number whose hidden inverse this is; the number itself if it is none.
    package var withoutHiding: PropertyID { PropertyID(rawValue: rawValue & 0x7FFF_FFFF) }
}

/// The number of an index in one store, assigned when the index's model was installed and never changed.
public struct IndexID: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt32

    /// The identifier with this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Whether the left number is smaller.
    public static func < (left: IndexID, right: IndexID) -> Bool { left.rawValue < right.rawValue }

    /// The number as text.
    public var description: String { String(rawValue) }
}

/// The number of a declared view in one store. A view with another definition has another number.
public struct ViewID: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt32

    /// The identifier with this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Whether the left number is smaller.
    public static func < (left: ViewID, right: ViewID) -> Bool { left.rawValue < right.rawValue }

    /// The number as text.
    public var description: String { String(rawValue) }
}

/// The number of a model in one store: the first one installed is 1.
public struct ModelVersion: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt32

    /// The identifier with this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Whether the left number is smaller.
    public static func < (left: ModelVersion, right: ModelVersion) -> Bool { left.rawValue < right.rawValue }

    /// The number as text.
    public var description: String { String(rawValue) }
}

/// The number of an event in the log. Events are numbered from 1 without gaps; 0 is the state before the first event.
public struct EventNumber: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt64

    /// The identifier with this number.
    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The state before the first event.
    public static let zero = EventNumber(rawValue: 0)

    /// Whether the left number is smaller.
    @inlinable public static func < (left: EventNumber, right: EventNumber) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The number as text.
    public var description: String { String(rawValue) }

    /// The number `count` events later.
    package func advanced(by count: Int) -> EventNumber { EventNumber(rawValue: rawValue + UInt64(count)) }
}

/// The number of a transaction in the log, from 1 without gaps. Each save is one transaction.
public struct TransactionNumber: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt64

    /// The identifier with this number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The state before the first transaction.
    public static let zero = TransactionNumber(rawValue: 0)

    /// Whether the left number is smaller.
    public static func < (left: TransactionNumber, right: TransactionNumber) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The number as text.
    public var description: String { String(rawValue) }
}

/// Identifies one object of one store for ever: the entity's number in the high 16 bits, the row's number in the low
/// 48.
///
/// An object has its final id from the moment it is created; there are no temporary ids. The value 0 means nil.
/// `Codable` writes a string, because JSON numbers are exact only up to 2^53.
public struct ObjectID: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number.
    public let rawValue: UInt64

    /// The identifier with this number.
    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The largest row number.
    package static let maximumRow: UInt64 = (1 << 48) - 1
    /// Set in the numbers of rows that exist only in memory, in a read-only container.
    package static let localRowBit: UInt64 = 1 << 47

    /// The id of a row of an entity.
    @inlinable package init(entity: EntityID, row: UInt64) {
        rawValue = UInt64(entity.rawValue) << 48 | (row & 0xFFFF_FFFF_FFFF)
    }

    /// The entity's number in the store.
    @inlinable public var entityID: EntityID { EntityID(rawValue: UInt16(truncatingIfNeeded: rawValue >> 48)) }
    /// The row's number, unique in the store across entities.
    @inlinable public var row: UInt64 { rawValue & 0xFFFF_FFFF_FFFF }
    /// Whether this is the id 0, which refers to no object.
    @inlinable package var isNil: Bool { rawValue == 0 }

    /// Whether the left number is smaller.
    @inlinable public static func < (left: ObjectID, right: ObjectID) -> Bool { left.rawValue < right.rawValue }
}

extension ObjectID: CustomStringConvertible {
    /// The number of the entity and of the row, such as `3/p12`.
    public var description: String { named("\(entityID)") }

    /// The name of the object in every message: `Movie/p12`.
    package func named(_ entityName: String) -> String { "\(entityName)/p\(row)" }
}

extension ObjectID: Codable {
    /// Reads the number as text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = UInt64(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "Not an object id: \(text).")
        }
        self.init(rawValue: value)
    }

    /// Writes the number as text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(String(rawValue))
    }
}
