import Foundation
import LMDB
import StrataModel

/// Gives the journal the saves of one commit, where the store has a journal.
struct JournaledSaves {
    private let file: StoreFile
    private let start: LogHead
    /// The last transaction in the journal.
    private var end: LogHead
    /// Saves of more events are not given to the journal.
    private static let mostEvents: UInt64 = 8192

    /// - Parameter head: the end of the log before the commit.
    init(_ file: StoreFile, after head: LogHead) {
        self.file = file
        start = head
        end = head
    }

    private var isNeeded: Bool { file.options.durability == .journaled }

    /// Gives it the first save of a commit, so that the disk writes while the save is written to the file. Of use only
    /// if no other save joins: the disk would write twice.
    mutating func writeEarly(
        through head: LogHead, _ transaction: WriteTransaction, _ frame: () throws -> EncodedFrame
    ) throws {
        guard isNeeded else { return }
        var entry: [UInt8]?
        if isOfFewEvents(head) {
            var writer = ByteWriter()
            if try append(frame(), to: &writer) { entry = writer.array }
        }
        try transaction.journal(entry, isEarly: true)
        end = head
    }

    /// Writes the transactions to the journal that it does not have yet.
    mutating func finish(through head: LogHead, _ transaction: WriteTransaction) throws {
        guard isNeeded else { return }
        if end.transaction < head.transaction {
            try transaction.journal(try entry(through: head, transaction))
            end = head
        }
        transaction.mayBeLost = start.transaction == head.transaction
    }

    /// The transactions of the log after the last one in the journal, each behind its length.
    ///
    /// - Returns: nil if they are too many for the journal.
    private func entry(through head: LogHead, _ transaction: WriteTransaction) throws -> [UInt8]? {
        guard isOfFewEvents(head) else { return nil }
        let frames = try FrameReader(
            LogReader(transaction, file.tables, try file.histories(for: head, transaction)), head)
        var writer = ByteWriter()
        for number in end.transaction.rawValue + 1...head.transaction.rawValue {
            let frame = try frames.encodedFrame(TransactionNumber(rawValue: number), path: file.path)
            guard append(frame, to: &writer) else { return nil }
        }
        return writer.array
    }

    private func isOfFewEvents(_ head: LogHead) -> Bool {
        head.event.rawValue - start.event.rawValue < Self.mostEvents
    }

    /// - Returns: false if the entry is too large for the journal now.
    private func append(_ frame: EncodedFrame, to writer: inout ByteWriter) -> Bool {
        writer.append(littleEndian: UInt32(frame.bytes.count))
        frame.bytes.withUnsafeBytes { writer.append($0) }
        return writer.count <= Environment.largestJournalEntry
    }

    /// The transactions that entries have, each number once. Where two entries have a number, the commit of the first
    /// has failed, and so have those after it that are not repeated.
    ///
    /// - Throws: `corrupt`.
    static func frames(of entries: [[UInt8]], path: String) throws -> [LogFrame] {
        var frames: [LogFrame] = []
        for entry in entries {
            do {
                try entry.withUnsafeBytes { bytes in
                    var reader = ByteReader(bytes)
                    while !reader.isAtEnd {
                        let frame = try LogFrame(Data(try reader.readCountedBytes()))
                        while let last = frames.last, last.record.number >= frame.record.number { frames.removeLast() }
                        frames.append(frame)
                    }
                }
            } catch let error as CorruptRecord {
                throw StrataError.corrupt(error, "journal", .init(path: path))
            }
        }
        return frames
    }
}
