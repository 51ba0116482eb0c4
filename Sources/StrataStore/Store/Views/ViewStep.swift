import LMDB
import StrataModel

/// The next piece of work for a view that catches up or is being built: the changes of its groups, to be written in one
/// commit with how far it has come.
///
/// States of the past never change, so a step is made in a read transaction, while others save. It is written only if
/// the view is where the step began; so each event counts once, however many processes try. A step that was made before
/// an erasure has erased values, and is not written either. A step is made on one thread, handed to the writer, and not
/// used by the first again.
struct ViewStep: @unchecked Sendable {
    let view: PreparedView
    let model: ModelVersion
    /// The view's record before the step; nil without one.
    let before: ViewProgress?
    fileprivate(set) var after: ViewProgress
    /// Whether the view's groups are dropped first.
    fileprivate(set) var beginsAnew = false
    fileprivate let limits: ViewStepLimits
    /// Those of the state that the step was made in.
    fileprivate let losses: ValueLosses
    fileprivate let changes = GroupChanges()

    /// Whether the next step does not depend on the groups that this one writes, and groups further objects.
    var canBePreparedFor: Bool {
        after.isBegun && !after.isComplete && after.failure == nil && !view.hasProjections
    }

    /// Writes the changes.
    ///
    /// - Returns: false if the view or the model have moved on meanwhile, or the log has lost what the step was made of;
    ///   then nothing was written.
    func write(_ file: StoreFile, _ transaction: WriteTransaction) throws -> Bool {
        guard let views = file.tables.views, try file.readHeadEvent(transaction).model == model,
            try ViewProgress.read(view.id, transaction, file.tables) == before,
            try ValueLosses(transaction, file.tables) == losses, try isInHistory(file, transaction)
        else { return false }
        if beginsAnew { try file.tables.clear(view.id, transaction) }
        try changes.write(to: views, transaction)
        if view.isInline, try isLast(file, views, transaction) {
            // From here on saves keep it.
            try ViewProgress.remove(view.id, transaction, file.tables)
        } else {
            try after.write(view.id, transaction, file.tables)
        }
        return true
    }

    /// Whether the log still leads from the state of the step to the present. A truncation does not wait for a view that
    /// has no groups yet.
    private func isInHistory(_ file: StoreFile, _ transaction: ReadTransaction) throws -> Bool {
        guard after.isBegun, let baseline = try LogBaseline.read(transaction, file.tables) else { return true }
        return after.position >= baseline.event
    }

    /// Whether an inline view has the groups of all objects at the end of the log. If it is only little behind, the
    /// missing events are added here, under the writer's lock.
    private func isLast(_ file: StoreFile, _ views: ViewTables, _ transaction: WriteTransaction) throws -> Bool {
        guard after.isComplete, after.failure == nil else { return false }
        let head = try file.readHeadEvent(transaction).event
        guard head.rawValue - after.position.rawValue <= limits.eventsInLastStep else { return false }
        guard head > after.position else { return true }
        let histories = try file.histories(for: try file.readHead(transaction), transaction)
        guard let schema = histories.newest else { return false }
        try after.write(view.id, transaction, file.tables)
        do {
            let rest = try ViewStepMaker(view, file, transaction, head, histories, schema, limits).step(to: head)
            guard let rest, !rest.beginsAnew, rest.after.isComplete else { return false }
            try rest.changes.write(to: views, transaction)
            return true
        } catch is ViewFault {
            // The next step says which event it was.
            return false
        }
    }
}

/// Makes steps of one view in a read transaction.
struct ViewStepMaker {
    let file: StoreFile
    let transaction: ReadTransaction
    let head: EventNumber
    let histories: SchemaHistory
    let schema: Schema
    let view: PreparedView
    let before: ViewProgress?
    let limits: ViewStepLimits
    private let losses: ValueLosses

    /// - Parameter progress: the progress after a step that is not written yet; nil for that of the file.
    init(
        _ view: PreparedView, _ file: StoreFile, _ transaction: ReadTransaction, _ head: EventNumber,
        _ histories: SchemaHistory, _ schema: Schema, _ limits: ViewStepLimits, after progress: ViewProgress? = nil
    ) throws {
        self.file = file
        self.transaction = transaction
        self.head = head
        self.histories = histories
        self.schema = schema
        self.view = view
        self.limits = limits
        before = try progress ?? ViewProgress.read(view.id, transaction, file.tables)
        losses = try ValueLosses(transaction, file.tables)
    }

    /// The step to an event, or a part of the way if the view is being built.
    ///
    /// - Parameter target: the last event of a transaction.
    /// - Returns: nil if there is nothing to do.
    /// - Throws: `ViewFault` for an object that cannot be grouped.
    func step(to target: EventNumber) throws -> ViewStep? {
        var step = step(after: before ?? ViewProgress())
        if try !goesOn {
            step.after = ViewProgress()
            step.after.leftOut = before?.leftOut ?? []
            step.beginsAnew = true
        }
        if step.after.isComplete, step.after.position >= target, step.after.failure == nil { return nil }
        if step.after.isBegun, step.after.position < target {
            let progress = step.after
            try state(at: target).addDifference(
                of: view, from: state(at: progress.position), 1,
                where: { $0 < progress.next && !progress.leftOut.contains($0) }, to: step.changes)
        }
        if target == head || !step.after.isBegun {
            if !step.after.isComplete { try addObjects(to: &step) }
            step.after.position = head
        } else {
            step.after.position = target
        }
        step.after.failure = nil
        try step.changes.foresee(over: step.beginsAnew ? nil : file.tables.views, transaction)
        return step
    }

    /// The step that notes why the view cannot follow.
    func step(failing failure: ViewFailure) -> ViewStep {
        var step = step(after: before ?? ViewProgress())
        step.after.failure = failure
        return step
    }

    /// The step that leaves out the object that could not be grouped. A projection that cannot give it up, or whose type
    /// this process does not have, is made again without it.
    func stepLeavingOut(_ id: ObjectID) throws -> ViewStep {
        var step = step(after: before ?? ViewProgress())
        if step.after.isBegun, id < step.after.next {
            let state = try state(at: step.after.position)
            do {
                try state.row(id)?.withNewestReader(id, schema) {
                    try view.add($0, id, -1, Evaluation(state), to: step.changes)
                }
                if view.hasCode { try step.changes.foresee(over: file.tables.views, transaction) }
            } catch is ViewFault {
                step.beginsAnew = true
            }
            if view.hasProjections, step.beginsAnew || !view.hasCode {
                step = self.step(after: ViewProgress())
                step.after.leftOut = before?.leftOut ?? []
                step.beginsAnew = true
            }
        }
        step.after.leftOut.insert(id)
        step.after.failure = nil
        return step
    }

    private func step(after progress: ViewProgress) -> ViewStep {
        ViewStep(
            view: view, model: schema.version, before: before, after: progress, limits: limits, losses: losses)
    }

    /// Whether the view has groups, and there is not too much between their state and the present.
    var goesOn: Bool {
        get throws {
            guard let before, before.isBegun, before.position <= head else { return false }
            if head.rawValue - before.position.rawValue > limits.events { return false }
            if losses.mayLack(view.shownEntities, at: before.position) { return false }
            return try before.position >= LogBaseline.read(transaction, file.tables)?.event ?? .zero
        }
    }

    /// The state at an event. The views of a process make no use of each other's layers, so none are kept.
    func state(at eventNumber: EventNumber) throws -> Snapshot {
        let layers =
            eventNumber == head
            ? []
            : [try LagBuilder.layer(after: eventNumber, through: head, transaction, file, histories)]
        return Snapshot(
            eventNumber: eventNumber, schema: schema, transaction: transaction, tables: file.tables,
            histories: histories, layers: layers)
    }

    /// Groups the next objects of the present.
    private func addObjects(to step: inout ViewStep) throws {
        let state = try state(at: head)
        let evaluation = Evaluation(state)
        var count = 0
        let leftOut = step.after.leftOut
        let changes = step.changes
        for entity in view.entities.sorted() {
            guard let entity = schema.entity(entity),
                ObjectID(entity: entity.id, row: ObjectID.maximumRow) >= step.after.next
            else { continue }
            let next = try state.forEachStoredRow(of: entity, from: step.after.next) { row, id in
                if !leftOut.contains(id) {
                    try view.noting(id) { try view.add(row, id, 1, evaluation, to: changes) }
                }
                count += 1
                return count < limits.objects && changes.sizeInBytes < 32 << 20
            }
            if let next {
                step.after.next = next
                step.after.groupedCount += UInt64(count)
                return
            }
        }
        step.after.next = ViewProgress.end
        step.after.groupedCount += UInt64(count)
    }
}
