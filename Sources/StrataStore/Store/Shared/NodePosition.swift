import Foundation
import LMDB
import Locking
import Logging
import StrataModel

// Each store reports its position to its shared log from time to time, so that the log is not cut before it. The
// position is kept with a lease: when that has run out, the log no longer waits for the store.

/// The position that a store has reported to its log.
struct NodePosition {
    /// The name of the lease.
    let name: String
    let id: UUID
    /// The end of the store at the last report. A power cut does not take the store back behind it.
    var safe: TransactionNumber
    var next = ContinuousClock.now
}

extension LogNode {
    /// The beginning of the names of leases with positions.
    static let positionPrefix = "store "
    /// The time for which the log keeps what an absent store needs.
    static let longestAbsence = Duration.seconds(14 * 24 * 3600)

    func beginPosition(_ identity: NodeIdentity) throws {
        let end = try localEnd().transaction
        let name = Self.positionPrefix + "\(identity.id.uuidString) \(NodeIdentity.machine)"
        position.withLock { $0 = NodePosition(name: name, id: identity.id, safe: end) }
    }

    /// Reports the position if that is due. After an error the next call tries again.
    func keepPosition() {
        do {
            guard let known = position.withLock({ $0 }), known.next <= .now else { return }
            let end = try localEnd().transaction
            try tell(known, known.safe)
            position.withLock {
                $0?.safe = end
                $0?.next = .now + connection.positionInterval
            }
        } catch {
            StoreLogger.shared.debug("the position of \(file.path) was not reported to its log: \(error)")
        }
    }

    /// Reports the end of the store, after that is on the disk.
    func tellPosition() throws {
        guard let known = position.withLock({ $0 }) else { return }
        let end = try localEnd().transaction
        if file.options.durability == .checkpointed { try file.environment.checkpoint() }
        try tell(known, end)
    }

    private func tell(_ known: NodePosition, _ number: TransactionNumber) throws {
        _ = try contact.ask { () throws(SharedLogFailure) in
            let lease = try log.leases.take(known.name, for: known.id, during: Self.longestAbsence)
            return try log.leases.note(number.rawValue, under: lease)
        }
    }

    /// Reports the last position, or removes the lease of a store whose files are gone when it closes.
    func endPosition() {
        guard let known = position.withLock({ $0 }) else { return }
        do {
            if file.environment.options.residence == .unlinkedAfterOpen {
                _ = try contact.ask { () throws(SharedLogFailure) in try log.leases.remove(known.name) }
            } else {
                try tellPosition()
            }
        } catch {
            StoreLogger.shared.debug("the last position of \(file.path) was not reported to its log: \(error)")
        }
    }
}

extension Store {
    /// The identity of the store among those that share its log.
    func nodeIdentity() throws -> NodeIdentity {
        let place = NodeIdentity.place(of: path)
        let known = try file.environment.read { transaction in
            try StoreFile.withKey(NodeIdentity.key) { try transaction.get(file.tables.state, $0) }
                .flatMap { NodeIdentity($0) }
        }
        if let known, known.place == place { return known }
        let fresh = NodeIdentity(id: UUID(), place: place)
        try onWriter { [file] in
            try file.writeDirectly { transaction in
                try fresh.bytes.withUnsafeBytes { value in
                    try StoreFile.withKey(NodeIdentity.key) { try transaction.put(file.tables.state, $0, value) }
                }
            }
        }
        return fresh
    }
}
