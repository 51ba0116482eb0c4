import LMDB
package import StrataModel

/// A row as a snapshot shows it, valid inside the read.
///
/// It does not retain its layout and models, because a value is made for every row that is read. The snapshot, or the
/// read transaction, keeps them alive during the read.
package struct SnapshotRow {
    package let image: UnsafeRawBufferPointer
    /// The newest event that changed the row.
    package let revision: EventNumber
    private let unownedLayout: Unmanaged<RowLayout>
    private let unownedHistories: Unmanaged<SchemaHistory>
    /// Keeps the bytes of a layer's row alive; nil for bytes in the map.
    private let owner: RowImage?

    package var layout: RowLayout { unownedLayout.takeUnretainedValue() }
    var histories: SchemaHistory { unownedHistories.takeUnretainedValue() }

    /// The image if it lies in the map; nil for a layer's row.
    var imageInMap: UnsafeRawBufferPointer? { owner == nil ? image : nil }

    /// Whether the row has exactly this layout.
    package func isIn(_ layout: RowLayout) -> Bool {
        unownedLayout.toOpaque() == Unmanaged.passUnretained(layout).toOpaque()
    }

    /// The object's row in the `objects` table; nil if there is none.
    ///
    /// - Throws: `corrupt` if the stored row does not match its checksum.
    @inline(__always)
    init?(
        _ id: ObjectID, in transaction: ReadTransaction, _ objects: Table, _ histories: SchemaHistory
    ) throws {
        guard let bytes = try transaction.get(objects, id.rawValue) else { return nil }
        try self.init(stored: bytes, id, histories)
    }

    /// A value of the `objects` table, checked.
    @inline(__always)
    init(stored bytes: UnsafeRawBufferPointer, _ id: ObjectID, _ histories: SchemaHistory) throws {
        do throws(CorruptRecord) {
            let stored = try StoredRow(bytes)
            image = stored.image
            revision = stored.revision
            if let newest = histories.newestLayout(of: stored.image, id: id) {
                unownedLayout = newest
            } else {
                unownedLayout = Unmanaged.passUnretained(try histories.layout(of: stored.image, id: id))
            }
        } catch {
            throw StrataError.corrupt(error, "objects", histories.context(of: id))
        }
        unownedHistories = Unmanaged.passUnretained(histories)
        owner = nil
    }

    init(image: RowImage, layout: RowLayout, revision: EventNumber, histories: SchemaHistory) {
        self.image = image.unsafeBytes
        self.revision = revision
        unownedLayout = Unmanaged.passUnretained(layout)
        unownedHistories = Unmanaged.passUnretained(histories)
        owner = image
    }
}
