package import Foundation
package import StrataModel

extension Store {
    /// Makes erasures in a copy that no process has opened yet.
    ///
    /// - Throws: `persistentStoreTimeout` if something keeps an erasure from being completed.
    package static func make(_ erasures: [RecordedErasure], in folder: URL) throws {
        if erasures.isEmpty { return }
        var options = StoreOptions()
        options.createsIfMissing = false
        let copy = try Store.open(.directory(folder), model: nil, options: options)
        defer { copy.close() }
        let erased = try copy.apply(erasures)
        guard erased.isComplete else {
            throw StrataError(
                .persistentStoreTimeout,
                "The erasures could not be completed in the copy: \(erased.waiting.joined(separator: "; ")). Try again."
            )
        }
    }

    /// Makes erasures in a copy that no process has opened yet, and verifies it again.
    static func erase(
        _ erasures: [RecordedErasure], in folder: URL, _ progress: ProgressHandler?
    ) throws -> BackupReport {
        try make(erasures, in: folder)
        var options = StoreOptions()
        options.isReadOnly = true
        let copy = try Store.open(.directory(folder), model: nil, options: options)
        defer { copy.close() }
        let verification = try copy.verify(.full, progress: progress)
        guard verification.isSound else {
            throw StrataError(
                .corrupt,
                "The verification after the erasures found \(CountText.of(verification.problemCount, "problem")).",
                details: verification.problems.map { StrataError(.corrupt, $0.description) })
        }
        return BackupReport(
            verification: verification, blobCount: copy.blobs.usage.count,
            blobSizeInBytes: copy.blobs.usage.sizeInBytes)
    }
}

extension Store {
    /// Makes erasures of another copy of this store in this one, before anyone reads it. Those that it has are passed
    /// over.
    ///
    /// Objects whose deletion the rules of the model refuse here stay, with their links and without values.
    ///
    /// - Throws: as `erase`, except for what the rules refuse; `persistentStoreOperation` if they are those of another
    ///   store.
    package func apply(_ erasures: [RecordedErasure]) throws -> ErasureReport {
        guard erasures.allSatisfy({ $0.storeIdentifier == nil || $0.storeIdentifier == identifier }) else {
            throw StrataError(
                .persistentStoreOperation, "The erasures are those of another store; nothing was erased.",
                context: .init(path: path))
        }
        // After a truncation the transaction of an erasure is gone; its event number still identifies it.
        let own = try self.erasures()
        let missing = erasures.filter { erasure in
            erasure.storeIdentifier == nil || !own.contains { $0.isSame(as: erasure) }
        }
        try noteElsewhere(missing)
        var total = ErasureReport()
        for erasure in missing {
            total.add(try make(erasure))
        }
        return total
    }

    private func make(_ erasure: RecordedErasure) throws -> ErasureReport {
        var note = MaintenanceNote(author: erasure.author, metadata: erasure.metadata)
        note.id = erasure.transactionID
        var request = ErasureRequest(objects: erasure.record.objects, note: note)
        request.properties = erasure.record.properties
        request.isFromList = true
        return try make(request)
    }

    /// Makes an erasure of another copy. No rule of the model keeps values: objects whose deletion a rule refuses stay
    /// with their links and without values. An erasure that is too large for one save is made in parts.
    private func make(_ request: ErasureRequest) throws -> ErasureReport {
        do {
            return try erase(request)
        } catch let error as StrataError where error.code == .saveTooLarge && request.objects.count > 1 {
            let middle = request.objects.count / 2
            var (first, second) = (request, request)
            first.objects = Array(request.objects[..<middle])
            first.note.id = onceID("erasure \(request.note.id), first part")
            second.objects = Array(request.objects[middle...])
            var report = try make(first)
            report.add(try make(second))
            return report
        } catch let error as StrataError where error.isRefusedByRules && request.properties.isEmpty {
            let staying = error.code == .saveTooLarge ? Set(request.objects) : try undeletable(request)
            var (values, whole) = (request, request)
            values.objects = staying.sorted()
            values.properties = try file.read { _, _, histories in
                try ErasedProperties.all(of: Set(staying.map(\.entityID)), histories).sorted()
            }
            values.note.id = onceID("erasure \(request.note.id) of objects that stay")
            whole.objects.removeAll(where: staying.contains)
            var report = try make(values)
            report.add(try erase(whole))
            return report
        }
    }

    /// The objects of an erasure that the rules of the model keep from being deleted.
    ///
    /// - Complexity: O(n) plans of an erasure, for n objects.
    private func undeletable(_ request: ErasureRequest) throws -> Set<ObjectID> {
        var rest = request
        var staying: Set<ObjectID> = []
        while !rest.objects.isEmpty, let refusal = try refusal(of: rest) {
            // An object may be refused for itself, as with the rule to deny, or because of others; a plan for each
            // object decides.
            var refused = refusal.objects.intersection(rest.objects)
            if refused.isEmpty {
                refused = try Set(
                    rest.objects.filter { id in
                        var alone = rest
                        alone.objects = [id]
                        return try self.refusal(of: alone) != nil
                    })
            }
            if refused.isEmpty { refused = Set(rest.objects) }
            staying.formUnion(refused)
            rest.objects.removeAll(where: refused.contains)
        }
        return staying
    }

    /// Returns the error with which the model's rules refuse an erasure; nil if they do not.
    private func refusal(of request: ErasureRequest) throws -> StrataError? {
        do {
            _ = try planErasure(request)
            return nil
        } catch let error as StrataError where error.isRefusedByRules {
            return error
        }
    }
}

extension Store {
    /// Notes the texts that erasures of another log have removed from transactions that this log has from there.
    private func noteElsewhere(_ erasures: [RecordedErasure]) throws {
        let others = try erasures.filter { try !$0.record.transactions.isEmpty && !hasTransaction($0.transactionID) }
        try noteElsewhere(others.map(\.record))
    }

    /// Notes the texts that erasures which this log does not record have removed from its transactions.
    package func noteElsewhere(_ records: [ErasureRecord]) throws {
        if records.isEmpty { return }
        do {
            try onWriter { [file] in
                try file.write { transaction in
                    for record in records {
                        let payload = try MaintenanceRecord.erased(record).encoded()
                        try ErasureList.putElsewhere(payload.bytes, transaction, file.tables)
                    }
                    try file.noteErasures(transaction)
                }
            }
        } catch {
            throw file.publicError(error, during: "noting erasures")
        }
    }
}

extension StrataError {
    /// Whether rules of the model, or limits of one save, refused a deletion.
    fileprivate var isRefusedByRules: Bool {
        (1550...1699).contains(code.rawValue) || [.merge, .constraintMerge, .saveTooLarge].contains(code)
    }

    /// The objects that the error and its details are about.
    fileprivate var objects: Set<ObjectID> {
        details.reduce(into: context.objectID.map { [$0] } ?? []) { $0.formUnion($1.objects) }
    }
}

extension LogFrame {
    /// The erasures that the transaction records.
    package func erasures() throws -> [RecordedErasure] {
        try withRecords { _, events in
            var found: [RecordedErasure] = []
            for (offset, bytes) in events.enumerated() {
                guard let erasure = try EventView(bytes).erasure() else { continue }
                found.append(
                    RecordedErasure(
                        eventNumber: record.firstEvent.advanced(by: offset), transactionID: record.id,
                        date: record.date, author: record.author, metadata: record.metadata, record: erasure))
            }
            return found
        }
    }
}
