// "baseline" in `meta`, in a store whose history was truncated. Little-endian:
//
//   offset  width  field
//   0       4      checksum: low half of XXH64 over everything from offset 4
//   4       72     the head of the log as it was at the cut (StoreHeader.swift); the chain of digests goes on from its
//                  digest, and its first event kept is the one after the cut
//   76      32     sum of the events kept up to the cut (EventSum.swift)
//   108     8      number of these events
//   116     8      number of events dropped since the store was made
//   124     8      when the history was last truncated, microseconds since 1970, Int64
//   132     4      number of maintenance events kept up to the cut, then UInt64 event number each
//   ...            author and reason of the last truncation: each UInt32 length then UTF-8, length 0xFFFFFFFF = nil
//
// Events up to the cut are kept only as far as they make the state at the cut, each under its own number: for an object
// its insertion, or an insertion with flag 8 in the place of its last event, with the row as it was at the cut; for a
// pair a `linked` event in the same way; every model; tags and metadata in force. Their transactions are gone; the events
// still have their numbers. Everything after the cut is as it was.

import LMDB
package import Foundation
package import StrataModel

/// The beginning of a store's kept history: the state at one event, from which the log goes on.
package struct LogBaseline: Sendable, Hashable {
    /// The end of the log at the cut. The state there is the oldest that can be read.
    var head: LogHead
    /// The sum of the kept events.
    var sum = EventSum()
    /// The number of events that are kept up to the cut.
    package var keptCount: UInt64 = 0
    /// The number of events that were dropped, by this truncation and those before.
    package var droppedCount: UInt64 = 0
    /// When the history was last truncated.
    package var truncatedMicroseconds: Int64 = 0
    /// The kept maintenance events, ascending.
    var notes: [EventNumber] = []
    package var author: String?
    package var reason: String?

    /// Before the first transaction.
    static let start = LogBaseline(head: .start)

    private static let size = 136

    /// The last event before the cut.
    package var event: EventNumber { head.event }
    /// The digest of the last transaction before the cut; nil for another one.
    package func digest(of number: TransactionNumber) -> [UInt8]? { number == transaction ? head.digest : nil }

    /// The last transaction before the cut.
    package var transaction: TransactionNumber { head.transaction }
    /// When that transaction was committed.
    package var date: Date { Date(timeIntervalSince1970: Double(head.microseconds) / 1_000_000) }
    package var truncated: Date { Date(timeIntervalSince1970: Double(truncatedMicroseconds) / 1_000_000) }

    /// The baseline as errors name it.
    package var summary: HistoryBaseline {
        HistoryBaseline(eventNumber: event, transaction: transaction, date: date)
    }

    /// The error for a moment before it.
    package func refusal(_ eventNumber: EventNumber?) -> StrataError {
        StrataError(
            .historyDropped,
            "The history begins at event \(event) (transaction \(transaction)); what was before it was truncated.",
            context: .init(eventNumber: eventNumber, baseline: summary))
    }
}

extension LogBaseline {
    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.append(littleEndian: UInt32(0))
        head.encoded().withUnsafeBytes { writer.append($0) }
        for index in sum.words.indices { writer.append(littleEndian: sum.words[index]) }
        writer.append(littleEndian: keptCount)
        writer.append(littleEndian: droppedCount)
        writer.append(littleEndian: UInt64(bitPattern: truncatedMicroseconds))
        writer.append(littleEndian: UInt32(notes.count))
        for note in notes { writer.append(littleEndian: note.rawValue) }
        writer.append(text: author)
        writer.append(text: reason)
        var bytes = writer.array
        Checksum.write(over: 4, at: 0, in: &bytes)
        return bytes
    }

    init(_ bytes: UnsafeRawBufferPointer) throws(CorruptRecord) {
        guard bytes.count >= Self.size else { throw CorruptRecord("baseline of another length", at: 0) }
        var reader = ByteReader(bytes)
        guard try reader.readInteger(as: UInt32.self) == Checksum.of(bytes, from: 4) else {
            throw CorruptRecord("checksum of the baseline does not match", at: 0)
        }
        head = try LogHead(try reader.readBytes(LogHead.size))
        // These limits keep the numbers behind them from overflowing.
        guard max(head.event.rawValue, head.transaction.rawValue) <= UInt64.max >> 1 else {
            throw CorruptRecord("a cut beyond the log", at: 4)
        }
        var words: SIMD4<UInt64> = .zero
        for index in words.indices { words[index] = try reader.readInteger(as: UInt64.self) }
        sum = EventSum(words: words)
        keptCount = try reader.readInteger(as: UInt64.self)
        droppedCount = try reader.readInteger(as: UInt64.self)
        truncatedMicroseconds = Int64(bitPattern: try reader.readInteger(as: UInt64.self))
        for _ in 0..<(try reader.readInteger(as: UInt32.self)) {
            notes.append(EventNumber(rawValue: try reader.readInteger(as: UInt64.self)))
        }
        author = try reader.readText()
        reason = try reader.readText()
        guard reader.remaining == 0 else { throw CorruptRecord("bytes after a baseline", at: reader.offset) }
    }

    /// The baseline of a store; nil if its history was never truncated.
    ///
    /// - Throws: `corrupt`.
    static func read(_ transaction: ReadTransaction, _ tables: StoreTables) throws -> LogBaseline? {
        guard let bytes = try StoreFile.meta("baseline", tables, transaction) else { return nil }
        do {
            return try LogBaseline(bytes)
        } catch {
            throw StrataError.corrupt(error, "meta")
        }
    }

    func write(_ transaction: WriteTransaction, _ tables: StoreTables) throws {
        try encoded().withUnsafeBytes { value in
            try StoreFile.withKey("baseline") { try transaction.put(tables.meta, $0, value) }
        }
    }
}
