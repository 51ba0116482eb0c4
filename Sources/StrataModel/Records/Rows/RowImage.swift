/// The header of a row image: which layout reads it.
package struct RowHeader: Sendable, Hashable {
    package let entityID: EntityID
    package let version: ModelVersion
    package let slotCount: Int

    /// - Throws: when the bytes are shorter than a header.
    package init(_ bytes: UnsafeRawBufferPointer) throws(CorruptRecord) {
        guard let base = bytes.baseAddress, bytes.count >= RowLayout.headerSize else {
            throw CorruptRecord("row shorter than its header", at: bytes.count)
        }
        version = ModelVersion(rawValue: base.loadLittleEndian(at: RowLayout.modelVersionOffset))
        entityID = EntityID(rawValue: base.loadLittleEndian(at: RowLayout.entityOffset))
        slotCount = Int(base.loadLittleEndian(at: RowLayout.slotCountOffset, as: UInt16.self))
    }
}

/// A canonical row image that owns its bytes: equal images are equal rows of one layout.
package struct RowImage: Sendable, Hashable {
    package let bytes: [UInt8]

    /// The bytes must be canonical, as `RowBuilder.finish` and `RowLayout.canonicalize` make them.
    package init(canonical bytes: [UInt8]) { self.bytes = bytes }

    package var count: Int { bytes.count }

    /// Reads the image; the reader must not leave `body`.
    package func withReader<Result>(
        _ layout: RowLayout, _ body: (RowReader) throws(CorruptRecord) -> Result
    ) throws(CorruptRecord) -> Result {
        try bytes.withUnsafeBufferPointer { (bytes) throws(CorruptRecord) in
            try body(RowReader(UnsafeRawBufferPointer(bytes), layout: layout))
        }
    }
}
