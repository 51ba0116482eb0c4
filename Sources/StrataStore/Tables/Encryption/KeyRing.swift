import Crypto
import Foundation
import Locking
package import StrataModel

/// The keys of one open store, which change when the store is opened and when it notes its first key.
///
/// The mutex guards all of it.
final class GivenKeys: Sendable {
    private let state = Locked(State())

    private struct State {
        var keys: [EncryptionKey.ID: EncryptionKey] = [:]
        var newest: EncryptionKey?
        var blindingKey: SymmetricKey?
    }

    /// Takes the keys that the app gave, the newest first.
    func take(_ keys: [EncryptionKey]) {
        state.withLock { state in
            state.newest = keys.first
            for key in keys { state.keys[key.id] = key }
        }
    }

    func take(blindingKey: SymmetricKey) { state.withLock { $0.blindingKey = blindingKey } }

    var newest: EncryptionKey? { state.withLock { $0.newest } }
    var blindingKey: SymmetricKey? { state.withLock { $0.blindingKey } }
    /// All keys that were given, in no order.
    var all: [EncryptionKey] { state.withLock { Array($0.keys.values) } }

    func key(_ id: EncryptionKey.ID) -> EncryptionKey? { state.withLock { $0.keys[id] } }
}

/// The keys of one open store with the ciphers of its encrypted attributes.
///
/// The mutex guards the ciphers.
package final class KeyRing: Sendable {
    let table = GivenKeys()
    private let ciphers = Locked<[PropertyID: AttributeCipher]>([:])

    init() {}

    /// Whether values can be encrypted, and searched for.
    package var isComplete: Bool { table.newest != nil && table.blindingKey != nil }

    /// The cipher of an encrypted attribute; nil for other properties.
    package func cipher(_ property: PropertySchema) -> AttributeCipher? {
        guard let attribute = property.attribute, attribute.isEncrypted, !attribute.isTransient else { return nil }
        return ciphers.withLock { ciphers in
            if let known = ciphers[property.id], known.type == attribute.type { return known }
            let made = AttributeCipher(property.id, attribute.name, attribute.type, table)
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
            let made = AttributeCipher(property, "the attribute", .undefined, table)
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
