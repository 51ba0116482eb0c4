import LMDB
import Locking
import Logging
package import StrataModel

extension Store {
    /// Removes objects, or values of theirs, from the present and from all of the past, and overwrites every byte of
    /// the store's files that held them.
    ///
    /// Objects erased whole are deleted by the rules of the model. Their events stay, without values.
    ///
    /// - Returns: the counts of the erasure. If others hold pages or files, `waiting` says so; the rest is done by
    ///   `finishErasures()`, or when the store is opened next.
    /// - Throws: `readOnly`; what refuses a deletion; `validationMissingMandatoryProperty`, `unknownKey` for values
    ///   that cannot be erased alone. Then nothing was erased.
    /// - Complexity: O(n) in the events of the objects, and a read of the whole file.
    package func erase(_ request: ErasureRequest, progress: ProgressHandler? = nil) throws -> ErasureReport {
        if isReadOnly {
            throw StrataError(.readOnly, "The store is open for reading only.", context: .init(path: path))
        }
        if let node = node.withLock({ $0 }) {
            try refuseTruncated(node)
            try node.checkMayRewrite()
        }
        let start = ContinuousClock.now
        let finish = erasureFinish
        let result = Locked(ErasureReport())
        do {
            try onWriter { [self] in
                let subjects = try subjects(of: request)
                // The key store is asked before anything is written, so that its failure leaves the store as it was.
                _ = try keyRing.subjectKeyCounts(subjects)
                guard let first = try finish.run.begin(request, subjects) else { return }
                var report = ErasureReport()
                report.add(first)
                try finish.run(&report, progress)
                result.withLock { $0 = report }
            }
        } catch {
            finish.forgetValues()
            throw file.publicError(error, during: "erasing")
        }
        feed.notify()
        return result.withLock { report in
            report.duration = ContinuousClock.now - start
            return report
        }
    }

    /// The shared log has transactions that this store has dropped, and would keep the values in them.
    private func refuseTruncated(_ node: LogNode) throws {
        guard let baseline = try baseline() else { return }
        let cut = try node.contact.ask { () throws(SharedLogFailure) in try node.log.upkeep.beginning().cut }
        if baseline.transaction <= cut.transaction { return }
        throw StrataError(
            .historyDropped,
            "The history of this store was truncated, and the shared log \(node.connection.name) has values that the "
                + "store does not have any more. Erase them from a store with the whole log: "
                + "strata erase with the address of the log.",
            context: .init(path: path, baseline: baseline.summary))
    }

    /// The result that an erasure would have on the log. Writes nothing.
    ///
    /// - Throws: as `erase`.
    package func planErasure(_ request: ErasureRequest) throws -> ErasureReport {
        let run = ErasureRun(file: file, blobs: blobs)
        let result = Locked(ErasureReport())
        do {
            try onWriter { [self] in
                guard let step = try run.plan(request) else { return }
                let keys = try keyRing.subjectKeyCounts(try subjects(of: request))
                result.withLock {
                    $0.add(step)
                    ($0.destroyedKeyCount, $0.missingKeyCount) = keys
                }
            }
        } catch {
            throw file.publicError(error, during: "planning an erasure")
        }
        return result.withLock { $0 }
    }

    /// Does the work that an erasure had to leave for later.
    ///
    /// - Returns: nil if nothing was left.
    package func finishErasures(progress: ProgressHandler? = nil) throws -> ErasureReport? {
        let start = ContinuousClock.now
        let finish = erasureFinish
        guard try finish.isDue else { return nil }
        let result = Locked<ErasureReport?>(nil)
        do {
            try onWriter {
                // The thread that receives may have finished it meanwhile.
                guard try finish.isDue else { return }
                var report = ErasureReport()
                try finish.run(&report, progress)
                result.withLock { $0 = report }
            }
        } catch {
            throw file.publicError(error, during: "finishing an erasure")
        }
        return result.withLock { report in
            report?.duration = ContinuousClock.now - start
            return report
        }
    }

    /// Finishes erasures without the store, which may be closed by then.
    var erasureFinish: ErasureFinish {
        ErasureFinish(
            file: file, blobs: blobs, snapshots: snapshots, conversions: conversions, node: node.withLock { $0 })
    }

    /// Finishes an interrupted erasure when the store is opened. Where the shared log cannot be reached, the thread that
    /// receives does so later.
    func resumeErasure(_ progress: ProgressHandler?) throws {
        let finished: ErasureReport?
        do {
            finished = isReadOnly ? nil : try finishErasures(progress: progress)
        } catch let error as StrataError where error.code == .logUnavailable || error.code == .inDoubt {
            return
        }
        guard let report = finished else { return }
        let rest = report.waiting.joined(separator: "; ")
        StoreLogger.shared.notice(
            "finished an erasure that was interrupted\(rest.isEmpty ? "" : ", but for this: \(rest)")")
    }

    /// The erasures that the log records after an event, oldest first.
    package func erasures(since eventNumber: EventNumber = .zero) throws -> [RecordedErasure] {
        try checkOpen()
        return try file.read { transaction, head, histories in
            guard
                try StoreFile.meta("header", file.tables, transaction).map({ try StoreHeader($0) })?.hasErasures == true
            else { return [] }
            let log = LogReader(transaction, file.tables, histories)
            return try ErasureList.all(transaction, file.tables)
                .filter { $0.eventNumber > eventNumber && $0.eventNumber <= head }
                .map { erasure in
                    let number = try log.event(erasure.eventNumber) { $0.header.transaction }
                    guard let made = try log.transaction(number) else {
                        guard let baseline = try log.baseline(), erasure.eventNumber <= baseline.event else {
                            throw StrataError(.corrupt, "A transaction of the log is missing: \(number).")
                        }
                        // The history was truncated behind it. The id is the same whenever it is asked for.
                        return RecordedErasure(
                            eventNumber: erasure.eventNumber, transactionID: onceID("erasure \(erasure.eventNumber)"),
                            date: baseline.date, author: nil, metadata: [:], record: erasure.record,
                            storeIdentifier: identifier)
                    }
                    return RecordedErasure(
                        eventNumber: erasure.eventNumber, transactionID: made.id, date: made.date,
                        author: made.author, metadata: made.metadata, record: erasure.record,
                        storeIdentifier: identifier)
                }
        }
    }

    /// The kept transactions from whose records or events something was erased, ascending.
    ///
    /// - Complexity: O(events of the kept history).
    package func erasedTransactions() throws -> [TransactionNumber] {
        try readLog { log, head in
            var found: Set<TransactionNumber> = []
            let baseline = try log.baseline()
            let first = (baseline?.event ?? .zero).advanced(by: 1)
            try log.events(from: first, through: head.event) { event, _ in
                if event.header.flags.contains(.redacted) { found.insert(event.header.transaction) }
                return true
            }
            var number = (baseline?.transaction ?? .zero).rawValue + 1
            while number <= head.transaction.rawValue {
                let next = TransactionNumber(rawValue: number)
                if try log.transaction(next)?.isErased == true { found.insert(next) }
                number += 1
            }
            return found.sorted()
        }
    }
}

extension ErasureReport {
    mutating func add(_ step: ErasureStep) {
        objects += step.objects
        droppedObjects += step.droppedObjects
        deletedCount += step.deletedCount
        deletedOthers += step.deletedOthers
        eventCount += step.eventCount
        transactionCount += step.transactionCount
    }

    mutating func add(_ other: ErasureReport) {
        objects += other.objects
        droppedObjects += other.droppedObjects
        deletedCount += other.deletedCount
        deletedOthers += other.deletedOthers
        eventCount += other.eventCount
        transactionCount += other.transactionCount
        fileCount += other.fileCount
        destroyedKeyCount += other.destroyedKeyCount
        missingKeyCount += other.missingKeyCount
        removedCopies += other.removedCopies
        isRebuilt = isRebuilt || other.isRebuilt
        changedPageCount += other.changedPageCount
        freePageCount += other.freePageCount
        waiting = other.waiting
        duration += other.duration
    }
}
