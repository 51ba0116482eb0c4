public import Foundation

/// The value of an attribute or a to-one relationship, or nil.
///
/// The case follows the attribute's type.
public enum AttributeValue: Sendable, Hashable {
    /// No value.
    case null
    case boolean(Bool)
    /// An integer of any width.
    case integer(Int64)
    case float(Float)
    case double(Double)
    case decimal(Decimal)
    case string(String)
    case date(Date)
    case uuid(UUID)
    case url(URL)
    /// Binary data, or the bytes that a value transformer made.
    case data(Data)
    /// A large binary value in a file beside the store, which is read only on request.
    case blob(BlobReference)
    /// An object, by its id.
    case objectID(ObjectID)
    /// The elements of a composite by name.
    case composite([String: AttributeValue])

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
