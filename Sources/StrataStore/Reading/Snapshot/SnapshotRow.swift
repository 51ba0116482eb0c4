import LMDB
package import StrataModel

/// A row as a snapshot shows it, valid inside the read.
///
/// It counts no reference to the layout and the models, for one is made for each row that is read: the snapshot, or the
/// read transaction, keeps them as long as the read lasts.
package struct SnapshotRow {
    package let image: UnsafeRawBufferPointer
    /// The newest event that changed the row.
    package let revision: EventNumber
    private let unownedLayout: Unmanaged<RowLayout>
    private let unownedHistories: Unmanaged<SchemaHistory>
    /// Keeps a layer's bytes alive; nil for bytes of the map.
    private let owner: RowImage?

    package var layout: RowLayout { unownedLayout.takeUnretainedValue() }
    var histories: SchemaHistory { unownedHistories.takeUnretainedValue() }

    /// The image where it lies in the map; nil for a layer's.
    var imageInMap: UnsafeRawBufferPointer? { owner == nil ? image : nil }

    /// Whether the row is in this very layout.
    package func isIn(_ layout: RowLayout) -> Bool {
        unownedLayout.toOpaque() == Unmanaged.passUnretained(layout).toOpaque()
    }

    /// The row as the `objects` table has it; nil when it has none.
    ///
    /// - Throws: `corrupt` when the stored row does not match its checksum.
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
            throw StrataError.corrupt(error, "objects", id: id)
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
