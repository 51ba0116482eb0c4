/// The stable number a store gave an entity when the entity's model was installed; 0 and 0xFFFF are never given.
public struct EntityID: RawRepresentable, Hashable, Comparable, Sendable, Codable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static func < (left: EntityID, right: EntityID) -> Bool { left.rawValue < right.rawValue }
}

/// The stable number a store gave a property when the property's model was installed; unique across entities.
public struct PropertyID: RawRepresentable, Hashable, Comparable, Sendable, Codable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static func < (left: PropertyID, right: PropertyID) -> Bool { left.rawValue < right.rawValue }

    /// The number under which links are kept backwards when the model names no inverse.
    package var hiddenInverse: PropertyID { PropertyID(rawValue: rawValue | 0x8000_0000) }
    package var isHiddenInverse: Bool { rawValue & 0x8000_0000 != 0 }
}

/// The stable number a store gave an index when the index's model was installed.
public struct IndexID: RawRepresentable, Hashable, Comparable, Sendable, Codable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static func < (left: IndexID, right: IndexID) -> Bool { left.rawValue < right.rawValue }
}

/// Counts the models installed in one store, from 1.
public struct ModelVersion: RawRepresentable, Hashable, Comparable, Sendable, Codable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static func < (left: ModelVersion, right: ModelVersion) -> Bool { left.rawValue < right.rawValue }
}

/// A place in the log: events are numbered from 1 without gaps; 0 stands before the first event.
public struct EventNumber: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    public let rawValue: UInt64

    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The moment before the first event.
    public static let zero = EventNumber(rawValue: 0)

    @inlinable public static func < (left: EventNumber, right: EventNumber) -> Bool {
        left.rawValue < right.rawValue
    }

    public var description: String { String(rawValue) }

    package func advanced(by count: Int) -> EventNumber { EventNumber(rawValue: rawValue + UInt64(count)) }
}

/// The number of a transaction in its store, from 1 without gaps; one save is one transaction.
public struct TransactionNumber: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    public static let zero = TransactionNumber(rawValue: 0)

    public static func < (left: TransactionNumber, right: TransactionNumber) -> Bool {
        left.rawValue < right.rawValue
    }

    public var description: String { String(rawValue) }
}

/// Names one object of one store for ever: the entity in the high 16 bits, the row in the low 48.
///
/// It is final from the moment an object is made; there are no temporary ids. The value 0 means nil.
/// The written form (`Codable`, `description`) is a string, because JSON numbers end at 2^53.
public struct ObjectID: RawRepresentable, Hashable, Comparable, Sendable {
    public let rawValue: UInt64

    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The largest row number; bit 47 is set in rows that are local to a read-only container.
    package static let maximumRow: UInt64 = (1 << 48) - 1
    package static let localRowBit: UInt64 = 1 << 47

    @inlinable package init(entity: EntityID, row: UInt64) {
        rawValue = UInt64(entity.rawValue) << 48 | (row & 0xFFFF_FFFF_FFFF)
    }

    /// The entity's number in the store.
    @inlinable public var entityID: EntityID { EntityID(rawValue: UInt16(truncatingIfNeeded: rawValue >> 48)) }
    /// The row's number, unique in the store whatever the entity.
    @inlinable public var row: UInt64 { rawValue & 0xFFFF_FFFF_FFFF }
    @inlinable package var isNil: Bool { rawValue == 0 }

    @inlinable public static func < (left: ObjectID, right: ObjectID) -> Bool { left.rawValue < right.rawValue }
}

extension ObjectID: CustomStringConvertible {
    public var description: String { "\(entityID.rawValue)/p\(row)" }
}

extension ObjectID: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = UInt64(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an object id: \(text)")
        }
        self.init(rawValue: value)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(String(rawValue))
    }
}
