import Crypto
import Foundation
import Locking
package import StrataModel

// Values under the key of the store and the key of a subject together.

extension AttributeCipher {
    /// A value of an object under the newest key and the key of a subject, which has been made.
    ///
    /// - Throws: `encryptionKeyMissing`, `subjectErased`; `wrongType` for a value that cannot be stored.
    package func seal(
        _ value: AttributeValue, of object: ObjectID, under subject: SubjectID
    ) throws(StrataError) -> EncryptedValue {
        let state = given.all
        guard let newest = state.keys.first(where: { $0.id == state.newest }) else { throw missingKey(nil, object) }
        let own = try key(of: subject, state, object)
        let derived = subjectKeys.keys(newest, own, property)
        var writer = ByteWriter(capacity: 160)
        try encrypt(value, of: object, under: derived.key, derived.blinder, (subject, own.id), into: &writer)
        return EncryptedValue(stored: Data(writer.bytes))
    }

    /// The key of a value that has a subject, with the store's key of an id.
    ///
    /// - Throws: `encryptionKeyMissing`, `encryptionKeyWrong`, `subjectErased`.
    func subjectKey(
        _ bytes: UnsafeRawBufferPointer, _ id: EncryptionKey.ID, _ object: ObjectID
    ) throws(StrataError) -> AttributeKeys.Key {
        let state = given.all
        let subject = SubjectID(UnsafeRawBufferPointer(rebasing: bytes[EncryptedValue.subjectRange]))
        // An erased subject is found first: this needs no key of the store.
        let own = try key(of: subject, state, object)
        guard let store = state.keys.first(where: { $0.id == id }) else { throw missingKey(id, object) }
        let named = EncryptionKey.ID(UnsafeRawBufferPointer(rebasing: bytes[EncryptedValue.subjectKeyRange]))
        guard own.id == named else {
            throw StrataError(
                .encryptionKeyWrong,
                "\(name) is encrypted under another key of the subject \(subject) than the one that was given; open the "
                    + "store with the keys of subjects that it was written with.", context: context(object))
        }
        return subjectKeys.keys(store, own, property).key
    }

    private func key(
        of subject: SubjectID, _ state: GivenKeys.State, _ object: ObjectID
    ) throws(StrataError) -> EncryptionKey {
        guard let subjects = state.subjects else {
            throw StrataError(
                .encryptionKeyMissing,
                "\(name) is encrypted under the key of a subject, and the store was opened without keys of subjects; open "
                    + "it with them.", context: context(object))
        }
        do {
            return try subjects.key(of: subject)
        } catch let error as StrataError where error.code == .subjectErased {
            throw StrataError.subjectErased(subject, context(object))
        } catch let error as StrataError {
            throw error
        } catch {
            throw StrataError(
                .encryptionKeyMissing, "The store of keys could not give the key of the subject \(subject).",
                context: context(object), cause: error)
        }
    }
}

/// The keys derived for one attribute from keys of the store and of subjects. The mutex guards them.
final class SubjectKeyTable: Sendable {
    struct Keys: Sendable {
        let key: AttributeKeys.Key
        let blinder: HMAC<SHA256>
    }

    private struct Pair: Hashable {
        let store: EncryptionKey.ID
        let subject: EncryptionKey.ID
    }

    /// The number of known keys after which all are forgotten.
    private static let mostKnown = 4096
    private let known = Locked<[Pair: Keys]>([:])

    func keys(_ store: EncryptionKey, _ subject: EncryptionKey, _ property: PropertyID) -> Keys {
        let pair = Pair(store: store.id, subject: subject.id)
        if let found = known.withLock({ $0[pair] }) { return found }
        let made = Keys(
            key: AttributeKeys.Key(EncryptionKey(store, with: subject), property),
            blinder: HMAC<SHA256>(key: subject.derived("strata blinds", property)))
        known.withLock { known in
            if known.count >= Self.mostKnown { known.removeAll(keepingCapacity: true) }
            known[pair] = made
        }
        return made
    }
}
