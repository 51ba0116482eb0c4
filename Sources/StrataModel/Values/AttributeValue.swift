public import Foundation

/// One stored value, or nil.
///
/// The case follows the attribute's type: all integers are `integer`, a transformable is the `data` its transformer
/// made. A `blob` stands for a large binary value kept beside the store; it is read only when asked for.
public enum AttributeValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case float(Float)
    case double(Double)
    case decimal(Decimal)
    case string(String)
    case date(Date)
    case uuid(UUID)
    case url(URL)
    case data(Data)
    case blob(BlobReference)
    case objectID(ObjectID)
    case composite([String: AttributeValue])

    /// Whether this is nil.
    public var isNull: Bool { self == .null }
}

/// The name of a large binary value: SHA-256 of its bytes, and their number.
public struct BlobReference: Sendable, Hashable, Codable {
    /// Thirty-two bytes.
    public let digest: Data
    public let sizeInBytes: UInt64

    public init(digest: Data, sizeInBytes: UInt64) {
        self.digest = digest
        self.sizeInBytes = sizeInBytes
    }
}
