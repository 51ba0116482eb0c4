/// Where an attribute or to-one of an entity stands in the rows of its objects; used by generated accessors.
@frozen public struct _FieldLocation {
    /// Bytes from the start of the row.
    @usableFromInline let offset: UInt32
    /// The slot, which is also the number of its null bit and its changed bit.
    @usableFromInline let slot: UInt16
    @usableFromInline let flags: UInt16

    /// Data led by the byte that says whether it is kept in a file.
    @usableFromInline static let externalStorage: UInt16 = 1
    /// Not in the row: to-many and transient properties.
    @usableFromInline static let notInRow: UInt16 = 2

    init(offset: UInt32, slot: UInt16, flags: UInt16) {
        self.offset = offset
        self.slot = slot
        self.flags = flags
    }

    /// Byte of the null bit, from the start of the row.
    @inlinable var nullByte: Int { 8 + Int(slot >> 3) }
    @inlinable var nullMask: UInt8 { 1 << UInt8(truncatingIfNeeded: slot & 7) }
    @inlinable var start: Int { Int(offset) }
}

/// Bits of `ManagedObject._state`. Zero means: in memory, already changed, nobody watches.
///
/// The low half slows reading down, either half slows writing down, so that the usual read and the usual write test
/// one word.
@usableFromInline enum ObjectState {
    // Low half: something must happen before a read.
    /// The values are not in memory.
    @usableFromInline static let fault: UInt32 = 1
    /// Somebody observes the object.
    @usableFromInline static let observed: UInt32 = 2
    /// Not a real object: it records which properties are read.
    @usableFromInline static let probe: UInt32 = 4
    // High half: something must happen before a write.
    /// The row is as it was read: the first write copies it.
    @usableFromInline static let clean: UInt32 = 1 << 16
    /// Deleted in the context, not yet saved.
    @usableFromInline static let deleted: UInt32 = 1 << 17
    /// In no context any more, or never in one.
    @usableFromInline static let detached: UInt32 = 1 << 18
    /// The context cannot be changed.
    @usableFromInline static let readOnly: UInt32 = 1 << 19
    /// The row stands in a layer that a fetch made; a write makes the layer stale.
    @usableFromInline static let layered: UInt32 = 1 << 20
    /// The object is gone from the store; its values read as nil, zero or empty.
    @usableFromInline static let inaccessible: UInt32 = 1 << 21

    @usableFromInline static let readMask: UInt32 = 0xFFFF
    /// Not there for whoever asks for existing objects.
    static let gone = deleted | inaccessible
}
