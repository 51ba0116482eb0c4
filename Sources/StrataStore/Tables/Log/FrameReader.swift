import Foundation
import LMDB
import StrataModel

/// Reads the transactions of a log as frames, in one read transaction or in the one that has written them.
struct FrameReader {
    private let reader: LogReader
    private let head: LogHead
    /// Whether any event names a large value.
    private let hasBlobs: Bool

    init(_ reader: LogReader, _ head: LogHead) throws {
        self.reader = reader
        self.head = head
        hasBlobs = try NamedBlobs.isAnyKnown(reader.transaction, reader.tables)
    }

    /// - Parameter path: of the store, for messages.
    /// - Throws: `historyDropped` if the log does not go back so far; `corrupt`.
    func frame(_ number: TransactionNumber, path: String) throws -> LogFrame {
        let encoded = try encodedFrame(number, path: path)
        do {
            return try LogFrame(encoded.bytes)
        } catch {
            throw StrataError.corrupt(error, "transactions")
        }
    }

    /// A frame for others to check.
    ///
    /// - Throws: as `frame`.
    func encodedFrame(_ number: TransactionNumber, path: String) throws -> EncodedFrame {
        guard let record = try reader.transaction(number, in: head) else {
            if let baseline = try reader.baseline() { throw baseline.refusal(nil) }
            throw StrataError(
                .historyDropped, "The log does not go back to transaction \(number).",
                context: .init(eventNumber: head.firstKeptEvent, path: path))
        }
        guard let bytes = try reader.transaction.get(reader.tables.transactions, number.rawValue) else {
            throw StrataError(.corrupt, "A transaction of the log is missing: \(number).")
        }
        let digests = hasBlobs ? try blobDigests(of: record) : []
        return try EncodedFrame(record, bytes, digests) { writer in
            try reader.events(from: record.firstEvent, through: record.lastEvent, .whole) { event, _ in
                writer.append(littleEndian: UInt32(event.record.count))
                writer.append(event.record)
                return true
            }
        }
    }

    private func blobDigests(of record: TransactionRecord) throws -> [Data] {
        var digests = NamedBlobs(histories: reader.histories)
        try reader.events(from: record.firstEvent, through: record.lastEvent) { event, number in
            try digests.add(event, number)
            return true
        }
        return digests.digests
    }
}

/// The large values that events name, each once.
struct NamedBlobs {
    let histories: SchemaHistory
    private(set) var digests: [Data] = []

    init(histories: SchemaHistory) { self.histories = histories }

    /// Whether the views know of any large value.
    static func isAnyKnown(_ transaction: ReadTransaction, _ tables: StoreTables) throws -> Bool {
        try BufferedTable(tables.blobs).count(transaction) > 0
    }

    mutating func add(_ event: EventView, _ number: EventNumber) throws {
        switch try RecordedEvent(event, number, histories).payload {
        case .inserted(let values):
            for value in values { if case .value(let value) = value.value { add(value) } }
        case .updated(let changes):
            for change in changes { if case .value(let value) = change.after { add(value) } }
        default: break
        }
    }

    private mutating func add(_ value: AttributeValue) {
        guard case .blob(let reference) = value, !digests.contains(reference.digest) else { return }
        digests.append(reference.digest)
    }
}
