public import StrataModel
import StrataStore

/// The part of its history that a store keeps.
///
/// Older history is truncated: the state at the oldest moment that is kept stays, and so does everything since. Tags,
/// subscriptions and contexts of the same process hold the history that they need, whatever the retention says.
public enum HistoryRetention: Sendable, Hashable {
    /// The whole history.
    case everything
    /// All states of the last so long.
    case duration(Duration)
    /// This number of the newest transactions, and the state before them.
    case transactions(Int)
    /// Only what a tag, a subscription, a view that catches up or a context of this process needs.
    ///
    /// A context of another process that has not moved to the newest state gets `historyDropped`, and goes on after
    /// `reset()`.
    case whatIsHeld
    /// Less of the history of some entities, by their names; subentities go with them.
    ///
    /// ```swift
    /// let retention = HistoryRetention.entities(["Position": .duration(.seconds(30 * 24 * 3600))])  // the rest for ever
    /// ```
    ///
    /// Older history is thinned, as `truncateHistory(ofEntities:before:)` does; that is done some thirty times in the
    /// time that is kept. Nothing is kept for longer than `others` says. An entity within `entities` counts with its
    /// `others`.
    indirect case entities([String: HistoryRetention], others: HistoryRetention = .everything)

    /// The part of the whole history that is kept.
    var kept: StoreRetention.Kept {
        switch self {
        case .everything: .everything
        case .duration(let duration): .duration(duration)
        case .transactions(let count): .transactions(count)
        case .whatIsHeld: .held
        case .entities(_, let others): others.kept
        }
    }

    /// The parts of the history of entities that are kept, by their names.
    var keptOfEntities: [String: StoreRetention.Kept] {
        guard case .entities(let entities, _) = self else { return [:] }
        return entities.mapValues(\.kept)
    }

    var store: StoreRetention { StoreRetention(kept, entities: keptOfEntities) }
}

/// The treatment of tags, subscriptions, views and contexts that need a part of the history that is to be truncated.
public enum HistoryHolders: Sendable, Hashable {
    /// It stops before the oldest state that one of them needs.
    case respected
    /// Tags of moments that are dropped are removed. Subscriptions and contexts that need them get `historyDropped`, and
    /// views that catch up are rebuilt.
    case overridden
}

/// Something that needs a part of the history.
public struct HistoryHolder: Sendable, Hashable {
    /// The kinds of holders.
    public enum Kind: String, Sendable, Hashable {
        /// A tag names a moment of it.
        case tag
        /// A subscription has not acknowledged a transaction of it.
        case subscription
        /// A view that catches up does not include a transaction of it yet.
        case view
        /// A context of this process shows a state of it.
        case context
    }

    /// The kind of the holder.
    public let kind: Kind
    /// The name of the tag, subscription or view; nil for a context.
    public let name: String?
    /// The oldest state that it needs.
    public let eventNumber: EventNumber

    init(_ hold: HistoryHold) {
        kind =
            switch hold.kind {
            case .tag: .tag
            case .subscription: .subscription
            case .view: .view
            case .context: .context
            }
        name = hold.kind == .context ? nil : hold.name
        eventNumber = hold.eventNumber
    }
}

/// The result of a truncation of the history, or of a plan for it.
public struct HistoryTruncation: Sendable, Hashable {
    /// The beginning of the kept history; nil if it is whole.
    public let baseline: HistoryBaseline?
    /// The number of transactions that were dropped.
    public let transactionCount: Int
    /// The number of events that were dropped; those that make the state at the baseline stay.
    public let eventCount: Int
    /// The holders of a part of the history that was to be dropped, the one with the oldest moment first.
    public let holders: [HistoryHolder]
    /// The time that it took.
    public let duration: Duration

    init(_ report: TruncationReport) {
        baseline = report.baseline?.summary
        transactionCount = Int(clamping: report.droppedTransactions)
        eventCount = Int(clamping: report.droppedEvents)
        holders = report.holds.map(HistoryHolder.init)
        duration = report.duration
    }
}

extension PersistentContainer {
    /// The beginning of the kept history; nil if it was never truncated.
    ///
    /// - Throws: `storeClosed`, `corrupt`.
    public func historyBaseline() throws -> HistoryBaseline? { try store.baseline()?.summary }

    /// Drops the history before a moment. The state at the moment stays, and everything since.
    ///
    /// ```swift
    /// try container.truncateHistory(before: .date(Date(timeIntervalSinceNow: -90 * 24 * 3600)), reason: "90 days are kept")
    /// ```
    ///
    /// Reading an earlier state throws `historyDropped` from then on, with the baseline in `context.baseline`. It runs in
    /// commits of bounded size, between which saves and reads go on. Space that becomes free is used by later saves;
    /// `strata compact` gives it back to the disk.
    ///
    /// - Parameters:
    ///   - moment: nothing is dropped for one before the kept history.
    ///   - holders: whether it stops before what a tag, a subscription or a context of this process needs.
    ///   - reason: is kept with the baseline, as is the author.
    /// - Throws: `futureEvent`, `unknownKey` for a tag that does not exist, `readOnly`, `noSpace`,
    ///   `persistentStoreTimeout`, `corrupt`.
    /// - Complexity: O(events that are dropped).
    @discardableResult
    public func truncateHistory(
        before moment: HistoryMoment, holders: HistoryHolders = .respected, author: String? = nil,
        reason: String? = nil
    ) throws -> HistoryTruncation {
        try HistoryTruncation(
            store.truncateHistory(
                through: end(of: moment), force: holders.force, Self.note(author: author, reason: reason)))
    }

    /// Drops the history that a retention does not keep; of the entities that it names, too.
    ///
    /// - Throws: as `truncateHistory(before:holders:author:reason:)` and
    ///   `truncateHistory(ofEntities:before:holders:author:reason:)`.
    @discardableResult
    public func truncateHistory(
        to retention: HistoryRetention, holders: HistoryHolders = .respected, author: String? = nil,
        reason: String? = nil
    ) throws -> HistoryTruncation {
        let note = Self.note(author: author, reason: reason)
        let truncation = try HistoryTruncation(
            store.truncateHistory(keeping: retention.kept, force: holders.force, note))
        for (name, kept) in retention.store.entities.sorted(by: { $0.key < $1.key }) {
            _ = try store.thinHistory(
                of: [name], through: store.lastEvent(beyond: kept) ?? .zero, force: holders.force,
                Self.note(author: author, reason: reason))
        }
        return truncation
    }

    /// The result that `truncateHistory(before:)` would have. Writes nothing.
    ///
    /// `eventCount` leaves out what stays for the state at the moment, but for tags and metadata in force.
    ///
    /// - Complexity: O(events that would go).
    /// - Throws: as `truncateHistory(before:holders:author:reason:)`.
    public func plannedTruncation(
        before moment: HistoryMoment, holders: HistoryHolders = .respected
    ) throws -> HistoryTruncation {
        try HistoryTruncation(store.truncationPlan(through: end(of: moment), force: holders.force))
    }

    /// Zero for a moment that is no longer kept.
    func end(of moment: HistoryMoment) throws -> EventNumber {
        do {
            return try eventNumber(at: moment)
        } catch let error as StrataError where error.code == .historyDropped {
            return .zero
        }
    }

    static func note(author: String?, reason: String?) -> MaintenanceNote {
        MaintenanceNote(author: author, metadata: reason.map { [HistoryTransaction.reasonKey: $0] } ?? [:])
    }
}

extension HistoryHolders {
    var force: TruncationForce {
        switch self {
        case .respected: .none
        case .overridden: .holds
        }
    }
}
