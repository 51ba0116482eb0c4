import LMDB
import Logging
import Locking
import StrataModel

/// Hands out row numbers without I/O: a block is leased from the store, durably, before its first number is used.
///
/// The counter is in the `state` table, which no rebuild drops. So no number is given twice, even if a process ends
/// with unused numbers (rule 6 of ARCHITECTURE.md). `block` is guarded by its mutex, which is not held during a commit.
final class RowLease: Sendable {
    private struct Block {
        var next: UInt64 = 0
        var end: UInt64 = 0
        /// The next block, leased when half of this one is used.
        var spare: Range<UInt64>?
        var isRefilling = false
    }

    private let block = Locked(Block())
    private let size: UInt64
    private let lease: @Sendable (UInt64) throws -> Range<UInt64>
    private let inBackground: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// - Parameters:
    ///   - lease: takes that many numbers from the store, in a durable commit.
    ///   - inBackground: runs a job soon, on another thread.
    init(
        size: UInt64, lease: @escaping @Sendable (UInt64) throws -> Range<UInt64>,
        inBackground: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        self.size = size
        self.lease = lease
        self.inBackground = inBackground
    }

    /// A number that was never given before.
    ///
    /// - Throws: only if a new block is needed at once and cannot be leased.
    func next() throws -> UInt64 {
        while true {
            let (number, refills) = block.withLock { block -> (UInt64?, Bool) in
                if block.next == block.end, let spare = block.spare {
                    block.next = spare.lowerBound
                    block.end = spare.upperBound
                    block.spare = nil
                }
                guard block.next < block.end else { return (nil, false) }
                defer { block.next += 1 }
                let refills = block.end - block.next == size / 2 && block.spare == nil && !block.isRefilling
                if refills { block.isRefilling = true }
                return (block.next, refills)
            }
            if refills { inBackground { self.refill() } }
            if let number { return number }
            let fresh = try lease(size)
            block.withLock { block in
                // Another thread may have been first. Then this block is the spare, or its numbers stay unused, which
                // is harmless.
                if block.next == block.end {
                    block.next = fresh.lowerBound
                    block.end = fresh.upperBound
                } else if block.spare == nil {
                    block.spare = fresh
                }
            }
        }
    }

    /// A failure is logged; when the block is used up, `next` tries again and throws.
    private func refill() {
        let fresh = Result { try lease(size) }
        if case .failure(let error) = fresh { StoreLogger.shared.warning("leasing row numbers ahead failed: \(error)") }
        block.withLock { block in
            block.isRefilling = false
            if case .success(let rows) = fresh, block.spare == nil { block.spare = rows }
        }
    }
}

extension StoreFile {
    /// Takes `count` row numbers on the writer's thread, even while a save holds the exclusive turn.
    func leaseRows(_ count: UInt64, on writer: WriterThread) throws -> Range<UInt64> {
        if writer.isCurrent { return try leaseRows(count) }
        let leased = Locked(0..<0 as Range<UInt64>)
        let submission = Submission(
            .run { [self] in
                let rows = try leaseRows(count)
                leased.withLock { $0 = rows }
            })
        guard writer.submit(submission) else {
            throw StrataError(.storeClosed, "The store is closed.", context: .init(path: path))
        }
        do {
            _ = try submission.wait()
        } catch {
            throw publicError(error, during: "leasing row numbers")
        }
        return leased.withLock { $0 }
    }

    /// Takes `count` row numbers in a commit of their own, synced whatever the durability.
    func leaseRows(_ count: UInt64) throws -> Range<UInt64> {
        var leased: Range<UInt64> = 0..<0
        try write { transaction in
            let start = try nextRow(transaction)
            guard start + count < ObjectID.localRowBit else {
                throw StrataError(.persistentStoreOperation, "The store has no row numbers left.")
            }
            leased = start..<start + count
            try writeNextRow(start + count, transaction)
        }
        if options.durability != .full, case .readWrite = environment.options.access { try environment.sync(.forced) }
        return leased
    }

    /// The first row number that is not leased. If the counter is lost, as in a store made from a log, it restarts a
    /// block above the largest row.
    private func nextRow(_ transaction: WriteTransaction) throws -> UInt64 {
        let stored = try StoreFile.withKey("rows") { try transaction.get(tables.state, $0) }
        if let stored, stored.count == 8 { return UInt64(littleEndian: stored.loadUnaligned(as: UInt64.self)) }
        var largest: UInt64 = 0
        for table in [tables.objects, tables.tombstones] {
            try transaction.withCursor(table) { cursor in
                var found = try cursor.first()
                while found {
                    largest = max(largest, StoreKey.objectID(cursor.key, at: 0).row)
                    found = try cursor.next()
                }
            }
        }
        return largest == 0 ? 1 : largest + (1 << 20)
    }

    private func writeNextRow(_ row: UInt64, _ transaction: WriteTransaction) throws {
        try withUnsafeBytes(of: row.littleEndian) { value in
            try StoreFile.withKey("rows") { try transaction.put(tables.state, $0, value) }
        }
    }
}
