import Foundation
import Locking
import Logging
import StrataModel

/// A lease of a shared log as one store wants or holds it. The store's receiving thread takes it, renews it while it is
/// wanted, and gives it up afterwards.
///
/// Any thread may ask. `state` guards the variables; it is not held while the log is asked.
package final class LogLease: Sendable {
    private struct State {
        /// The number of claims on the lease.
        var claims = 0
        var lease: SharedLease?
        /// The end of the lease by this machine's clock; nil if another store has it.
        var until: ContinuousClock.Instant?
    }

    package let name: String
    private let log: any SharedLog
    private let contact: LogContact
    private let holder = UUID()
    private let duration: Duration
    private let state = Locked(State())

    /// The duration of a lease.
    package static let usualDuration = Duration.seconds(10)

    init(_ name: String, _ log: any SharedLog, _ contact: LogContact, duration: Duration) {
        self.name = name
        self.log = log
        self.contact = contact
        self.duration = duration
    }

    /// The number of this holder; nil while the lease is not held here.
    package var fence: UInt64? {
        state.withLock { state in
            guard let until = state.until, .now < until else { return nil }
            return state.lease?.fence
        }
    }

    /// The position of the work when the log last answered; nil if none was noted.
    package var knownPosition: UInt64? { state.withLock { $0.lease?.position } }

    /// Wants the lease as long as the claim lives.
    package func claim() -> LeaseClaim {
        state.withLock { $0.claims += 1 }
        return LeaseClaim(self)
    }

    fileprivate func endClaim() { state.withLock { $0.claims -= 1 } }

    /// Takes or renews the lease now.
    ///
    /// - Returns: whether it is held here.
    /// - Throws: `logUnavailable`.
    @discardableResult
    package func take() throws -> Bool {
        // From before the question: the answer may have been under way for long.
        let asked = ContinuousClock.now
        let lease = try contact.ask { () throws(SharedLogFailure) in
            try log.leases.take(name, for: holder, during: duration)
        }
        return state.withLock { state in
            state.lease = lease
            state.until = lease.holder == holder ? asked + duration : nil
            return lease.holder == holder
        }
    }

    /// Notes how far the work has come, taking the lease first if it is not held.
    ///
    /// - Throws: `leaseLost` if another machine holds it; `logUnavailable`.
    package func note(_ position: UInt64) throws {
        if fence == nil { try take() }
        guard let lease = state.withLock({ $0.until == nil ? nil : $0.lease }) else { throw lost() }
        let isNoted = try contact.ask { () throws(SharedLogFailure) in try log.leases.note(position, under: lease) }
        guard isNoted else {
            state.withLock { $0.until = nil }
            throw lost()
        }
        state.withLock { state in
            let known = state.lease?.position ?? 0
            state.lease?.position = max(known, position)
        }
    }

    private func lost() -> StrataError {
        StrataError(
            .leaseLost,
            "Another machine does this work now (\(name)). What it has not finished is done there again.",
            context: .init(key: name))
    }

    /// Takes, renews or ends the lease where that is due. Failures are left to the next time.
    func keep() {
        do {
            let (isWanted, until) = state.withLock { ($0.claims > 0, $0.until) }
            if isWanted {
                if let until, .now + duration * 2 / 3 < until { return }
                try take()
            } else if until != nil {
                end()
            }
        } catch {
            StoreLogger.shared.debug("the lease \(name) could not be kept: \(error)")
        }
    }

    /// Gives the lease up if it is held.
    package func end() {
        let lease = state.withLock { state in
            defer { state.until = nil }
            return state.until == nil ? nil : state.lease
        }
        guard let lease else { return }
        do throws(SharedLogFailure) { try log.leases.end(lease) } catch { contact.note(error) }
    }
}

/// Has a store want a lease, until it is released.
package final class LeaseClaim: Sendable {
    package let lease: LogLease

    fileprivate init(_ lease: LogLease) { self.lease = lease }

    deinit { lease.endClaim() }
}

extension LogNode {
    /// The store's lease of this name.
    func lease(_ name: String) -> LogLease {
        leases.withLock { leases in
            if let known = leases[name] { return known }
            let made = LogLease(name, log, contact, duration: LogLease.usualDuration)
            leases[name] = made
            return made
        }
    }

    /// Takes and renews leases as needed.
    func keepLeases() { for lease in leases.withLock({ Array($0.values) }) { lease.keep() } }

    /// Gives all leases up, so that other machines need not wait until they have run out.
    func endLeases() {
        for lease in leases.withLock({ Array($0.values) }) { lease.end() }
    }
}

extension Store {
    /// A lease of the shared log, for work that one machine does at a time; nil for a store with its own log.
    package func sharedLease(_ name: String) -> LogLease? { node.withLock { $0 }?.lease(name) }

    /// The leases of the shared log whose names begin so; none for a store with its own log.
    ///
    /// - Throws: `logUnavailable`.
    package func leases(startingWith prefix: String) throws -> [SharedLease] {
        guard let node = node.withLock({ $0 }) else { return [] }
        return try node.contact.ask { () throws(SharedLogFailure) in
            try node.log.leases.all(startingWith: prefix)
        }
    }

    /// Forgets a lease of the shared log.
    ///
    /// - Returns: whether there was one.
    package func removeLease(_ name: String) throws -> Bool {
        guard let node = node.withLock({ $0 }) else { return false }
        return try node.contact.ask { () throws(SharedLogFailure) in try node.log.leases.remove(name) }
    }
}
