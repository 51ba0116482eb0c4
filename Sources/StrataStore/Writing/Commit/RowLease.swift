import LMDB
import Logging
import Locking
import StrataModel

/// Hands out row numbers without I/O: a block is leased from the store, durably, before its first number is used.
///
/// The counter is in the `state` table, which no rebuild drops. So no number is given twice, even if a process ends
/// with unused numbers (rule 6 of CONTRIBUTING.md). The first block is small and the next ones grow, and a store that is
/// closed gives back what it has not used, so numbers stay small. `block` is guarded by its mutex, which is not held
/// during a commit.
final class RowLease: Sendable {
    private struct Block {
        var next: UInt64 = 0
        var end: UInt64 = 0
        /// The next block, leased when half of a large one is used.
        var spare: Range<UInt64>?
        /// The number of numbers left at which the next block is leased; zero if that has time until `next` needs it.
        var refillsAt: UInt64 = 0
        var isRefilling = false
        /// The size of the block that is leased next.
        var nextSize: UInt64

        init(size: UInt64) { nextSize = size }

        mutating func begin(_ rows: Range<UInt64>) {
            next = rows.lowerBound
            end = rows.upperBound
            refillsAt = rows.count >= RowLease.smallestAhead ? UInt64(rows.count) / 2 : 0
        }
    }

    private let block: Locked<Block>
    private let size: UInt64
    private static let firstSize: UInt64 = 64
    /// The size of the smallest block of which the next one is leased before it is used up.
    private static let smallestAhead = 4096
    /// How many times the size of a block the next one has, up to the full size.
    private static let growth: UInt64 = 8
    private let lease: @Sendable (UInt64) throws -> Range<UInt64>
    private let inBackground: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// - Parameters:
    ///   - size: the number of numbers in a block after the first, smaller ones.
    ///   - lease: takes that many numbers from the store, in a durable commit.
    ///   - inBackground: runs a job soon, on another thread.
    init(
        size: UInt64, lease: @escaping @Sendable (UInt64) throws -> Range<UInt64>,
        inBackground: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        self.size = size
        block = Locked(Block(size: min(size, Self.firstSize)))
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
                    block.begin(spare)
                    block.spare = nil
                }
                guard block.next < block.end else { return (nil, false) }
                defer { block.next += 1 }
                let refills = block.end - block.next == block.refillsAt && block.spare == nil && !block.isRefilling
                if refills { block.isRefilling = true }
                return (block.next, refills)
            }
            if refills { inBackground { self.refill() } }
            if let number { return number }
            let fresh = try leaseBlock()
            block.withLock { block in
                // Another thread may have been first. Then this block is the spare, or its numbers stay unused, which
                // is harmless.
                if block.next == block.end {
                    block.begin(fresh)
                } else if block.spare == nil {
                    block.spare = fresh
                }
            }
        }
    }

    private func leaseBlock() throws -> Range<UInt64> {
        let rows = try lease(block.withLock { $0.nextSize })
        block.withLock { $0.nextSize = min(size, UInt64(rows.count) * Self.growth) }
        return rows
    }

    /// Takes the numbers that were never given, the smallest first; none of them is given after this.
    func takeUnused() -> [Range<UInt64>] {
        block.withLock { block in
            let unused = [block.next..<block.end, block.spare ?? 0..<0].filter { !$0.isEmpty }
            block.next = block.end
            block.spare = nil
            return unused.sorted { $0.lowerBound < $1.lowerBound }
        }
    }

    /// A failure is logged; when the block is used up, `next` tries again and throws.
    private func refill() {
        let fresh = Result { try leaseBlock() }
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
        if let gate = gate.withLock({ $0 }) { return try gate.leaseRows(count) }
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
        let isSynced = options.durability == .full || options.durability == .journaled
        if !isSynced, case .readWrite = environment.options.access { try environment.sync() }
        return leased
    }

    /// Gives back row numbers that were never used, as far as no others were leased after them. They are lost, which is
    /// harmless, if another process is writing.
    ///
    /// - Parameter unused: the smallest first.
    func giveBackRows(_ unused: [Range<UInt64>]) {
        do {
            try environment.write(timeout: .milliseconds(100)) { transaction in
                var row = try nextRow(transaction)
                let before = row
                for rows in unused.reversed() where rows.upperBound == row { row = rows.lowerBound }
                if row < before { try writeNextRow(row, transaction) }
            }
        } catch {
            StoreLogger.shared.debug("unused row numbers could not be given back: \(error)")
        }
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

extension RowLease {
    /// The first row number that was never leased; the largest number if the counter is lost.
    static func firstUnleased(_ transaction: ReadTransaction, _ state: Table) throws -> UInt64 {
        let stored = try StoreFile.withKey("rows") { try transaction.get(state, $0) }
        guard let stored, stored.count == 8 else { return .max }
        return UInt64(littleEndian: stored.loadUnaligned(as: UInt64.self))
    }
}
