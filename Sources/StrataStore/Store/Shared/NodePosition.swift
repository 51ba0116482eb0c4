import Foundation
import LMDB
import Locking
import Logging
import StrataModel

// Each store tells its shared log from time to time how far it has come, so that the log is not cut before that. The
// position is kept with a lease: one that does not come back for its time is no longer waited for.

/// What a store has told its log of its position.
struct NodePosition {
    /// The name of the lease.
    let name: String
    let id: UUID
    /// The end of the store when it was last told; a power cut does not take it back behind that.
    var safe: TransactionNumber
    var next = ContinuousClock.now
}

extension LogNode {
    /// What the names of leases with positions begin with.
    static let positionPrefix = "store "
    /// How long the log waits for a store.
    static let longestAbsence = Duration.seconds(14 * 24 * 3600)

    func beginPosition(_ identity: NodeIdentity) throws {
        let end = try localEnd().transaction
        let name = Self.positionPrefix + "\(identity.id.uuidString) \(NodeIdentity.machine)"
        position.withLock { $0 = NodePosition(name: name, id: identity.id, safe: end) }
    }

    /// Tells the log of the position where that is due. A failure is left to the next time.
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
            StoreLogger.shared.debug("the position of \(file.path) could not be told: \(error)")
        }
    }

    /// Tells the log that the store has everything, after that is on the disk.
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

    /// Tells the log of the last position, or has it no longer wait for a store that leaves nothing behind.
    func endPosition() {
        guard let known = position.withLock({ $0 }) else { return }
        do {
            if file.environment.options.residence == .unlinkedAfterOpen {
                _ = try contact.ask { () throws(SharedLogFailure) in try log.leases.remove(known.name) }
            } else {
                try tellPosition()
            }
        } catch {
            StoreLogger.shared.debug("the last position of \(file.path) could not be told: \(error)")
        }
    }
}

extension Store {
    /// What the store is called among those with its log.
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
