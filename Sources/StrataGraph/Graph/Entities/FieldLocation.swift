/// The place of an attribute or to-one of an entity in the rows of its objects; used by generated accessors.
@frozen public struct _FieldLocation {
    /// Bytes from the start of the row.
    @usableFromInline let offset: UInt32
    /// The slot, which is also the number of its null bit and its changed bit.
    @usableFromInline let slot: UInt16
    @usableFromInline let flags: UInt16

    /// Data led by the byte that says whether it is kept in a file.
    @usableFromInline static let externalStorage: UInt16 = 1
    /// The property is not in the row: to-many and transient properties.
    @usableFromInline static let notInRow: UInt16 = 2
    /// Encrypted in the row.
    @usableFromInline static let encrypted: UInt16 = 4

    @inlinable var isEncrypted: Bool { flags & Self.encrypted != 0 }

    /// Bytes from the start of the row.
    @inlinable var start: Int { Int(offset) }
}
