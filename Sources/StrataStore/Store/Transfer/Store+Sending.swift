package import Foundation
import LMDB
package import StrataModel

/// Which log a store has, and how far it has come.
package struct LogPosition: Sendable, Hashable {
    /// The store's id, the same in every copy of it.
    package var identifier: UUID
    /// The id of this course of its history, renewed when a backup is restored.
    package var lineage: UUID
    package var createdMicroseconds: Int64
    package var transaction: TransactionNumber
    package var eventNumber: EventNumber
    /// The digest of the last transaction, 32 bytes.
    package var digest: [UInt8]

    package init(
        identifier: UUID, lineage: UUID, createdMicroseconds: Int64, transaction: TransactionNumber = .zero,
        eventNumber: EventNumber = .zero, digest: [UInt8] = [UInt8](repeating: 0, count: 32)
    ) {
        self.identifier = identifier
        self.lineage = lineage
        self.createdMicroseconds = createdMicroseconds
        self.transaction = transaction
        self.eventNumber = eventNumber
        self.digest = digest
    }
}

extension Store {
    /// The end of the log.
    package func logPosition() throws -> LogPosition {
        try readLog { _, head in
            LogPosition(
                identifier: identifier, lineage: lineage, createdMicroseconds: file.header.createdMicroseconds,
                transaction: head.transaction, eventNumber: head.event, digest: head.digest)
        }
    }

    /// The transactions after one, byte for byte, to be appended to another store.
    ///
    /// - Parameters:
    ///   - last: nil goes on to the end of the log.
    ///   - limitInBytes: ends once this is exceeded; at least one transaction is returned if there is one.
    /// - Throws: `historyDropped` if the log does not go back so far; `corrupt`.
    /// - Complexity: O(bytes). In a store with large values, their references are looked up in the events.
    package func frames(
        after: TransactionNumber, through last: TransactionNumber? = nil, limitInBytes: Int
    ) throws -> [LogFrame] {
        try readLog { reader, head in
            let end = min(last ?? head.transaction, head.transaction)
            let hasBlobs = try BufferedTable(file.tables.blobs).count(reader.transaction) > 0
            var frames: [LogFrame] = []
            var size = 0
            var next = TransactionNumber(rawValue: after.rawValue + 1)
            while next <= end, size < limitInBytes {
                guard let record = try reader.transaction(next, in: head) else {
                    if let baseline = try reader.baseline() { throw baseline.refusal(nil) }
                    throw StrataError(
                        .historyDropped, "The log does not go back to transaction \(next).",
                        context: .init(eventNumber: head.firstKeptEvent, path: path))
                }
                let frame = try frame(record, reader, hasBlobs)
                frames.append(frame)
                size += frame.bytes.count
                next = TransactionNumber(rawValue: next.rawValue + 1)
            }
            return frames
        }
    }

    private func frame(_ record: TransactionRecord, _ reader: LogReader, _ hasBlobs: Bool) throws -> LogFrame {
        guard let bytes = try reader.transaction.get(file.tables.transactions, record.number.rawValue) else {
            throw StrataError(.corrupt, "A transaction of the log is missing: \(record.number).")
        }
        let digests = hasBlobs ? try blobDigests(of: record, reader) : []
        let encoded = try LogFrame.encoded(record.number, record: bytes, blobDigests: digests) { writer in
            try reader.events(from: record.firstEvent, through: record.lastEvent) { event, _ in
                writer.append(littleEndian: UInt32(event.record.count))
                writer.append(event.record)
                return true
            }
        }
        do {
            return try LogFrame(encoded)
        } catch {
            throw StrataError.corrupt(error, "transactions")
        }
    }

    /// The large values that the events of a transaction name, each once.
    private func blobDigests(of record: TransactionRecord, _ reader: LogReader) throws -> [Data] {
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

    /// The bytes of a large value, checked; nil if they are not here.
    package func blob(digest: Data) -> Data? {
        guard let data = blobs.contents(digest: digest), BlobReference(of: data).digest == digest else { return nil }
        return data
    }
}
