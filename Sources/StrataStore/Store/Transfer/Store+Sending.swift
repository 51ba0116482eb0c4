package import Foundation
package import StrataModel

/// The log of a store, and the position in it.
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
    /// - Throws: `historyDropped` if the log does not go back so far, or if a thinning has taken values out of one of
    ///   them: then only what a snapshot has leads on; `corrupt`.
    /// - Complexity: O(bytes). In a store with large values, their references are looked up in the events.
    package func frames(
        after: TransactionNumber, through last: TransactionNumber? = nil, limitInBytes: Int
    ) throws -> [LogFrame] {
        try readLog { reader, head in
            let end = min(last ?? head.transaction, head.transaction)
            let reading = try FrameReader(reader, head)
            let isThinned = try ThinnedEntities.all(reader.transaction, reader.tables).contains { $0.value.cut > .zero }
            var frames: [LogFrame] = []
            var size = 0
            var next = TransactionNumber(rawValue: after.rawValue + 1)
            while next <= end, size < limitInBytes {
                let frame = try reading.frame(next, path: path)
                if isThinned { try frame.checkValues(reader) }
                frames.append(frame)
                size += frame.bytes.count
                next = TransactionNumber(rawValue: next.rawValue + 1)
            }
            return frames
        }
    }

    /// The bytes of a large value, checked; nil if they are not here.
    package func blob(digest: Data) -> Data? { blobs.checkedContents(digest: digest) }
}
