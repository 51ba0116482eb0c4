import LMDB
import Locking
package import StrataModel

/// The result of a thinning of the history of entities, or of a plan for it.
package struct ThinningReport: Sendable {
    /// The entities, with those below them, by number.
    package var entities: [EntityID]
    /// The last event up to which values that later ones replace are gone; zero if nothing was to be done.
    package var cut: EventNumber
    /// The moment that was asked for.
    package var wanted: EventNumber
    /// The number of events that lost values.
    package var changedEvents = 0
    /// The holders of a part of the history that was to be thinned, oldest first.
    package var holds: [HistoryHold]
    package var duration: Duration
}

extension Store {
    /// Returns the events up to which the history of each entity is thinned.
    package func thinnedEntities() throws -> [EntityID: ThinnedEntity] {
        try readLog { log, _ in try ThinnedEntities.all(log.transaction, log.tables) }
    }

    /// Drops the values of some entities that were replaced before a moment. The events stay, with their times and links,
    /// and lead to the same state at the moment.
    ///
    /// It goes in commits of bounded size, between which saves and reads go on. One that is interrupted is taken up by the
    /// next one.
    ///
    /// - Parameters:
    ///   - names: of entities; those below them go with them.
    ///   - eventNumber: the last event of a transaction; the state after it stays.
    ///   - goesOn: asked after each commit.
    /// - Throws: `unknownEntity`, `readOnly`, `futureEvent`, `noSpace`, `persistentStoreTimeout`, `corrupt`;
    ///   `persistentStoreOperation` for a store with a shared log.
    /// - Complexity: O(events up to the moment), the second time O(events since the last one) and the way back to what
    ///   they replace; and a rebuild where an index has left the model since the events. In memory some 60 bytes for each object that was changed.
    package func thinHistory(
        of names: [String], through eventNumber: EventNumber, force: TruncationForce = .none, _ note: MaintenanceNote,
        limits: TrimLimits = TrimLimits(), progress: ProgressHandler? = nil, while goesOn: () -> Bool = { true }
    ) throws -> ThinningReport {
        let clock = ContinuousClock()
        let start = clock.now
        try checkMayThin()
        var report = try planThinning(of: names, through: eventNumber, force: force)
        guard report.cut > .zero else { return report }
        var work = ThinningWork(report, try thinnedEntities(), note)
        var counter = ProgressCounter("thinning events", total: Int(clamping: report.cut.rawValue), progress)
        var limits = limits
        let least = limits
        if waitingSaveCount == 0 { limits.eventsInOneCommit = limits.eventsInFirstCommit }
        var end = try head()
        while !work.isDone {
            // A reader may have come meanwhile.
            guard try planThinning(of: names, through: report.cut, force: force).cut >= report.cut else { break }
            let (began, before) = (clock.now, work.position)
            try run(&work, over: limits.eventsInOneCommit)
            if work.position < before { counter.step(Int(clamping: before.rawValue - work.position.rawValue)) }
            guard goesOn() else { break }
            let (seen, now) = (end, try head())
            end = now
            if !work.isDone {
                let isAlone = now.rawValue <= seen.rawValue + 1 && waitingSaveCount == 0
                pause(after: clock.now - began, isAlone: isAlone, &limits, least)
            }
        }
        if work.mustRebuild { _ = try finishErasures(progress: progress) }
        snapshots.lag.removeAll()
        conversions.removeAll()
        if work.changedEvents > 0 {
            if blobs.hasFiles { sweepBlobsInBackground() }
            feed.notify()
        }
        report.changedEvents = work.changedEvents
        report.duration = clock.now - start
        return report
    }

    /// The result that a thinning would have; writes nothing.
    ///
    /// - Throws: as `thinHistory`.
    package func thinningPlan(
        of names: [String], through eventNumber: EventNumber, force: TruncationForce = .none
    ) throws -> ThinningReport {
        var report = try planThinning(of: names, through: eventNumber, force: force)
        guard report.cut > .zero else { return report }
        let work = ThinningWork(report, try thinnedEntities(), MaintenanceNote(author: nil))
        report.changedEvents = try readLog { [file] log, _ in try work.plan(file, log.transaction) }
        return report
    }

    private func checkMayThin() throws {
        if isReadOnly {
            throw StrataError(.readOnly, "The store is open for reading only.", context: .init(path: path))
        }
        if node.withLock({ $0 }) != nil {
            throw StrataError(
                .persistentStoreOperation,
                "A store with a shared log keeps the history of all its entities alike; truncate the whole history "
                    + "instead.", context: .init(path: path))
        }
    }

    private func planThinning(
        of names: [String], through eventNumber: EventNumber, force: TruncationForce
    ) throws -> ThinningReport {
        var entities: Set<EntityID> = []
        let schema = try newestSchema()
        for name in names {
            guard let schema, let entity = schema.entity(named: name) else {
                throw schema?.unknownEntity(name) ?? StrataError(.invalidModel, "The store has no model.")
            }
            entities.formUnion(entity.concreteEntityIDs)
        }
        let plan = try planTruncation(through: eventNumber, force: force)
        var report = ThinningReport(
            entities: entities.sorted(), cut: plan.target > .zero ? plan.end : .zero, wanted: eventNumber,
            holds: plan.report.holds, duration: .zero)
        let known = try thinnedEntities()
        if entities.allSatisfy({ known[$0].map { $0.done >= report.cut } ?? false }) { report.cut = .zero }
        return report
    }

    /// The error for a copy of a past state that lacks values of an entity; nil if it has them.
    func refusalOfThinned(at eventNumber: EventNumber) throws -> StrataError? {
        try readLog { log, _ in
            let thinned = try ThinnedEntities.all(log.transaction, log.tables).filter { eventNumber < $0.value.cut }
            return try thinned.keys.min().map { try ThinnedEntities.refusal(eventNumber, $0, log) }
        }
    }

    func newestSchema() throws -> Schema? { try file.read { _, _, histories in histories.newest } }

    /// Makes the next commit.
    private func run(_ work: inout ThinningWork, over count: Int) throws {
        let result = Locked(work)
        do {
            try onWriter { [file] in
                try result.withLock { work in
                    try file.write { transaction in try work.run(over: count, file, transaction) }
                }
            }
        } catch {
            throw file.publicError(error, during: "thinning the history")
        }
        work = result.withLock { $0 }
    }
}
