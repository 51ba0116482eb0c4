import Crypto
import Foundation
import Locking
package import StrataModel

/// Encrypts and decrypts the values of one attribute (EncryptedValue.swift has the format).
///
/// The mutex guards the derived keys, each of which is made when first needed.
package final class AttributeCipher: Sendable {
    package let property: PropertyID
    package let name: String
    let type: AttributeType
    private let table: GivenKeys
    private let made = Locked(Made())

    private struct Made {
        var keys: [EncryptionKey.ID: Keys] = [:]
        var blinder: HMAC<SHA256>?
    }

    /// What is derived from one key of the app.
    private struct Keys {
        let id: EncryptionKey.ID
        let values: SymmetricKey
        let nonces: HMAC<SHA256>
    }

    init(_ property: PropertyID, _ name: String, _ type: AttributeType, _ table: GivenKeys) {
        self.property = property
        self.name = name
        self.type = type
        self.table = table
    }

    // MARK: Encrypting

    /// The value of an object, encrypted under the newest key. The same value has the same bytes again.
    ///
    /// - Throws: `encryptionKeyMissing`; `wrongType` for a value that cannot be stored.
    package func encrypt(_ value: AttributeValue, of object: ObjectID) throws(StrataError) -> EncryptedValue {
        guard let newest = table.newest else { throw missingKey(nil, object) }
        let keys = keys(newest)
        let blind = try fingerprint(of: value, object)
        do {
            var plain = ByteWriter()
            try ValueCodec.encode(value, into: &plain)
            var stored = Data([EncryptedValue.format])
            stored.reserveCapacity(EncryptedValue.overhead + plain.count)
            stored += keys.id.bytes
            stored += blind
            var nonces = keys.nonces
            nonces.update(data: blind)
            withUnsafeBytes(of: object.rawValue.littleEndian) { nonces.update(data: $0) }
            withUnsafeBytes(of: UInt32(plain.count).littleEndian) { nonces.update(data: $0) }
            nonces.update(data: plain.bytes)
            let nonce = try nonces.finalize().withUnsafeBytes { bytes in
                try AES.GCM.Nonce(data: UnsafeRawBufferPointer(rebasing: bytes[..<EncryptedValue.nonceRange.count]))
            }
            let box = try AES.GCM.seal(
                plain.bytes, using: keys.values, nonce: nonce, authenticating: authenticated(stored, object))
            guard let combined = box.combined else { throw CryptoKitError.incorrectParameterSize }
            stored += combined
            return EncryptedValue(stored: stored)
        } catch {
            throw StrataError(.wrongType, "The value cannot be encrypted.", context: context(object), cause: error)
        }
    }

    // MARK: Decrypting

    /// The value of an object.
    ///
    /// - Throws: `encryptionKeyMissing` with the id of the key; `encryptedValueDamaged`.
    package func decrypt(_ encrypted: EncryptedValue, of object: ObjectID) throws(StrataError) -> AttributeValue {
        let stored = encrypted.stored
        guard stored.count >= EncryptedValue.overhead, stored.first == EncryptedValue.format else {
            throw damaged(object, nil)
        }
        let id = EncryptionKey.ID(bytes: encrypted.keyID)
        guard let key = table.key(id) else { throw missingKey(id, object) }
        let head = EncryptedValue.blindRange.upperBound
        do {
            let box = try AES.GCM.SealedBox(combined: stored.dropFirst(head))
            let plain = try AES.GCM.open(
                box, using: keys(key).values, authenticating: authenticated(stored.prefix(head), object))
            return try plain.withUnsafeBytes { bytes in
                var reader = ByteReader(bytes)
                let value = try ValueCodec.decode(&reader)
                try reader.expectEnd()
                return value
            }
        } catch {
            throw damaged(object, error)
        }
    }

    /// The value of an object if it is encrypted, and any other value as it is.
    ///
    /// - Throws: as `decrypt`.
    package func decrypt(_ value: AttributeValue, of object: ObjectID) throws(StrataError) -> AttributeValue {
        guard case .encrypted(let encrypted) = value else { return value }
        return try decrypt(encrypted, of: object)
    }

    /// Whether a value needs no other key than the newest.
    package func isUnderNewestKey(_ encrypted: EncryptedValue) -> Bool {
        guard let newest = table.newest, encrypted.stored.count >= EncryptedValue.overhead else { return false }
        return encrypted.keyID == newest.id.bytes
    }

    /// The value of an object as the app sees it: any value that cannot be decrypted stays as it is.
    package func shown(_ value: AttributeValue, of object: ObjectID) -> AttributeValue {
        guard case .encrypted(let encrypted) = value else { return value }
        do { return try decrypt(encrypted, of: object) } catch { return value }
    }

    // MARK: Searching

    /// What equal values have in common, for a search.
    ///
    /// - Throws: `encryptionKeyMissing`.
    func blind(_ value: AttributeValue) throws(StrataError) -> EncryptedValue {
        EncryptedValue(blind: try fingerprint(of: value, nil))
    }

    // MARK: Parts

    private func fingerprint(of value: AttributeValue, _ object: ObjectID?) throws(StrataError) -> Data {
        var blinder = try blinder(object)
        var form = ByteWriter()
        do {
            try CanonicalForm.append(value, of: type, to: &form)
        } catch {
            throw StrataError(.wrongType, "The value cannot be encrypted.", context: context(object), cause: error)
        }
        blinder.update(data: form.bytes)
        return blinder.finalize().withUnsafeBytes { Data($0[..<EncryptedValue.blindRange.count]) }
    }

    private func blinder(_ object: ObjectID?) throws(StrataError) -> HMAC<SHA256> {
        if let known = made.withLock({ $0.blinder }) { return known }
        guard let blindingKey = table.blindingKey else { throw missingKey(nil, object) }
        let blinder = HMAC<SHA256>(key: EncryptionKey.blinding(blindingKey, property))
        made.withLock { $0.blinder = blinder }
        return blinder
    }

    private func keys(_ key: EncryptionKey) -> Keys {
        if let known = made.withLock({ $0.keys[key.id] }) { return known }
        let keys = Keys(
            id: key.id, values: key.derived("strata values", property),
            nonces: HMAC<SHA256>(key: key.derived("strata nonces", property)))
        made.withLock { $0.keys[key.id] = keys }
        return keys
    }

    /// - Parameter head: the bytes before the nonce.
    private func authenticated(_ head: Data, _ object: ObjectID) -> Data {
        var data = head
        withUnsafeBytes(of: object.rawValue.littleEndian) { data.append(contentsOf: $0) }
        withUnsafeBytes(of: property.rawValue.littleEndian) { data.append(contentsOf: $0) }
        return data
    }

    // MARK: Errors

    private func context(_ object: ObjectID?) -> StrataError.Context {
        StrataError.Context(objectID: object, key: name)
    }

    private func missingKey(_ id: EncryptionKey.ID?, _ object: ObjectID?) -> StrataError {
        StrataError(
            .encryptionKeyMissing,
            id.map { "\(name) is encrypted under the key \($0), which was not given; open the store with it." }
                ?? "\(name) is encrypted, and the store was opened without a key; open it with its key.",
            context: context(object))
    }

    private func damaged(_ object: ObjectID, _ cause: (any Error)?) -> StrataError {
        StrataError(
            .encryptedValueDamaged,
            "The encrypted value of \(name) is damaged, or of another object; restore it from the history or a backup.",
            context: context(object), cause: cause)
    }
}
