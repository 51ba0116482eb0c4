import LMDB
import StrataModel

/// A thinning from its first commit to its last.
///
/// The first commit that changes an event records the thinning in the log; the last one says that it is complete.
struct ThinningWork: Sendable {
    private let entities: [EntityID]
    private let cut: EventNumber
    private let done: EventNumber
    private let note: MaintenanceNote
    private var pass: Thinning
    private var isRecorded: Bool
    private(set) var changedEvents = 0
    private(set) var isDone = false
    /// Whether the views are to be rebuilt at the end; a mark of erasures says so, too.
    private(set) var mustRebuild = false

    init(_ plan: ThinningReport, _ known: [EntityID: ThinnedEntity], _ note: MaintenanceNote) {
        entities = plan.entities
        cut = plan.cut
        done = plan.entities.map { known[$0]?.done ?? .zero }.min() ?? .zero
        isRecorded = plan.entities.allSatisfy { known[$0].map { $0.cut >= plan.cut } ?? false }
        self.note = note
        pass = Thinning(Set(plan.entities), after: done, through: plan.cut)
    }

    /// The newest event that no step has come to.
    var position: EventNumber { pass.position }

    /// Makes one commit.
    mutating func run(over count: Int, _ file: StoreFile, _ transaction: WriteTransaction) throws {
        let step = try pass.run(over: count, file, transaction)
        changedEvents += step.changedEvents
        if step.changedEvents > 0, !isRecorded {
            try record(file, transaction)
            isRecorded = true
        }
        if pass.mustRebuild { try markRebuild(file, transaction) }
        guard step.isDone else { return }
        if let next = pass.nextPass {
            pass = Thinning(Set(entities), after: done, through: cut, pass: next)
        } else {
            try finish(file, transaction)
            isDone = true
        }
    }

    /// Counts the events that would lose values.
    func plan(_ file: StoreFile, _ transaction: ReadTransaction) throws -> Int {
        var (pass, count) = (pass, 0)
        while true {
            let step = try pass.plan(over: TrimLimits().mostEventsInOneCommit, file, transaction)
            count += step.changedEvents
            guard step.isDone else { continue }
            guard let next = pass.nextPass else { return count }
            pass = Thinning(Set(entities), after: done, through: cut, pass: next)
        }
    }

    /// Interrupted, it is made when the store is opened next.
    private mutating func markRebuild(_ file: StoreFile, _ transaction: WriteTransaction) throws {
        mustRebuild = true
        var mark = try ErasureMark.read(transaction, file.tables) ?? ErasureMark()
        if mark.mustRebuild { return }
        mark.mustRebuild = true
        try mark.write(transaction, file.tables)
    }

    private func record(_ file: StoreFile, _ transaction: WriteTransaction) throws {
        let record = ThinnedRecord(cut: cut, entities: entities)
        let description = TransactionDescription(id: note.id, author: note.author, metadata: note.metadata)
        let appended = try LogWriter.append(.thinned(record), description, file, transaction)
        try ThinnedEntities.note(record, at: appended.firstEvent, transaction, file.tables)
        let histories = try file.histories(for: file.readHead(transaction), transaction)
        try file.tables.clearViews(behind: cut, histories, transaction)
    }

    private func finish(_ file: StoreFile, _ transaction: WriteTransaction) throws {
        let known = try ThinnedEntities.all(transaction, file.tables)
        for entity in entities {
            var state = known[entity] ?? ThinnedEntity(cut: .zero, done: .zero, record: .zero)
            state.done = max(state.done, cut)
            try ThinnedEntities.put(state, entity, transaction, file.tables)
        }
    }
}
