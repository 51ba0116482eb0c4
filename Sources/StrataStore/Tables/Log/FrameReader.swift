import Foundation
import LMDB
import StrataModel

/// Reads the transactions of a log as frames, in one read transaction or in the one that has written them.
struct FrameReader {
    private let reader: LogReader
    private let head: LogHead
    /// Whether any event names a large value.
    private let hasBlobs: Bool

    /// - Parameter namesBlobs: whether events may name large values that the table of large values does not have yet.
    init(_ reader: LogReader, _ head: LogHead, namesBlobs: Bool = false) throws {
        self.reader = reader
        self.head = head
        hasBlobs = try namesBlobs || BufferedTable(reader.tables.blobs).count(reader.transaction) > 0
    }

    /// - Parameter path: of the store, for messages.
    /// - Throws: `historyDropped` if the log does not go back so far; `corrupt`.
    func frame(_ number: TransactionNumber, path: String) throws -> LogFrame {
        let encoded = try encodedFrame(number, path: path)
        do {
            return try LogFrame(encoded)
        } catch {
            throw StrataError.corrupt(error, "transactions")
        }
    }

    /// The bytes of a frame, which are not looked at again.
    ///
    /// - Throws: as `frame`.
    func encodedFrame(_ number: TransactionNumber, path: String) throws -> Data {
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
        return try LogFrame.encoded(number, record: bytes, blobDigests: digests) { writer in
            try reader.events(from: record.firstEvent, through: record.lastEvent, .whole) { event, _ in
                writer.append(littleEndian: UInt32(event.record.count))
                writer.append(event.record)
                return true
            }
        }
    }

    /// The large values that the events of a transaction name, each once.
    private func blobDigests(of record: TransactionRecord) throws -> [Data] {
        var digests: [Data] = []
        func note(_ value: AttributeValue) {
            if case .blob(let reference) = value, !digests.contains(reference.digest) {
                digests.append(reference.digest)
            }
        }
        try reader.events(from: record.firstEvent, through: record.lastEvent) { event, eventNumber in
            switch try RecordedEvent(event, eventNumber, reader.histories).payload {
            case .inserted(let values):
                for value in values { if case .value(let value) = value.value { note(value) } }
            case .updated(let changes):
                for change in changes { if case .value(let value) = change.after { note(value) } }
            default: break
            }
            return true
        }
        return digests
    }
}
