// A row in the `objects` view. Format 1, little-endian.
//
//   offset  width  field
//   0       4      checksum: the low half of XXH64, seed 0, over all bytes from offset 4
//   4       4      0
//   8       8      revision: the number of the newest event that changed the row
//   16      ...    a canonical row image (RowLayout.swift)

/// A row in the `objects` view, not copied: its revision and its image.
///
/// The image points into the bytes that it was read from and must not outlive them.
@usableFromInline package struct StoredRow {
    @usableFromInline package let revision: EventNumber
    @usableFromInline package let image: UnsafeRawBufferPointer

    @usableFromInline package static let headerSize = 16

    /// The size of the stored row with an image of `imageSize` bytes.
    @inlinable package static func size(imageSize: Int) -> Int { headerSize + imageSize }

    /// Writes the row into `target`, which must have exactly `size(imageSize:)` bytes.
    package static func encode(
        revision: EventNumber, image: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
    ) {
        guard let base = target.baseAddress, target.count == size(imageSize: image.count) else {
            preconditionFailure("The target does not have the size of the stored row.")
        }
        base.storeLittleEndian(UInt32(0), at: 4)
        base.storeLittleEndian(revision.rawValue, at: 8)
        if let start = image.baseAddress { (base + headerSize).copyMemory(from: start, byteCount: image.count) }
        base.storeLittleEndian(checksum(UnsafeRawBufferPointer(target)), at: 0)
    }

    /// Reads a row and checks its checksum.
    ///
    /// - Throws: if the row is damaged.
    @inlinable package init(_ bytes: UnsafeRawBufferPointer) throws(CorruptRecord) {
        try self.init(unverified: bytes)
        guard bytes.loadUnaligned(as: UInt32.self) == UInt32(littleEndian: Self.checksum(bytes)) else {
            throw CorruptRecord("wrong checksum of a row", at: 0)
        }
        guard bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self) == 0 else {
            throw CorruptRecord("row of an unknown form", at: 4)
        }
    }

    /// Reads a row without its checksum, for bytes that were verified in the same read transaction.
    @inlinable package init(unverified bytes: UnsafeRawBufferPointer) throws(CorruptRecord) {
        guard let base = bytes.baseAddress, bytes.count >= Self.headerSize else {
            throw CorruptRecord("stored row shorter than its header", at: bytes.count)
        }
        revision = EventNumber(rawValue: base.loadLittleEndian(at: 8))
        image = UnsafeRawBufferPointer(start: base + Self.headerSize, count: bytes.count - Self.headerSize)
    }

    /// The checksum of a stored row, including its header.
    @inlinable package static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        UInt32(truncatingIfNeeded: XXH64.hash(UnsafeRawBufferPointer(rebasing: bytes[4...])))
    }
}
