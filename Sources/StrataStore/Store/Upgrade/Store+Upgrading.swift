import LMDB
import Locking
import StrataModel

extension Store {
    /// Moves the events of a store into the form that this version writes: those behind the newest go into blocks.
    ///
    /// The log has the same events afterwards. It goes in commits of bounded size, between which saves and reads go on.
    /// One that is interrupted has moved fewer events, and the next goes on from there.
    ///
    /// - Parameters:
    ///   - newest: how many events at the end of the log stay as they are; nil for as many as saves leave.
    ///   - goesOn: asked after each commit.
    /// - Throws: `readOnly`, `noSpace`, `corrupt`.
    /// - Complexity: O(events), in memory O(events of one commit).
    package func upgrade(
        keeping newest: Int? = nil, progress: ProgressHandler? = nil, while goesOn: () -> Bool = { true }
    ) throws -> UpgradeReport {
        if isReadOnly {
            throw StrataError(.readOnly, "The store is open for reading only.", context: .init(path: path))
        }
        let clock = ContinuousClock()
        let start = clock.now
        var report = UpgradeReport(before: try form())
        let limits = file.tables.packing
        let newest = newest ?? limits.newestApart
        let first = try packedEnd()
        let total = try Int(clamping: max(first, lastToPack(newest)) - first)
        var end = first
        progress?(StoreProgress(phase: "packing events", done: 0, total: total))
        while try end < lastToPack(newest) {
            let reached = try pack(keeping: newest, atMost: limits.eventsInOneCommit)
            guard reached > end else { break }
            end = reached
            report.stepCount += 1
            progress?(StoreProgress(phase: "packing events", done: Int(clamping: end - first), total: total))
            guard goesOn() else { break }
        }
        let after = try form()
        report.packedEventCount = max(0, report.before.singleCount - after.singleCount)
        report.after = after
        report.duration = clock.now - start
        return report
    }

    /// The counts of what an upgrade would look at; writes nothing.
    ///
    /// - Complexity: O(records of the log).
    package func plannedUpgrade(keeping newest: Int? = nil) throws -> UpgradeReport {
        var report = UpgradeReport(before: try form())
        let end = try lastToPack(newest ?? file.tables.packing.newestApart)
        report.packedEventCount = try countSingle(after: packedEnd(), through: end)
        return report
    }

    // MARK: Steps

    private func lastToPack(_ newest: Int) throws -> UInt64 {
        let head = try head().rawValue
        return head - min(head, UInt64(max(0, newest)))
    }

    private func packedEnd() throws -> UInt64 {
        try file.environment.read { try LogPacking.end(file.tables, $0) }
    }

    private func pack(keeping newest: Int, atMost count: Int) throws -> UInt64 {
        let reached = Locked<UInt64>(0)
        do {
            try onWriter { [file] in
                let end = try file.write { transaction in
                    try LogPacking(tables: file.tables, transaction: transaction)
                        .run(to: file.readHead(transaction).event, keeping: newest, atMost: count)
                }
                reached.withLock { $0 = end }
            }
        } catch {
            throw file.publicError(error, during: "upgrading")
        }
        return reached.withLock { $0 }
    }

    // MARK: The form

    private func form() throws -> UpgradeReport.Form {
        let use = try usage()
        return try file.read { transaction, _, _ in
            var (events, records, blocks) = (0, 0, 0)
            try transaction.withCursor(file.tables.events) { cursor in
                var found = try cursor.first()
                while found {
                    records += 1
                    if EventBlock.isBlock(cursor.value) {
                        blocks += 1
                        events += try EventBlock.count(cursor.value)
                    } else {
                        events += 1
                    }
                    found = try cursor.next()
                }
            }
            // Another process may have changed it since the store was opened.
            let header = try StoreFile.meta("header", file.tables, transaction).map { try StoreHeader($0) }
            return UpgradeReport.Form(
                eventCount: events, recordCount: records, blockCount: blocks, fileSizeInBytes: use.fileSizeInBytes,
                logSizeInBytes: use.logSizeInBytes, freeSizeInBytes: use.freeSizeInBytes,
                features: (header ?? file.header).features)
        }
    }

    private func countSingle(after start: UInt64, through end: UInt64) throws -> Int {
        try file.read { transaction, _, _ in
            try transaction.withCursor(file.tables.events) { cursor in
                var count = 0
                var found = try cursor.seek(atOrAfter: start + 1)
                while found, StoreKey.objectID(cursor.key, at: 0).rawValue <= end {
                    if !EventBlock.isBlock(cursor.value) { count += 1 }
                    found = try cursor.next()
                }
                return count
            }
        }
    }
}

extension UpgradeReport.Form {
    /// The events that have records of their own.
    fileprivate var singleCount: Int { recordCount - blockCount }
}
