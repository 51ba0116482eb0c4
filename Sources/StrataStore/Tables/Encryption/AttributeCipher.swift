import Crypto
import Foundation
package import StrataModel

/// Encrypts and decrypts the values of one attribute (EncryptedValue.swift has the format).
package final class AttributeCipher: Sendable {
    package let property: PropertyID
    package let name: String
    let type: AttributeType
    /// Whether stored values are encrypted under the key of a subject, too. Until a change is saved, its values are
    /// under the store's alone.
    package let hasSubject: Bool
    let given: GivenKeys
    private let table: AttributeKeyTable
    let subjectKeys = SubjectKeyTable()

    init(_ property: PropertyID, _ name: String, _ type: AttributeType, _ given: GivenKeys, hasSubject: Bool = false) {
        self.hasSubject = hasSubject
        self.property = property
        self.name = name
        self.type = type
        self.given = given
        table = AttributeKeyTable(given, property)
    }

    // MARK: Encrypting

    /// The value of an object, encrypted under the newest key. The same value has the same bytes again.
    ///
    /// - Throws: `encryptionKeyMissing`; `wrongType` for a value that cannot be stored.
    package func encrypt(_ value: AttributeValue, of object: ObjectID) throws(StrataError) -> EncryptedValue {
        var writer = ByteWriter(capacity: 128)
        try encrypt(value, of: object, into: &writer)
        return EncryptedValue(stored: Data(writer.bytes))
    }

    /// Replaces the contents of a writer by the bytes of an encrypted value.
    ///
    /// - Throws: as `encrypt(_:of:)`.
    package func encrypt(
        _ value: AttributeValue, of object: ObjectID, into writer: inout ByteWriter
    ) throws(StrataError) {
        let keys = table.keys
        guard let newest = keys.newest, let blinder = keys.blinder else { throw missingKey(nil, object) }
        try encrypt(value, of: object, under: newest, blinder, nil, into: &writer)
    }

    /// - Parameter subject: its id and that of its key; nil for a value without one.
    func encrypt(
        _ value: AttributeValue, of object: ObjectID, under key: AttributeKeys.Key, _ blinder: HMAC<SHA256>,
        _ subject: (id: SubjectID, key: EncryptionKey.ID)?, into writer: inout ByteWriter
    ) throws(StrataError) {
        do {
            var source = ByteWriter(capacity: 128)
            let blind = try fingerprint(of: value, blinder, object, &source)
            source.reset()
            blind.withUnsafeBytes { source.append(UnsafeRawBufferPointer(rebasing: $0[..<EncryptedValue.blindSize])) }
            source.append(littleEndian: object.rawValue)
            let start = source.count
            try ValueCodec.encode(value, into: &source)
            var nonces = key.nonces
            nonces.update(bufferPointer: source.bytes)
            let nonce = try nonces.finalize().withUnsafeBytes { digest in
                try AES.GCM.Nonce(data: UnsafeRawBufferPointer(rebasing: digest[..<EncryptedValue.nonceSize]))
            }
            writer.reset()
            writer.append(subject == nil ? EncryptedValue.format : EncryptedValue.subjectFormat)
            writer.append(littleEndian: key.id.rawValue)
            writer.append(UnsafeRawBufferPointer(rebasing: source.bytes[..<EncryptedValue.blindSize]))
            if let subject {
                subject.id.bytes.withUnsafeBytes { writer.append($0) }
                writer.append(littleEndian: subject.key.rawValue)
            }
            let head = writer.count
            writer.append(littleEndian: object.rawValue)
            writer.append(littleEndian: property.rawValue)
            let box = try AES.GCM.seal(
                UnsafeRawBufferPointer(rebasing: source.bytes[start...]), using: key.values, nonce: nonce,
                authenticating: writer.bytes)
            guard let combined = box.combined else { throw CryptoKitError.incorrectParameterSize }
            writer.truncate(to: head)
            combined.withUnsafeBytes { writer.append($0) }
        } catch let error as StrataError {
            throw error
        } catch {
            throw StrataError(.wrongType, "The value cannot be encrypted.", context: context(object), cause: error)
        }
    }

    // MARK: Decrypting

    /// The value of an object.
    ///
    /// - Throws: `encryptionKeyMissing` with the id of the key; `encryptedValueDamaged`.
    package func decrypt(_ encrypted: EncryptedValue, of object: ObjectID) throws(StrataError) -> AttributeValue {
        do {
            return try encrypted.stored.withUnsafeBytes { try decrypt(bytes: $0, of: object) }
        } catch let error as StrataError {
            throw error
        } catch {
            throw damaged(object, error)
        }
    }

    /// The value of an object, from the stored bytes of an encrypted value.
    ///
    /// - Throws: as `decrypt(_:of:)`.
    package func decrypt(bytes: UnsafeRawBufferPointer, of object: ObjectID) throws(StrataError) -> AttributeValue {
        guard let head = EncryptedValue.headSize(of: bytes) else { throw damaged(object, nil) }
        let id = EncryptionKey.ID(UnsafeRawBufferPointer(rebasing: bytes[EncryptedValue.keyIDRange]))
        let key: AttributeKeys.Key
        if bytes[0] == EncryptedValue.subjectFormat {
            key = try subjectKey(bytes, id, object)
        } else {
            guard let known = table.keys.key(id) else { throw missingKey(id, object) }
            key = known
        }
        do {
            let box = try AES.GCM.SealedBox(combined: UnsafeRawBufferPointer(rebasing: bytes[head...]))
            let size = head + MemoryLayout<UInt64>.size + MemoryLayout<UInt32>.size
            let plain = try withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { place in
                place.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<head]))
                place.storeBytes(of: object.rawValue.littleEndian, toByteOffset: head, as: UInt64.self)
                place.storeBytes(of: property.rawValue.littleEndian, toByteOffset: head + 8, as: UInt32.self)
                return try AES.GCM.open(box, using: key.values, authenticating: UnsafeRawBufferPointer(place))
            }
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

    /// The value of an object without its encryption; nil if its subject was erased.
    ///
    /// - Throws: `encryptionKeyMissing`, `encryptionKeyWrong`, `encryptedValueDamaged`.
    package func decryptKept(_ value: AttributeValue, of object: ObjectID) throws(StrataError) -> AttributeValue {
        guard case .encrypted(let encrypted) = value else { return value }
        do {
            return try decrypt(encrypted, of: object)
        } catch {
            if error.code == .subjectErased { return .null }
            throw error
        }
    }

    /// Whether a value needs no other key than the newest.
    package func isUnderNewestKey(_ encrypted: EncryptedValue) -> Bool {
        guard let newest = table.keys.newest, encrypted.stored.count >= EncryptedValue.overhead else { return false }
        return encrypted.keyID == newest.id.bytes
    }

    /// The value of an object as the app sees it: nil where its subject was erased; any other value that cannot be
    /// decrypted stays as it is.
    package func shown(_ value: AttributeValue, of object: ObjectID) -> AttributeValue {
        guard case .encrypted(let encrypted) = value else { return value }
        do { return try decrypt(encrypted, of: object) } catch { return error.code == .subjectErased ? .null : value }
    }

    // MARK: Searching

    /// The blind of a value: equal values have equal blinds, so a search can compare them.
    ///
    /// - Throws: `encryptionKeyMissing`.
    func blind(_ value: AttributeValue) throws(StrataError) -> EncryptedValue {
        var source = ByteWriter(capacity: 128)
        guard let blinder = table.keys.blinder else { throw missingKey(nil, nil) }
        let fingerprint = try fingerprint(of: value, blinder, nil, &source)
        return fingerprint.withUnsafeBytes {
            EncryptedValue(blind: UnsafeRawBufferPointer(rebasing: $0[..<EncryptedValue.blindSize]))
        }
    }

    /// - Parameter writer: receives the form of the value.
    private func fingerprint(
        of value: AttributeValue, _ key: HMAC<SHA256>, _ object: ObjectID?, _ writer: inout ByteWriter
    ) throws(StrataError) -> HMAC<SHA256>.MAC {
        var blinder = key
        do {
            try CanonicalForm.append(value, of: type, to: &writer)
        } catch {
            throw StrataError(.wrongType, "The value cannot be encrypted.", context: context(object), cause: error)
        }
        blinder.update(data: writer.bytes)
        return blinder.finalize()
    }

    // MARK: Errors

    func context(_ object: ObjectID?) -> StrataError.Context {
        StrataError.Context(objectID: object, key: name)
    }

    func missingKey(_ id: EncryptionKey.ID?, _ object: ObjectID?) -> StrataError {
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
