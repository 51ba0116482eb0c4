// The keys of an open store, and the ciphers of its encrypted attributes.

import Crypto
import Foundation
import Locking
package import StrataModel
import Synchronization

/// The keys of one open store, which change when the store is opened and when it notes its first key.
///
/// The mutex guards all of it; the version is beside it for readers that have derived something from the keys.
final class GivenKeys: Sendable {
    private let state = Locked(State())
    private let newestVersion = Atomic<Int>(0)
    /// The first row number that was not given when the store was opened.
    let firstNewRow = Atomic<UInt64>(.max)

    struct State: Sendable {
        /// Raised by each change.
        var version = 0
        var keys: [EncryptionKey] = []
        var newest: EncryptionKey.ID?
        var blindingKey: SymmetricKey?
        var subjects: SubjectKeys?
    }

    /// Takes the keys that the app gave, the newest first.
    func take(_ keys: [EncryptionKey]) {
        change { state in
            state.newest = keys.first?.id
            for key in keys where !state.keys.contains(where: { $0.id == key.id }) { state.keys.append(key) }
        }
    }

    func take(subjects: SubjectKeys) { change { $0.subjects = subjects } }

    func take(blindingKey: SymmetricKey) { change { $0.blindingKey = blindingKey } }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            state.version += 1
            newestVersion.store(state.version, ordering: .releasing)
        }
    }

    /// The version of the keys, without a lock.
    var version: Int { newestVersion.load(ordering: .acquiring) }
    /// All that is known, at one moment.
    var all: State { state.withLock { $0 } }

    /// The key under which values are written.
    var newest: EncryptionKey? {
        let state = all
        return state.keys.first { $0.id == state.newest }
    }

    /// Whether values can be encrypted, and searched for.
    var isComplete: Bool { state.withLock { $0.newest != nil && $0.blindingKey != nil } }
    var hasKey: Bool { state.withLock { $0.newest != nil } }
}

/// The keys of one open store with the ciphers of its encrypted attributes.
///
/// The mutex guards the ciphers.
package final class KeyRing: Sendable {
    let table = GivenKeys()
    private let ciphers = Locked<[PropertyID: AttributeCipher]>([:])

    init() {}

    /// Whether values can be encrypted, and searched for.
    package var isComplete: Bool { table.isComplete }

    /// The cipher of an encrypted attribute; nil for other properties.
    package func cipher(_ property: PropertySchema) -> AttributeCipher? {
        guard let attribute = property.attribute, attribute.isEncrypted, !attribute.isTransient else { return nil }
        return ciphers.withLock { ciphers in
            if let known = ciphers[property.id], known.type == attribute.type,
                known.hasSubject == (attribute.encryption?.subject != nil)
            {
                return known
            }
            let made = AttributeCipher(
                property.id, attribute.name, attribute.type, table, hasSubject: attribute.encryption?.subject != nil)
            ciphers[property.id] = made
            return made
        }
    }

    /// A value of an event or a row as the app sees it: decrypted if its key is known.
    package func shown(_ value: AttributeValue, of property: PropertyID, in object: ObjectID) -> AttributeValue {
        guard case .encrypted = value else { return value }
        return reader(of: property).shown(value, of: object)
    }

    /// A value of an event or a row without its encryption, if it is encrypted.
    ///
    /// - Throws: `encryptionKeyMissing`, `encryptedValueDamaged`.
    package func decrypted(
        _ value: AttributeValue, of property: PropertyID, in object: ObjectID
    ) throws(StrataError) -> AttributeValue {
        guard case .encrypted = value else { return value }
        return try reader(of: property).decrypt(value, of: object)
    }

    /// A cipher that may be of a property of an earlier model, whose values are only read.
    private func reader(of property: PropertyID) -> AttributeCipher {
        ciphers.withLock { ciphers in
            if let known = ciphers[property] { return known }
            let made = AttributeCipher(property, "the attribute", .undefined, table, hasSubject: false)
            ciphers[property] = made
            return made
        }
    }
}

/// The keys of the store to which a schema belongs.
final class SchemaKeys: Sendable {
    private let attached = Locked<KeyRing?>(nil)

    /// Nil for a schema of which only requests are checked.
    var ring: KeyRing? { attached.withLock { $0 } }

    static func of(_ schema: Schema) -> SchemaKeys { schema.derived { _ in SchemaKeys() } }

    func attach(_ ring: KeyRing) { attached.withLock { $0 = ring } }
}
