// The keys of subjects that an open store has asked for.

import Foundation
import Locking
import StrataModel

/// The subjects under whose keys a store has values.
struct SubjectUses: Sendable {
    /// Some of them.
    var some: @Sendable () throws -> Set<SubjectID> = { [] }
    /// One of these under which it has a value; nil if it has none.
    var first: @Sendable (Set<SubjectID>) throws -> SubjectID? = { _ in nil }
}

/// The keys of subjects that a store has asked for, for a while.
///
/// A key is asked for again after `lifetime`, so that other processes stop to read what one has erased. The mutex guards
/// the known answers.
final class SubjectKeys: Sendable {
    /// The longest time for which a destroyed key is still used by a process that has asked for it before.
    static let lifetime = Duration.seconds(30)
    /// The number of answers after which they are forgotten.
    private static let mostKnown = 8192

    private struct Known {
        let key: EncryptionKey?
        let since: ContinuousClock.Instant
    }

    let source: SubjectKeySource
    private let known = Locked<[SubjectID: Known]>([:])
    private let uses: SubjectUses
    /// Whether the keys have proved to be those of the store.
    private let areOwn = Locked(false)

    init(_ source: SubjectKeySource, uses: SubjectUses) {
        self.source = source
        self.uses = uses
    }

    /// The key of a subject.
    ///
    /// - Throws: `subjectErased`; `encryptionKeyMissing` if there never was one; what the app's keys throw.
    func key(of subject: SubjectID) throws -> EncryptionKey {
        if let known = known(subject) {
            guard let key = known.key else { throw StrataError.subjectErased(subject) }
            return key
        }
        switch try source.find(subject) {
        case .key(let secret): return try keep(secret, subject)
        case .destroyed:
            keep(nil, subject)
            throw StrataError.subjectErased(subject)
        case .none:
            throw StrataError(
                .encryptionKeyMissing,
                "The keys of subjects that were given have none for the subject \(subject); open the store with those "
                    + "that it was written with.")
        }
    }

    /// Makes the keys that are missing.
    ///
    /// - Parameter new: the subjects among them that no value can be under yet.
    /// - Throws: `subjectErased`; `encryptionKeyWrong` if the store has values under keys that are missing here; what the
    ///   app's keys throw.
    func make(_ subjects: Set<SubjectID>, new: Set<SubjectID>) throws {
        let missing = subjects.filter { known($0)?.key == nil }
        if missing.isEmpty { return }
        try refuseOtherKeys()
        try refuseSecondKeys(missing.subtracting(new))
        let order = Array(missing)
        let secrets = try source.make(order)
        guard secrets.count == order.count else {
            throw StrataError(
                .encryptionKeyMissing,
                "\(CountText.of(secrets.count, "key")) for \(CountText.of(order.count, "subject")) came back; give one for each."
            )
        }
        for (subject, secret) in zip(order, secrets) { _ = try keep(secret, subject) }
    }

    /// Single keys may have been lost; if all are missing, these are the keys of another store.
    private func refuseOtherKeys() throws {
        if areOwn.withLock({ $0 }) { return }
        let some = try uses.some()
        if let one = some.first, try some.allSatisfy(isUnknown) { throw lacks(one) }
        areOwn.withLock { $0 = true }
    }

    /// A second key of a subject would make values under the first one unreadable.
    private func refuseSecondKeys(_ subjects: Set<SubjectID>) throws {
        let unknown = try subjects.filter(isUnknown)
        if let one = try unknown.isEmpty ? nil : uses.first(unknown) { throw lacks(one) }
    }

    private func isUnknown(_ subject: SubjectID) throws -> Bool {
        if case .none = try source.find(subject) { return true }
        return false
    }

    private func lacks(_ subject: SubjectID) -> StrataError {
        StrataError(
            .encryptionKeyWrong,
            "The store has values under the key of the subject \(subject), which the keys that were given do not have; "
                + "nothing was saved. Open the store with the keys of subjects that it was written with. If the key is "
                + "lost, set the values under it to nil first.")
    }

    /// Destroys keys for ever.
    func destroy(_ subjects: [SubjectID]) throws {
        known.withLock { known in for subject in subjects { known[subject] = nil } }
        try source.destroy(subjects)
        // A reader may have asked for one meanwhile.
        for subject in subjects { keep(nil, subject) }
    }

    private func known(_ subject: SubjectID) -> Known? {
        guard let found = known.withLock({ $0[subject] }) else { return nil }
        return .now - found.since < Self.lifetime ? found : nil
    }

    private func keep(_ secret: Data, _ subject: SubjectID) throws(StrataError) -> EncryptionKey {
        let key = try EncryptionKey(secret)
        keep(key, subject)
        return key
    }

    private func keep(_ key: EncryptionKey?, _ subject: SubjectID) {
        known.withLock { known in
            if known.count >= Self.mostKnown { known.removeAll(keepingCapacity: true) }
            known[subject] = Known(key: key, since: .now)
        }
    }
}
