import Foundation
import Locking
import LMDB
import Logging
import StrataModel

/// Brings views that catch up, and inline views that are being built, to the end of the log, step by step.
///
/// Any number of workers may run at once, in any processes: a step that another worker has made is not made again.
struct ViewWorker: Sendable {
    let file: StoreFile
    /// Runs a job on the thread that writes.
    let onWriter: @Sendable (@escaping @Sendable () throws -> Void) throws -> Void
    var limits = ViewStepLimits()
    /// Called with each view after it has moved.
    var observer: (@Sendable (String, ViewUpkeepState) -> Void)?

    /// The result of a step of a view.
    enum Outcome {
        /// It is at the end of the log.
        case isThere
        /// It waits until it is tried again.
        case failed(until: Date)
        /// There is more to do.
        case isOnItsWay
    }

    /// Seconds until an event is tried again: twice as many after each attempt.
    private static let longestPause = 300.0

    /// The names of the views that catch up or are being built, and whose types this process has.
    func views() throws -> [String] {
        try file.read { transaction, _, histories in
            guard let schema = histories.newest, !schema.model.views.isEmpty else { return [] }
            let progress = try ViewProgress.all(transaction, file.tables)
            return try IndexMap.of(schema).views.views
                .filter { $0.hasCode && (!$0.isInline || progress[$0.id] != nil) }.map(\.description.name)
        }
    }

    /// Makes the next step of a view and writes it.
    ///
    /// - Parameter prepared: the step that the call before has made while it wrote its own, for this call to write; set to
    ///   the one that this call has made so. nil if there is none.
    func advance(_ name: String, _ prepared: inout ViewStep?) throws -> Outcome {
        if let step = prepared.take() {
            prepared = try write(step, preparingNextOf: name)
            return .isOnItsWay
        }
        if let failure = try make(name, { $0.before?.failure }) ?? nil {
            let due = Self.due(failure)
            if due > file.options.clock() { return .failed(until: due) }
        }
        guard let head = try make(name, { $0.head }) else { return .isThere }
        return try advance(name, to: head, &prepared)
    }

    private static func due(_ failure: ViewFailure) -> Date {
        if failure.microseconds == 0 { return .distantPast }
        let pause = min(longestPause, pow(2, Double(min(failure.attempts, 16)) - 1))
        return Date(timeIntervalSince1970: Double(failure.microseconds) / 1e6 + pause)
    }

    /// Goes to an event; if an object cannot be grouped, to the last transaction before it.
    private func advance(
        _ name: String, to target: EventNumber, _ prepared: inout ViewStep?
    ) throws -> Outcome {
        do {
            guard let step = try make(name, { try $0.step(to: target) }) ?? nil else { return .isThere }
            prepared = try write(step, preparingNextOf: name)
            return .isOnItsWay
        } catch let fault as ViewFault {
            if let half = try make(name, { try middle($0, target) }) ?? nil {
                guard case .failed(let until) = try advance(name, to: half, &prepared) else { return .isOnItsWay }
                return .failed(until: until)
            }
            guard let step = try make(name, { try failing($0, target, fault) }) else { return .isThere }
            _ = try write(step)
            StoreLogger.shared.warning("the view \(name) of \(file.path) cannot follow an event: \(fault.cause)")
            return step.after.failure.map { Outcome.failed(until: Self.due($0)) } ?? .isOnItsWay
        }
    }

    /// The end of a transaction about half way between the view and an event; nil if there is none.
    private func middle(_ maker: ViewStepMaker, _ target: EventNumber) throws -> EventNumber? {
        guard let position = maker.before?.position, try maker.goesOn, position < target else { return nil }
        let reader = LogReader(maker.transaction, file.tables, maker.histories)
        let first = try reader.event(position.advanced(by: 1)) { $0.header.transaction.rawValue }
        let last = try reader.event(target) { $0.header.transaction.rawValue }
        guard first < last else { return nil }
        return try reader.transaction(TransactionNumber(rawValue: first + (last - first - 1) / 2))?.lastEvent
    }

    /// Names the newest event on the object that cannot be grouped, or the one that leads to it.
    private func failing(_ maker: ViewStepMaker, _ target: EventNumber, _ fault: ViewFault) throws -> ViewStep {
        let goesOn = try maker.goesOn
        let end = goesOn ? target : maker.head
        var event = try maker.state(at: end).row(fault.object)?.revision ?? end
        if goesOn, let position = maker.before?.position, event <= position, position < end { event = end }
        let earlier = maker.before?.failure
        let isSame = earlier?.object == fault.object
        return maker.step(
            failing: ViewFailure(
                eventNumber: event, object: fault.object,
                microseconds: Int64(file.options.clock().timeIntervalSince1970 * 1e6),
                attempts: (isSame ? earlier?.attempts ?? 0 : 0) + 1, reason: fault.cause.message))
    }

    /// Leaves out the object that a view cannot group.
    ///
    /// - Returns: false if the view has not failed.
    func skip(_ name: String) throws -> Bool {
        while true {
            let step = try make(name) { maker -> ViewStep? in
                guard let failure = maker.before?.failure else { return nil }
                return try maker.stepLeavingOut(failure.object)
            }
            guard let step = step ?? nil else { return false }
            if try write(step) { return true }
        }
    }

    /// Has a failed view tried again at once.
    ///
    /// - Returns: false if the view has not failed.
    func retry(_ name: String) throws -> Bool {
        while true {
            let step = try make(name) { maker -> ViewStep? in
                guard var failure = maker.before?.failure else { return nil }
                failure.microseconds = 0
                return maker.step(failing: failure)
            }
            guard let step = step ?? nil else { return false }
            if try write(step) { return true }
        }
    }

    /// Calls `body` with the maker of a view's steps; nil if the model has no such view that catches up or is being
    /// built.
    ///
    /// - Parameter progress: how far the view will be once a step is written; nil for how far it is.
    private func make<R>(
        _ name: String, after progress: ViewProgress? = nil, _ body: (ViewStepMaker) throws -> R
    ) throws -> R? {
        var fault: ViewFault?
        let result = try file.read { transaction, head, histories -> R? in
            guard let schema = histories.newest,
                let view = try IndexMap.of(schema).views.view(named: name)
            else { return nil }
            do {
                let maker = try ViewStepMaker(
                    view, file, transaction, head, histories, schema, limits, after: progress)
                if view.isInline, maker.before == nil { return nil }
                return try body(maker)
            } catch let found as ViewFault {
                fault = found
                return nil
            }
        }
        if let fault { throw fault }
        return result
    }

    /// Writes a step, and meanwhile makes the next one if the view is being built.
    ///
    /// - Returns: the next step; nil if it has to be made in its turn.
    private func write(_ step: ViewStep, preparingNextOf name: String) throws -> ViewStep? {
        guard step.canBePreparedFor else {
            _ = try write(step)
            return nil
        }
        var next: ViewStep?
        let isWritten = try BackgroundThread.run("strata.steps") {
            // Whatever fails here fails again when the step is made in its turn, and is reported then.
            next = (try? make(name, after: step.after) { try $0.step(to: $0.head) }) ?? nil
        } beside: {
            try write(step)
        }
        return isWritten ? next : nil
    }

    private func write(_ step: ViewStep) throws -> Bool {
        let isWritten = Locked(false)
        do {
            try onWriter { [file] in
                let written = try file.writeDirectly { transaction in
                    // A step that a power cut takes is made again.
                    transaction.mayBeLost = true
                    return try step.write(file, transaction)
                }
                isWritten.withLock { $0 = written }
            }
        } catch {
            throw file.publicError(error, during: "keeping the view \(step.view.description.name)")
        }
        guard isWritten.withLock({ $0 }) else { return false }
        let name = step.view.description.name
        if let observer, let state = try state(name) { observer(name, state) }
        return true
    }

    private func state(_ name: String) throws -> ViewUpkeepState? {
        try file.read { transaction, _, histories in
            try ViewUse.all(file, transaction, histories, measured: false).first { $0.description.name == name }?.upkeep
        }
    }
}
