import LMDB
import StrataModel

/// Appends transactions that were made elsewhere to the log of a store, byte for byte, and makes the views of them.
///
/// Used by stores that follow another log. Each frame must follow the head: its number, its events and its digest are
/// checked before the first byte of it is written.
struct FrameAppending: ~Copyable {
    let tables: StoreTables
    private var projector: Projector
    private(set) var head: LogHead
    /// Tags and metadata that the frames change.
    private var bookmarks = RecordedBookmarks()
    /// The erasures that the frames record, encoded.
    private var erasures: [(number: EventNumber, payload: [UInt8])] = []

    init(_ tables: StoreTables, after head: LogHead, _ histories: SchemaHistory) {
        self.tables = tables
        self.head = head
        projector = Projector(tables: tables, histories: histories, tracking: .overlapping)
        // The other store has checked these events already.
        projector.declared.acceptsFaults = true
        projector.declared.mostObjectsAtOnce = ViewStepLimits().objects
    }

    var histories: SchemaHistory { projector.histories }

    /// Finds out which views of a store that is open are left to a worker.
    mutating func noteBuildingViews(_ transaction: WriteTransaction) throws {
        try projector.noteBuildingViews(at: head.event, transaction)
    }

    /// - Throws: `divergedLog` if the frame does not continue this log; `corrupt` if its content is not what its
    ///   digest says, or cannot be made into views; `modelChanged` if it declares the first view of the store.
    mutating func append(_ frame: LogFrame, _ transaction: WriteTransaction) throws {
        let record = frame.record
        guard record.number.rawValue == head.transaction.rawValue + 1, record.firstEvent == head.event.advanced(by: 1)
        else {
            throw StrataError(
                .divergedLog,
                "Transaction \(record.number) does not follow the last one here, \(head.transaction).",
                context: .init(eventNumber: record.firstEvent))
        }
        guard frame.verifies(after: head.digest) else {
            throw StrataError(
                .divergedLog,
                "Transaction \(record.number) does not continue this log: its digest is of another history.",
                context: .init(eventNumber: record.firstEvent))
        }
        try frame.withRecords { recordBytes, events in
            for (offset, event) in events.enumerated() {
                let number = record.firstEvent.advanced(by: offset)
                let view = try EventView(sealed: event)
                try projector.apply(view, number, transaction)
                try bookmarks.note(view, number)
                if try view.erasure() != nil { erasures.append((number, Array(view.payload))) }
            }
            projector.enter(record)
            try projector.flush(transaction)
            try append(events, from: record.firstEvent.rawValue, transaction)
            try transaction.append(tables.transactions, record.number.rawValue, recordBytes)
        }
        if let newest = projector.histories.newest { head.modelVersion = newest.version }
        head.event = record.lastEvent
        head.transaction = record.number
        head.microseconds = record.microseconds
        head.digest = record.digest
    }

    /// Large transactions go into blocks.
    private func append(
        _ events: [UnsafeRawBufferPointer], from first: UInt64, _ transaction: WriteTransaction
    ) throws {
        func write(_ number: UInt64, _ record: UnsafeRawBufferPointer) throws {
            try transaction.append(tables.events, number, record)
        }
        guard events.count >= tables.packing.fewestInTransaction else {
            for (offset, event) in events.enumerated() { try write(first + UInt64(offset), event) }
            return
        }
        var packing = EventPacking()
        for (offset, event) in events.enumerated() { try packing.add(first + UInt64(offset), event, write) }
        try packing.finish(write)
        if packing.hasBlocks { try StoreFile.noteBlocks(tables, transaction) }
    }

    /// Writes the head, the tags and metadata that the frames have changed, and the erasures that are now to be made
    /// in this store.
    mutating func finish(_ transaction: WriteTransaction) throws {
        try bookmarks.write(transaction, tables)
        try writeErasures(transaction)
        try head.encoded().withUnsafeBytes { value in
            try StoreFile.withKey("head") { try transaction.put(tables.meta, $0, value) }
        }
    }

    private func writeErasures(_ transaction: WriteTransaction) throws {
        guard !erasures.isEmpty else { return }
        for (number, payload) in erasures {
            try payload.withUnsafeBytes { try ErasureList.put($0, at: number, transaction, tables) }
        }
        var mark = try ErasureMark.read(transaction, tables) ?? ErasureMark()
        mark.received += erasures.map(\.number)
        try mark.write(transaction, tables)
        try StoreFile.noteErasures(tables, transaction)
    }
}
