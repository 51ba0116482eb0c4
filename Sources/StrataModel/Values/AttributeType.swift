/// The type of an attribute's values. Raw values are Core Data's codes.
public enum AttributeType: UInt16, Sendable, Hashable, Codable, CaseIterable {
    /// Any value. Only transient attributes may have this type.
    case undefined = 0
    /// A signed integer of 16 bits.
    case integer16 = 100
    /// A signed integer of 32 bits.
    case integer32 = 200
    /// A signed integer of 64 bits.
    case integer64 = 300
    /// A Foundation `Decimal`.
    case decimal = 400
    /// A `Double`.
    case double = 500
    /// A `Float`.
    case float = 600
    /// A `String`.
    case string = 700
    /// A `Bool`.
    case boolean = 800
    /// A Foundation `Date`.
    case date = 900
    /// Foundation `Data`, in the row or in a file beside the store.
    case binaryData = 1000
    /// A Foundation `UUID`.
    case uuid = 1100
    /// A Foundation `URL`.
    case uri = 1200
    /// Any value, stored as the bytes that the attribute's value transformer makes of it.
    case transformable = 1800
    /// The id of an object in the same store.
    case objectID = 2000
    /// Named elements, each with its own type.
    case composite = 2100
}
