import Foundation
import LMDB
import StrataModel

/// One erasure, on the writer's thread: commits that change the log and the views.
///
/// The first commit deletes the objects, or sets the values to nil, like a save. The same commit, and as many more as
/// the number of events asks for, take the values out of the events of the objects, and record that. Until the last
/// one, and until the freed bytes are overwritten, a mark records the remaining work.
struct ErasureRun {
    let file: StoreFile
    let blobs: BlobStore
    /// The number of changed events after which a commit ends.
    var eventsInOneCommit = 50_000
    /// Whether the shared log loses the values of erasures that came with it without this store.
    var leavesLogToOthers = false

    /// Makes the first commit.
    ///
    /// - Returns: nil if the store has this erasure already.
    ///
    /// - Parameter subjects: whose keys are to be destroyed.
    func begin(_ request: ErasureRequest, _ subjects: [SubjectID] = []) throws -> ErasureStep? {
        try file.write { try begin(request, subjects, $0) }
    }

    /// Makes the first commit and abandons it.
    func plan(_ request: ErasureRequest) throws -> ErasureStep? {
        do {
            try file.write { (transaction) -> Void in
                throw PlannedErasure(step: try begin(request, [], transaction))
            }
            return nil
        } catch let planned as PlannedErasure {
            return planned.step
        }
    }

    /// Carries a plan out of the transaction, which is abandoned.
    private struct PlannedErasure: Error {
        let step: ErasureStep?
    }

    private func begin(
        _ request: ErasureRequest, _ subjects: [SubjectID], _ transaction: WriteTransaction
    ) throws -> ErasureStep? {
        if try file.transaction(id: request.note.id, transaction) != nil { return nil }
        var state = try ErasureCommit(file, transaction, properties: Self.properties(of: request, file, transaction))
        var mark = try ErasureMark.read(transaction, file.tables) ?? ErasureMark()
        guard mark.objects.isEmpty, mark.received.isEmpty else {
            throw StrataError(
                .persistentStoreTimeout, "Another erasure is not finished yet. Try again.",
                context: .init(path: file.path))
        }
        let objects = try state.known(Set(request.objects).sorted())
        guard !objects.isEmpty else { return ErasureStep(mark: mark) }
        (mark.author, mark.metadata) = (request.note.author, request.note.metadata)
        mark.properties = state.erased.properties?.sorted() ?? []
        mark.objects = objects
        mark.subjects += subjects
        if try state.isInOldViews(objects) { mark.mustRebuild = true }
        let deleted = try state.leave(objects, request.note, blobs, isFromList: request.isFromList)
        var made = try step(mark, &state, id: request.note.id)
        made.deletedCount = deleted.count
        made.deletedOthers = Set(deleted).subtracting(objects).sorted()
        return made
    }

    /// Makes the next commit.
    ///
    /// - Returns: nil if nothing is left of the events.
    func next() throws -> ErasureStep? {
        try file.write { transaction in
            guard let mark = try ErasureMark.read(transaction, file.tables) else { return nil }
            if let number = mark.received.first { return try follow(number, mark, transaction) }
            guard !mark.objects.isEmpty else { return nil }
            let properties = mark.properties.isEmpty ? nil : Set(mark.properties)
            var state = try ErasureCommit(file, transaction, properties: properties)
            return try step(mark, &state, id: .ofTransaction())
        }
    }

    /// Makes an erasure that the log records already, because it was made in the log that this one follows.
    private func follow(
        _ number: EventNumber, _ before: ErasureMark, _ transaction: WriteTransaction
    ) throws -> ErasureStep {
        var mark = before
        mark.received.removeFirst()
        let record = try ErasureList.record(at: number, transaction, file.tables)
        var state = try ErasureCommit(
            file, transaction, properties: record.properties.isEmpty ? nil : Set(record.properties), recordedAt: number)
        let objects = try state.known(record.objects)
        if try state.isInOldViews(objects) { mark.mustRebuild = true }
        for id in objects { try state.erase(id) }
        try state.clear(objects)
        if leavesLogToOthers { state.forgetUnshared() }
        try noteMore(than: record, state.changedTransactions, transaction)
        try state.write(mark)
        return ErasureStep(
            mark: mark, objects: objects, eventCount: state.eventCount,
            transactionCount: state.changedTransactions.count)
    }

    /// Notes the transactions that have lost texts here only: the other log had dropped them before the erasure.
    private func noteMore(
        than record: ErasureRecord, _ changed: [ErasureRecord.ChangedTransaction], _ transaction: WriteTransaction
    ) throws {
        let more = changed.filter { !record.transactions.contains($0) }
        guard !more.isEmpty else { return }
        let own = ErasureRecord(
            objects: record.objects, properties: record.properties, eventCount: 0, transactions: more)
        let payload = try MaintenanceRecord.erased(own).encoded()
        try ErasureList.putElsewhere(payload.bytes, transaction, file.tables)
        try file.noteErasures(transaction)
    }

    private static func properties(
        of request: ErasureRequest, _ file: StoreFile, _ transaction: ReadTransaction
    ) throws -> Set<PropertyID>? {
        let histories = try file.histories(for: file.readHead(transaction), transaction)
        if !request.properties.isEmpty { return Set(request.properties) }
        guard let names = request.attributes else { return nil }
        // The log records an erasure of no attributes as one of whole objects.
        if names.isEmpty {
            throw StrataError(
                .invalidRequest, "The erasure of values names no attribute. Name one, or erase whole objects.",
                context: .init(path: file.path))
        }
        let entities = try Set(request.objects.map(\.entityID)).compactMap {
            try histories.lastSchema(with: $0)?.entity($0)
        }
        return try ErasedProperties.numbers(of: names, in: entities.sorted { $0.id < $1.id }, histories)
    }

    private func step(
        _ before: ErasureMark, _ state: inout ErasureCommit, id: UUID
    ) throws -> ErasureStep {
        var mark = before
        var done = 0
        while done < mark.objects.count, state.eventCount < eventsInOneCommit {
            try state.erase(mark.objects[done])
            done += 1
        }
        let objects = Array(mark.objects[..<done])
        mark.objects.removeFirst(done)
        try state.finish(objects, mark, id: id)
        return ErasureStep(
            mark: mark, objects: objects, droppedObjects: try objects.filter { try !state.isThere($0) },
            eventCount: state.eventCount,
            transactionCount: state.changedTransactions.count)
    }
}

/// The result of one commit of an erasure.
struct ErasureStep {
    var mark: ErasureMark
    var objects: [ObjectID] = []
    var droppedObjects: [ObjectID] = []
    var deletedCount = 0
    /// The objects that the delete rules took with them.
    var deletedOthers: [ObjectID] = []
    var eventCount = 0
    var transactionCount = 0
}
