public import Foundation

/// The value of an attribute or a to-one relationship, or nil.
///
/// The case follows the attribute's type.
public enum AttributeValue: Sendable, Hashable {
    /// No value.
    case null
    /// A truth value.
    case boolean(Bool)
    /// An integer of any width.
    case integer(Int64)
    /// A 32-bit floating-point number.
    case float(Float)
    /// A 64-bit floating-point number.
    case double(Double)
    /// A decimal number of up to 38 digits.
    case decimal(Decimal)
    /// Text.
    case string(String)
    /// A point in time.
    case date(Date)
    /// A UUID.
    case uuid(UUID)
    /// A URL.
    case url(URL)
    /// Binary data, or the bytes that a value transformer made.
    case data(Data)
    /// A large binary value in a file beside the store, which is read only on request.
    case blob(BlobReference)
    /// An object, by its id.
    case objectID(ObjectID)
    /// The elements of a composite by name.
    case composite([String: AttributeValue])
    /// A value that is encrypted, as it is stored. Objects and results show it where its key is not known.
    case encrypted(EncryptedValue)

    /// Whether this is `null`.
    public var isNull: Bool { self == .null }
}

/// Identifies a large binary value by its content.
public struct BlobReference: Sendable, Hashable, Codable {
    /// The SHA-256 of the bytes: 32 bytes.
    public let digest: Data
    /// The number of bytes.
    public let sizeInBytes: UInt64

    /// A reference to the value with this digest and size.
    public init(digest: Data, sizeInBytes: UInt64) {
        self.digest = digest
        self.sizeInBytes = sizeInBytes
    }
}
