// The stored image of a row, which owns its bytes (`RowImage`).

/// The header of a row image, which identifies its layout.
package struct RowHeader: Sendable, Hashable {
    package let entityID: EntityID
    package let version: ModelVersion
    package let slotCount: Int

    /// - Throws: if the bytes are shorter than a header.
    package init(_ bytes: UnsafeRawBufferPointer) throws(CorruptRecord) {
        guard let base = bytes.baseAddress, bytes.count >= RowLayout.headerSize else {
            throw CorruptRecord("row shorter than its header", at: bytes.count)
        }
        version = ModelVersion(rawValue: base.loadLittleEndian(at: RowLayout.modelVersionOffset))
        entityID = EntityID(rawValue: base.loadLittleEndian(at: RowLayout.entityOffset))
        slotCount = Int(base.loadLittleEndian(at: RowLayout.slotCountOffset, as: UInt16.self))
    }
}

/// A canonical row image that owns its bytes. Rows of one layout are equal if their images are.
package struct RowImage: Sendable, Hashable {
    package let bytes: [UInt8]

    /// An image with bytes that must be canonical, as `RowBuilder.finish` and `RowLayout.canonicalize` make them.
    package init(canonical bytes: [UInt8]) { self.bytes = bytes }

    package var count: Int { bytes.count }

    /// The same row under another model version, whose layout has the same slots.
    package func rewritten(for version: ModelVersion) -> RowImage {
        var bytes = bytes
        withUnsafeBytes(of: version.rawValue.littleEndian) { version in
            bytes.replaceSubrange(
                RowLayout.modelVersionOffset..<RowLayout.modelVersionOffset + version.count, with: version)
        }
        return RowImage(canonical: bytes)
    }

    /// Calls `body` with a reader, which must not escape.
    package func withReader<Result>(
        _ layout: RowLayout, _ body: (RowReader) throws(CorruptRecord) -> Result
    ) throws(CorruptRecord) -> Result {
        try bytes.withUnsafeBufferPointer { (bytes) throws(CorruptRecord) in
            try body(RowReader(UnsafeRawBufferPointer(bytes), layout: layout))
        }
    }
}
