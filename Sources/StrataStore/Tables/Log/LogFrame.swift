// A transaction as it goes from one store's log to another's. Integers are little-endian:
//
//   offset  width  field
//   0       4      "SLF1"
//   4       8      number of the transaction
//   12      4      number of large values, then for each: 32-byte digest
//           4      length of the record, then the record (TransactionRecord.swift)
//           ...    for each event: UInt32 length, then the event (EventRecord.swift)
//
// Record and events are the bytes of the log, each with its checksum, and the record has the digest that chains it to
// the transaction before.

package import Foundation
package import StrataModel

/// One transaction of a log, byte for byte: what is needed to append it to another store with the same log before it.
package struct LogFrame: Sendable {
    /// The frame as it is shipped.
    package let bytes: Data
    package let record: TransactionRecord
    /// Digests of the large values that the events name.
    package let blobDigests: [Data]
    /// The ranges of the record and the events in `bytes`.
    private let recordRange: Range<Int>
    private let eventRanges: [Range<Int>]

    static let magic: [UInt8] = Array("SLF1".utf8)

    /// Reads a frame, and checks every length and checksum in it.
    ///
    /// - Throws: `CorruptRecord`.
    package init(_ bytes: Data) throws(CorruptRecord) {
        // A slice keeps the indices of the whole; ranges here count from zero.
        let bytes = bytes.startIndex == 0 ? bytes : Data(bytes)
        let parts: Parts
        do {
            parts = try bytes.withUnsafeBytes { try Parts($0) }
        } catch let error as CorruptRecord {
            throw error
        } catch {
            throw CorruptRecord("frame that cannot be read", at: 0)
        }
        self.bytes = bytes
        record = parts.record
        blobDigests = parts.blobDigests
        recordRange = parts.recordRange
        eventRanges = parts.eventRanges
    }

    /// Calls `body` with the record and each event, in order.
    func withRecords<R>(
        _ body: (_ record: UnsafeRawBufferPointer, _ events: [UnsafeRawBufferPointer]) throws -> R
    ) rethrows -> R {
        try bytes.withUnsafeBytes { all in
            try body(
                UnsafeRawBufferPointer(rebasing: all[recordRange]),
                eventRanges.map { UnsafeRawBufferPointer(rebasing: all[$0]) })
        }
    }

    /// Whether the record's digest is that of its events, after the transaction before with the given digest, and each
    /// payload is the one that its event was sealed with. A payload that was removed on purpose does not count.
    ///
    /// - Parameter previous: 32 bytes; zeros before the first transaction.
    /// - Complexity: SHA-256 over the frame.
    package func verifies(after previous: [UInt8]) -> Bool {
        withRecords { record, events in
            var chain = EventDigest.Chain(previous: previous, record: record)
            for event in events {
                guard let view = try? EventView(event), EventDigest.matches(view) else { return false }
                chain.add(event)
            }
            // The digest is of the record before texts were erased from it. The erasure has the one of what is left.
            let digest = chain.finish()
            return self.record.isErased || digest == self.record.digest
        }
    }

    /// The parts of a frame.
    private struct Parts {
        var record: TransactionRecord
        var blobDigests: [Data] = []
        var recordRange: Range<Int>
        var eventRanges: [Range<Int>] = []

        init(_ bytes: UnsafeRawBufferPointer) throws(CorruptRecord) {
            var reader = ByteReader(bytes)
            guard try reader.readBytes(4).elementsEqual(LogFrame.magic) else { throw CorruptRecord("no frame", at: 0) }
            let number = TransactionNumber(rawValue: try reader.readInteger(as: UInt64.self))
            for _ in 0..<(try reader.readInteger(as: UInt32.self)) {
                blobDigests.append(Data(try reader.readBytes(32)))
            }
            let recordBytes = try reader.readCountedBytes()
            recordRange = reader.offset - recordBytes.count..<reader.offset
            record = try TransactionRecord(recordBytes, number: number)
            while !reader.isAtEnd {
                let eventBytes = try reader.readCountedBytes()
                eventRanges.append(reader.offset - eventBytes.count..<reader.offset)
                guard try EventView(eventBytes).header.transaction == number else {
                    throw CorruptRecord("event of another transaction", at: reader.offset)
                }
            }
            guard eventRanges.count == record.eventCount else {
                throw CorruptRecord("events missing from a frame", at: reader.offset)
            }
        }
    }
}

extension LogFrame {
    /// Makes a frame of the bytes of a log.
    static func encoded(
        _ number: TransactionNumber, record: UnsafeRawBufferPointer, blobDigests: [Data],
        addingEvents: (inout ByteWriter) throws -> Void
    ) rethrows -> Data {
        var writer = ByteWriter()
        magic.withUnsafeBytes { writer.append($0) }
        writer.append(littleEndian: number.rawValue)
        writer.append(littleEndian: UInt32(blobDigests.count))
        for digest in blobDigests { digest.withUnsafeBytes { writer.append($0) } }
        writer.append(littleEndian: UInt32(record.count))
        writer.append(record)
        try addingEvents(&writer)
        return Data(writer.array)
    }
}
