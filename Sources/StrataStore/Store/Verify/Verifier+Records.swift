import Foundation
import LMDB
import StrataModel

// Checks the smaller tables against the log.
extension Verifier {
    func checkTombstones() throws {
        var seen = 0
        try scan(tables.tombstones) { key, value in
            guard key.count == 8 else {
                note(.tombstone, "key \(key.hexadecimal)", "it is no object's id")
                return
            }
            let id = StoreKey.objectID(key, at: 0)
            guard let eventNumber = try? Tombstone.eventNumber(value) else {
                note(.tombstone, name(id), "a tombstone of another length")
                return
            }
            guard log.isReplayable else { return }
            switch log.objects[id] {
            case nil: note(.tombstone, name(id), "the log does not have the object")
            case let newest? where newest.isAlive: note(.tombstone, name(id), "the object was not deleted")
            case let newest?:
                seen += 1
                if newest.eventNumber != eventNumber {
                    note(
                        .tombstone, name(id),
                        "it says event \(eventNumber), the object was deleted by \(newest.eventNumber)")
                }
            }
        }
        guard log.isReplayable, log.count(alive: false) != seen else { return }
        for (id, newest) in log.sorted(alive: false) {
            if try transaction.get(tables.tombstones, id.rawValue) == nil {
                note(.tombstone, name(id), "it was deleted by event \(newest.eventNumber), but has no tombstone")
            }
        }
    }

    func checkTransactionIDs() throws {
        guard let head = log.head else { return }
        var seen = 0
        try scan(tables.transactionIDs) { key, value in
            guard key.count == 16, value.count == 8 else {
                note(.transactionID, "key \(key.hexadecimal)", "an entry of another length")
                return
            }
            let number = TransactionNumber(rawValue: UInt64(littleEndian: value.loadUnaligned(as: UInt64.self)))
            let record = try? LogReader(transaction, tables, histories).transaction(number)
            let id = UUID(uuid: key.loadUnaligned(as: uuid_t.self))
            guard number <= head.transaction, let record, record.id == id else {
                note(.transactionID, id.uuidString, "it leads to transaction \(number), which has another id")
                return
            }
            seen += 1
        }
        if log.transactionCount != seen {
            note(
                .transactionID, "transactionIDs",
                "\(seen) of \(log.transactionCount) transactions are found by their id")
        }
    }

    func checkModels() throws {
        var seen = 0
        try scan(tables.models) { key, value in
            let version = key.count == 8 ? StoreKey.objectID(key, at: 0).rawValue : 0
            guard let installed = log.models.first(where: { UInt64($0.version.rawValue) == version }) else {
                note(.model, "model \(version)", "the log did not install it")
                return
            }
            seen += 1
            if !installed.record.elementsEqual(value) {
                note(.model, "model \(version)", "it is not as the log installed it")
            }
        }
        guard seen != log.models.count else { return }
        for (version, _) in log.models where try transaction.get(tables.models, UInt64(version.rawValue)) == nil {
            note(.model, "model \(version.rawValue)", "the log installed it, but it is not there")
        }
    }

    /// A counter at or below a row number that is taken would give it twice. A missing counter is made again, high
    /// enough.
    func checkRowCounter() throws {
        guard let bytes = try StoreFile.withKey("rows", { try transaction.get(tables.state, $0) }) else { return }
        guard bytes.count == 8 else {
            note(.state, "rows", "the counter of row numbers has \(CountText.of(bytes.count, "byte"))")
            return
        }
        let next = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
        let largest = log.largestRow
        if next <= largest {
            note(.state, "rows", "the next row number to be given is \(next), but \(largest) is taken")
        }
    }

    // MARK: Blobs

    /// Checks counters against the log, and files against the counters.
    func checkBlobs() throws {
        var counter = ProgressCounter("checking large values", total: log.blobs.count, progress)
        var seen = 0
        try scan(tables.blobs) { key, value in
            let digest = Data(key)
            guard key.count == 32, let count = try? CounterKey.value(value) else {
                note(.blob, "key \(key.hexadecimal)", "it is no large value's")
                return
            }
            guard log.isReplayable else { return }
            guard let use = log.blobs[digest] else {
                note(.blob, Self.name(digest), "no event names it, the counter says \(count)")
                return
            }
            seen += 1
            if Int64(use.count) != count {
                note(.blob, Self.name(digest), "\(Self.naming(use.count)), the counter says \(count)")
            }
        }
        let isShort = seen != log.blobs.count
        for (digest, use) in log.blobs {
            counter.step()
            if isShort, try digest.withUnsafeBytes({ try transaction.get(tables.blobs, $0) }) == nil {
                note(.blob, Self.name(digest), "\(Self.naming(use.count)), but there is no counter")
            }
            checkFile(BlobReference(digest: digest, sizeInBytes: use.sizeInBytes))
        }
    }

    private func checkFile(_ reference: BlobReference) {
        guard let damage = blobs.damage(of: reference.digest, sizeInBytes: reference.sizeInBytes) else { return }
        if (try? isStillNamed(reference.digest)) == false { return }
        note(.blob, Self.name(reference.digest), damage)
    }

    /// Whether an event names a large value now. A truncation or an erasure removes files that the state that is checked
    /// still names.
    private func isStillNamed(_ digest: Data) throws -> Bool {
        try file.environment.read { newest in
            try digest.withUnsafeBytes { try newest.get(tables.blobs, $0) } != nil
        }
    }

    private static func naming(_ count: Int) -> String { count == 1 ? "1 event names it" : "\(count) events name it" }

    private static func name(_ digest: Data) -> String { digest.withUnsafeBytes(\.hexadecimal) }
}
