import Foundation
import LMDB
import StrataModel

/// The saves of one commit, as the journal has them.
enum JournaledSaves {
    /// The entry for the transactions that a write transaction has appended to the log.
    ///
    /// - Returns: nil if there are none, or too many for the journal.
    static func entry(
        after before: LogHead, through head: LogHead, _ file: StoreFile, _ transaction: WriteTransaction
    ) throws -> [UInt8]? {
        guard before.transaction < head.transaction, head.event.rawValue - before.event.rawValue < 8192 else {
            return nil
        }
        let frames = try FrameReader(
            LogReader(transaction, file.tables, try file.histories(for: head, transaction)), head)
        var writer = ByteWriter()
        for number in before.transaction.rawValue + 1...head.transaction.rawValue {
            let frame = try frames.encodedFrame(TransactionNumber(rawValue: number), path: file.path)
            writer.append(littleEndian: UInt32(frame.count))
            frame.withUnsafeBytes { writer.append($0) }
            if writer.count > Environment.largestJournalEntry { return nil }
        }
        return writer.array
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
