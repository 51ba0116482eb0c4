public import Foundation
public import StrataModel
import StrataStore

/// The progress of a declared view.
public struct ViewStatus: Sendable, Hashable {
    /// The states of a view.
    public enum State: Sendable, Hashable {
        /// It has the groups of all objects. One that catches up may be some events behind.
        case live
        /// It is being made from the objects, of which it has grouped this part: a view that catches up, or an inline
        /// view of many objects that is new. Until it is done, requests group the objects themselves.
        case building(Double)
        /// It cannot follow an event. It tries again from time to time, because a later change may have removed the
        /// cause.
        case failed(ViewFailureReport)
    }

    /// The name of the view.
    public let name: String
    /// When the view's groups are updated.
    public let upkeep: ViewUpkeep
    /// Whether the view follows the log, is being built or has stopped.
    public let state: State
    /// The last event that its groups include.
    public let eventNumber: EventNumber
    /// The number of events that its groups do not include yet.
    public let lagInEvents: Int
    /// The time since the first transaction was saved that its groups do not include.
    public let lag: Duration
    /// The objects that were left out of it by request.
    public let leftOutObjects: [ObjectID]

    init(_ name: String, _ upkeep: ViewUpkeep, _ state: ViewUpkeepState) {
        self.name = name
        self.upkeep = upkeep
        self.state =
            switch state.phase {
            case .live: .live
            case .building(let part): .building(part)
            case .failed(let failure): .failed(ViewFailureReport(failure))
            }
        eventNumber = state.eventNumber
        lagInEvents = Int(clamping: state.lagInEvents)
        lag = state.lag
        leftOutObjects = state.leftOut
    }
}

/// The reason why a view has stopped.
public struct ViewFailureReport: Sendable, Hashable {
    /// The event that it cannot follow.
    public let eventNumber: EventNumber
    /// The object that it cannot group.
    public let objectID: ObjectID
    /// The reason, as a sentence.
    public let reason: String
    /// The number of attempts.
    public let attemptCount: Int
    /// When it was tried last; nil if it is to be tried at once.
    public let lastAttempt: Date?

    init(_ failure: ViewFailure) {
        eventNumber = failure.eventNumber
        objectID = failure.object
        reason = failure.reason
        attemptCount = Int(failure.attempts)
        lastAttempt =
            failure.microseconds == 0 ? nil : Date(timeIntervalSince1970: Double(failure.microseconds) / 1e6)
    }
}

extension PersistentContainer {
    /// The progress of each view of the model.
    ///
    /// - Throws: `storeClosed`, `corrupt`.
    /// - Complexity: O(views).
    public func viewStatuses() throws -> [ViewStatus] {
        try store.viewStates().map { ViewStatus($0.description.name, $0.description.upkeep, $0.upkeep) }
    }

    /// Waits until the rows of a view include an event; nil for all that is saved now. Requests never need it: they add
    /// what a view does not include. After it they have less to add.
    ///
    /// - Throws: `persistentStoreTimeout` if it takes longer; `viewFailed` if the view does not go on; `unknownKey`.
    public func wait(forView name: String, to event: EventNumber? = nil, timeout: Duration = .seconds(10)) throws {
        try store.wait(forView: name, to: event, timeout: timeout)
    }

    /// The same without blocking the caller's thread. It ends when its task is cancelled.
    public func wait(
        forView name: String, to event: EventNumber? = nil, timeout: Duration = .seconds(10)
    ) async throws {
        try await WorkerThreads.shared.run { try self.wait(forView: name, to: event, timeout: timeout) as Void }
    }

    /// Has a failed view tried again at once.
    ///
    /// - Throws: `invalidRequest` if it has not failed; `unknownKey`, `readOnly`.
    public func retryView(_ name: String) throws { try store.retryView(name) }

    /// Has a failed view leave out the object that it cannot group, so that it goes on. It stays left out until the view
    /// is made again.
    ///
    /// - Throws: `invalidRequest` if it has not failed, or is kept in each commit; `unknownKey`, `readOnly`.
    public func skipFailedObject(ofView name: String) throws { try store.skipEvent(ofView: name) }
}
