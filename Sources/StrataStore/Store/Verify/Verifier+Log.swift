import Foundation
import LMDB
import StrataModel

extension Verifier {
    /// Checks head, transactions, events, digests and chains, in one walk along the log.
    func checkLog() {
        guard checkHead(), let head = log.head else {
            log.isReplayable = false
            return
        }
        do {
            try checkBaseline(head)
        } catch {
            log.isReplayable = false
            return note(.head, "baseline", "\(error)")
        }
        attempt("transactions") { try checkTransactions(head) }
        attempt("events") { try checkTableEnds(head) }
    }

    private func checkHead() -> Bool {
        do {
            guard let bytes = try StoreFile.meta("header", tables, transaction) else {
                note(.head, "header", "the store has no header")
                return false
            }
            let header = try StoreHeader(bytes)
            if header.format != StoreHeader.formatVersion {
                note(.head, "header", "it says format \(header.format), which is not known")
            }
            if let mark = try file.rebuildMark(transaction) {
                note(.head, "head", mark.refusal(path: file.path).message)
                return false
            }
            guard let head = try StoreFile.meta("head", tables, transaction) else {
                note(.head, "head", "the store has no head")
                return false
            }
            log.head = try LogHead(head)
            return true
        } catch {
            note(.head, "meta", "\(error)")
            return false
        }
    }

    private func checkTransactions(_ head: LogHead) throws {
        try transaction.withCursor(tables.events) { cursor in
            var walk = EventWalk(cursor, .whole)
            defer { walk.close() }
            try checkTransactions(head, &walk)
        }
    }

    private func checkTransactions(_ head: LogHead, _ walk: inout EventWalk) throws {
        var counter = ProgressCounter("reading the log", total: Int(head.event.rawValue), progress)
        let start = log.baseline ?? .start
        var digest = start.head.digest
        var next = start.event.advanced(by: 1)
        var microseconds = log.baseline?.head.microseconds ?? Int64.min
        var number = start.transaction.rawValue + 1
        while number <= head.transaction.rawValue {
            let transactionNumber = TransactionNumber(rawValue: number)
            number += 1
            guard let record = try record(transactionNumber) else {
                // Without the record it is unknown where the next transaction begins; continue where its successor
                // says.
                log.isReplayable = false
                digest = []
                next = .zero
                continue
            }
            log.transactionCount += 1
            if next != .zero, record.firstEvent != next {
                note(
                    .transaction, "transaction \(transactionNumber)",
                    "it begins at event \(record.firstEvent), not at \(next)")
            }
            if record.microseconds <= microseconds {
                note(.transaction, "transaction \(transactionNumber)", "its time is not after that of the one before")
            }
            microseconds = record.microseconds
            let computed = try checkEvents(of: record, digest, head, &walk, &counter)
            if record.isErased {
                if let computed { log.erasedTransactions[transactionNumber] = computed }
            } else if let computed, computed != record.digest {
                note(
                    .transaction, "transaction \(number)",
                    "its digest does not follow from its events and the digest before")
            }
            digest = record.digest
            next = EventNumber(rawValue: record.lastEvent.rawValue &+ 1)
        }
        checkEnd(head, next, digest, microseconds)
        checkErasedTransactions()
        attempt("state") { try checkThinnings() }
    }

    /// Compares the records that lost texts with the erasures that took them. A copy of an older state has erasures
    /// that were made later beside the log.
    private func checkErasedTransactions() {
        attempt("state") { log.hasErasureMark = try ErasureMark.read(transaction, tables) != nil }
        guard !log.erasedTransactions.isEmpty else { return }
        attempt("state") {
            for payload in try ErasureList.elsewhere(transaction, tables) {
                for changed in try ErasureList.record(payload).transactions
                where changed.digest == log.erasedTransactions[changed.number] {
                    log.erasedDigests[changed.number] = changed.digest
                }
            }
        }
        for (number, digest) in log.erasedTransactions.sorted(by: { $0.key < $1.key })
        where log.erasedDigests[number] != digest {
            note(.transaction, "transaction \(number)", "texts were erased from it by no erasure of the log")
        }
    }

    private func note(_ erasure: ErasureRecord) {
        for changed in erasure.transactions { log.erasedDigests[changed.number] = changed.digest }
    }

    private func checkEnd(_ head: LogHead, _ next: EventNumber, _ digest: [UInt8], _ microseconds: Int64) {
        if next != .zero, next.rawValue != head.event.rawValue + 1 {
            note(
                .head, "head",
                "it says that event \(head.event) is the last, the transactions end at \(next.rawValue - 1)")
        }
        if !digest.isEmpty, digest != head.digest {
            note(.head, "head", "its digest is not that of the last transaction")
        }
        if head.transaction > .zero, head.microseconds != microseconds {
            note(.head, "head", "its time is not that of the last transaction")
        }
        let newest = log.models.last?.version.rawValue ?? 0
        if log.isReplayable, head.modelVersion.rawValue != newest {
            note(.head, "head", "it says model \(head.modelVersion.rawValue), the newest in the log is \(newest)")
        }
    }

    private func record(_ number: TransactionNumber) throws -> TransactionRecord? {
        guard let bytes = try transaction.get(tables.transactions, number.rawValue) else {
            note(.transaction, "transaction \(number)", "it is missing")
            return nil
        }
        do {
            return try TransactionRecord(bytes, number: number)
        } catch {
            note(.transaction, "transaction \(number)", "\(error.reason)")
            return nil
        }
    }

    /// - Returns: the digest that the transaction should have; nil if it cannot be computed.
    private func checkEvents(
        of record: TransactionRecord, _ previous: [UInt8], _ head: LogHead, _ walk: inout EventWalk,
        _ counter: inout ProgressCounter
    ) throws -> [UInt8]? {
        guard let bytes = try transaction.get(tables.transactions, record.number.rawValue) else { return nil }
        var chain = EventDigest.Chain(previous: previous, record: bytes)
        var isWhole = !previous.isEmpty
        let last = min(record.lastEvent, head.event)
        guard record.firstEvent <= last, record.eventCount > 0 else {
            note(.transaction, "transaction \(record.number)", "its events are not in the log")
            log.isReplayable = false
            return nil
        }
        var found = try move(&walk) { try $0.seek(atOrAfter: record.firstEvent.rawValue) }
        for number in record.firstEvent.rawValue...last.rawValue {
            counter.step()
            let eventNumber = EventNumber(rawValue: number)
            guard found, walk.number == number else {
                // Those in a damaged block were noted with it.
                if walk.damaged?.contains(number) != true { note(.event, "event \(eventNumber)", "it is missing") }
                log.isReplayable = false
                isWhole = false
                continue
            }
            if walk.record.count >= EventHeader.size { chain.add(walk.record) } else { isWhole = false }
            check(walk, eventNumber, of: record)
            if number < last.rawValue { found = try move(&walk) { try $0.next() } }
        }
        return isWhole ? chain.finish() : nil
    }

    /// Moves along the log; damaged blocks are noted and passed over.
    func move(_ walk: inout EventWalk, _ step: (inout EventWalk) throws -> Bool) throws -> Bool {
        do {
            return try step(&walk)
        } catch let error as StrataError {
            guard var damaged = walk.damaged, walk.isBehindDamage else { throw error }
            log.isReplayable = false
            var reason = error.message
            while true {
                note(.event, "event \(damaged.lowerBound)", reason)
                do {
                    return try walk.seek(atOrAfter: damaged.upperBound + 1)
                } catch let error as StrataError {
                    guard let next = walk.damaged, walk.isBehindDamage else { throw error }
                    // The last block of the log.
                    if next.lowerBound <= damaged.upperBound { return false }
                    (damaged, reason) = (next, error.message)
                }
            }
        }
    }

    /// - Parameter record: nil for an event up to the baseline.
    func check(_ walk: borrowing EventWalk, _ eventNumber: EventNumber, of record: TransactionRecord?) {
        do {
            let event = try walk.view()
            log.eventCount += 1
            if let record, event.header.transaction != record.number {
                note(
                    .event, "event \(eventNumber)",
                    "it says transaction \(event.header.transaction), not \(record.number)")
            }
            if event.header.kind == .modelInstalled { try adoptModel(event) }
            if event.header.flags.contains(.redacted) { log.erasedEventCount += 1 }
            try noteThinning(event, eventNumber, record)
            if let erasure = try event.erasure() {
                note(erasure)
                log.erasures.append((erasure, record))
            }
            guard depth == .full else { return }
            // In a block it was computed.
            if !walk.isInBlock, !EventDigest.matches(event) {
                note(.payload, "event \(eventNumber)", "its payload does not match its digest")
            }
            try follow(event, eventNumber)
        } catch let error as CorruptRecord {
            log.isReplayable = false
            note(.event, "event \(eventNumber)", "\(error.reason)")
        } catch {
            log.isReplayable = false
            note(.event, "event \(eventNumber)", "\(error)")
        }
    }

    private func adoptModel(_ event: EventView) throws {
        let (version, data) = try event.installedModel()
        let schema = try file.histories.schema(of: data, version)
        if log.models.isEmpty { histories = SchemaHistory([]) }
        log.models.append((version, Array(data)))
        histories = histories.adding(schema)
    }

    /// Reports records after the head.
    private func checkTableEnds(_ head: LogHead) throws {
        try scanKeys(tables.events, after: head.event.rawValue) { number in
            note(.event, "event \(number)", "it is after the end of the log")
        }
        try scanKeys(tables.transactions, after: head.transaction.rawValue) { number in
            note(.transaction, "transaction \(number)", "it is after the end of the log")
        }
    }

    private func scanKeys(_ table: Table, after last: UInt64, _ body: (UInt64) -> Void) throws {
        try transaction.withCursor(table) { cursor in
            var found = try cursor.seek(atOrAfter: last + 1)
            while found {
                body(cursor.key.count == 8 ? StoreKey.objectID(cursor.key, at: 0).rawValue : 0)
                found = try cursor.next()
            }
        }
    }
}

// MARK: - Chains

extension Verifier {
    /// Compares the event with the previous one on the same row or pair.
    private func follow(_ event: EventView, _ eventNumber: EventNumber) throws {
        let kind = event.header.kind
        if kind.isOnPair { return try followPair(event, eventNumber) }
        guard kind.isOnRow else { return }
        let id = event.header.object
        let newest = log.objects.set(id, to: .init(eventNumber: eventNumber, isAlive: kind != .deleted))
        // An object may be restored after the cut that its deletion was before.
        let isRestored = kind == .inserted && newest == nil && event.header.previous <= log.cut
        if event.header.previous != newest?.eventNumber ?? .zero, !isRestored {
            note(
                .chain, "event \(eventNumber)",
                "it says that the event before it on \(name(id)) is \(event.header.previous), "
                    + "which is \(newest?.eventNumber ?? .zero)")
        }
        if kind == .inserted, newest?.isAlive ?? false {
            note(.chain, "event \(eventNumber)", "it inserts \(name(id)), which is there already")
        }
        if kind != .inserted, !(newest?.isAlive ?? false) {
            note(.chain, "event \(eventNumber)", "it changes \(name(id)), which is not there")
        }
        if !event.isBare { try countBlobs(event) }
    }

    private func followPair(_ event: EventView, _ eventNumber: EventNumber) throws {
        let pair = try event.pair()
        let newest = log.pairs[pair.key]
        if event.header.previous != newest ?? .zero {
            note(
                .chain, "event \(eventNumber)",
                "it says that the event before it on the same link is \(event.header.previous), "
                    + "which is \(newest ?? .zero)")
        }
        if (event.header.kind == .linked) != (newest == nil) {
            note(
                .chain, "event \(eventNumber)",
                "it \(newest == nil ? "changes a link that is not there" : "links what is linked")")
        }
        log.pairs[pair.key] = event.header.kind == .unlinked ? nil : eventNumber
    }

    /// Counts as the projector does: values in insertions, and new values in updates.
    private func countBlobs(_ event: EventView) throws {
        switch event.header.kind {
        case .inserted:
            let layout = try histories.layout(of: event.payload, id: event.header.object)
            let reader = try RowReader(event.payload, layout: layout)
            for slot in layout.variableSlots where layout.slots[slot].allowsExternalStorage {
                if let reference = try reader.blob(slot) { countBlob(reference) }
            }
        case .updated:
            for change in try event.changes() {
                if case .value(.blob(let reference)) = change.after { countBlob(reference) }
            }
        default: break
        }
    }

    private func countBlob(_ reference: BlobReference) {
        log.blobs[reference.digest, default: .init(count: 0, sizeInBytes: reference.sizeInBytes)].count += 1
    }
}
