public import StrataModel
import StrataStore

/// The result of a truncation of the history of some entities, or of a plan for it.
public struct HistoryThinning: Sendable, Hashable {
    /// The last event up to which values that later events replace are gone; nil if there was nothing to do.
    public let eventNumber: EventNumber?
    /// The number of events that lost values.
    public let eventCount: Int
    /// The holders of a part of the history that was to be truncated, the one with the oldest moment first.
    public let holders: [HistoryHolder]
    /// The time that it took.
    public let duration: Duration

    init(_ report: ThinningReport) {
        eventNumber = report.cut == .zero ? nil : report.cut
        eventCount = report.changedEvents
        holders = report.holds.map(HistoryHolder.init)
        duration = report.duration
    }
}

extension PersistentContainer {
    /// Drops the values that objects of some entities had before a moment, and keeps the history of all others.
    ///
    /// ```swift
    /// let month = Date(timeIntervalSinceNow: -30 * 24 * 3600)
    /// try container.truncateHistory(ofEntities: ["Position"], before: .date(month), reason: "30 days are kept")
    /// ```
    ///
    /// The state at the moment stays, and everything since. Of what was before, the events stay, with their times,
    /// authors, links and the names of what they changed, but without values that were replaced up to the moment; of
    /// objects that were deleted by then no value stays. `HistoryEvent.isThinned` says so. Reading such an object in a
    /// state before the moment throws `historyDropped`, with the moment in `context.baseline`; so does undoing what such
    /// an event did. Objects of other entities read as before.
    ///
    /// It runs in commits of bounded size, between which saves and reads go on, and is a transaction of its own. One that
    /// is interrupted is taken up by the next one. Metadata of transactions, backups made before, and the files at a
    /// target of shipping stay as they are. Unlike an erasure it does not overwrite the freed bytes.
    ///
    /// - Parameters:
    ///   - names: subentities go with their entities.
    ///   - moment: nothing is dropped for one before the kept history.
    ///   - holders: whether it stops before what a tag, a subscription or a context of this process needs. Tags stay.
    ///   - reason: is kept with the transaction, as is the author.
    /// - Throws: `unknownEntity`, `futureEvent`, `unknownKey` for a tag that does not exist, `readOnly`, `noSpace`,
    ///   `persistentStoreTimeout`, `corrupt`; `persistentStoreOperation` for a store with a shared log.
    /// - Complexity: O(events up to the moment); later O(events since the last time, and the way back to what they
    ///   replace). In memory some 60 bytes for each object that was changed.
    @discardableResult
    public func truncateHistory(
        ofEntities names: [String], before moment: HistoryMoment, holders: HistoryHolders = .respected,
        author: String? = nil, reason: String? = nil
    ) throws -> HistoryThinning {
        try HistoryThinning(
            store.thinHistory(
                of: names, through: end(of: moment), force: holders.force, Self.note(author: author, reason: reason)))
    }

    /// The result that `truncateHistory(ofEntities:before:)` would have. Writes nothing.
    ///
    /// - Throws: as `truncateHistory(ofEntities:before:holders:author:reason:)`.
    public func plannedTruncation(
        ofEntities names: [String], before moment: HistoryMoment, holders: HistoryHolders = .respected
    ) throws -> HistoryThinning {
        try HistoryThinning(store.thinningPlan(of: names, through: end(of: moment), force: holders.force))
    }
}
