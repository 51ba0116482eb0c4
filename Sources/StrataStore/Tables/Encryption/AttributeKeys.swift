import Crypto
import Foundation
import Locking
import StrataModel
import Synchronization

/// The keys of one attribute, derived from the keys of an open store. They do not change: keys that are given later make
/// another instance.
final class AttributeKeys: Sendable {
    /// The keys derived from one key of the app.
    struct Key: Sendable {
        let id: EncryptionKey.ID
        let values: SymmetricKey
        /// The hash of the part before the rest of a nonce's source.
        let nonces: SHA256

        init(_ key: EncryptionKey, _ property: PropertyID) {
            id = key.id
            values = key.derived("strata values", property)
            var nonces = SHA256()
            nonces.update(data: [0, 0, 0, 1] as [UInt8])
            key.derived("strata nonces", property).withUnsafeBytes { nonces.update(bufferPointer: $0) }
            self.nonces = nonces
        }
    }

    /// The version of the keys that these were derived from.
    let version: Int
    /// The key under which values are encrypted; nil if no key was given.
    let newest: Key?
    /// Nil as long as the store has no blinding key.
    let blinder: HMAC<SHA256>?
    private let keys: [Key]

    init(_ given: GivenKeys.State, _ property: PropertyID) {
        version = given.version
        let keys = given.keys.map { Key($0, property) }
        self.keys = keys
        newest = keys.first { $0.id == given.newest }
        blinder = given.blindingKey.map { HMAC<SHA256>(key: EncryptionKey.blinding($0, property)) }
    }

    /// The key that a value names; nil if it was not given.
    func key(_ id: EncryptionKey.ID) -> Key? {
        if let newest, newest.id == id { return newest }
        return keys.first { $0.id == id }
    }
}

/// The newest keys of one attribute, which readers get without a lock.
///
/// `current` points to an object that `made` keeps as long as this one lives, so a reader may take it at any time. The
/// mutex guards `made`.
final class AttributeKeyTable: Sendable {
    private let given: GivenKeys
    private let property: PropertyID
    private let current = Atomic<Unmanaged<AttributeKeys>?>(nil)
    private let made = Locked<[AttributeKeys]>([])

    init(_ given: GivenKeys, _ property: PropertyID) {
        self.given = given
        self.property = property
    }

    /// The keys of now; derived when they are first asked for, and again after the app gave others.
    var keys: AttributeKeys {
        if let known = current.load(ordering: .acquiring)?.takeUnretainedValue(), known.version == given.version {
            return known
        }
        return made.withLock { made in
            let state = given.all
            if let known = made.last, known.version == state.version { return known }
            let keys = AttributeKeys(state, property)
            made.append(keys)
            current.store(Unmanaged.passUnretained(keys), ordering: .releasing)
            return keys
        }
    }
}
