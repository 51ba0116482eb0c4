// The record of a store's encryption, in its metadata (StoreMetadata.swift) under "strata.encryption": a composite with
// an element for each key that values are encrypted under. Being metadata, it is in the log, in copies and at targets.
//
//   name    the key's id in hexadecimal
//   value   data, 60 bytes: the store's blinding key of 32 random bytes, encrypted by AES-256-GCM (nonce, bytes, tag) under
//           K(info "strata blinding key"), with the id as authenticated data; K as in EncryptedValue.swift

import Crypto
import Foundation
import StrataModel

/// The keys under which a store's values are encrypted, and its blinding key encrypted under each of them.
struct EncryptionRecord: Sendable, Hashable {
    /// The name of the entry in the store's metadata.
    static let metadataKey = "strata.encryption"

    /// By the ids of keys in hexadecimal.
    private(set) var blindingKeys: [String: Data]

    /// The record of a new store.
    init() { blindingKeys = [:] }

    /// - Parameter entry: of the metadata; nil for a store that never encrypted anything.
    /// - Throws: `corrupt`.
    init?(_ entry: AttributeValue?) throws(StrataError) {
        guard let entry else { return nil }
        guard case .composite(let elements) = entry else { throw Self.damaged }
        blindingKeys = [:]
        for (id, value) in elements {
            guard case .data(let wrapped) = value else { throw Self.damaged }
            blindingKeys[id] = wrapped
        }
    }

    var entry: AttributeValue { .composite(blindingKeys.mapValues(AttributeValue.data)) }

    /// The ids of the keys, sorted.
    var keyIDs: [String] { blindingKeys.keys.sorted() }

    /// The blinding key, by one of the keys; nil if none of them is the store's.
    ///
    /// - Throws: `corrupt` if the key is the store's and the record is damaged.
    func blindingKey(_ keys: [EncryptionKey]) throws(StrataError) -> SymmetricKey? {
        for key in keys {
            guard let wrapped = blindingKeys[key.id.description] else { continue }
            do {
                let box = try AES.GCM.SealedBox(combined: wrapped)
                let opened = try AES.GCM.open(
                    box, using: key.derived("strata blinding key"), authenticating: key.id.bytes)
                return SymmetricKey(data: opened)
            } catch {
                throw Self.damaged
            }
        }
        return nil
    }

    /// Notes that values are encrypted under a key.
    mutating func add(_ key: EncryptionKey, _ blindingKey: SymmetricKey) throws(StrataError) {
        do {
            let bytes = blindingKey.withUnsafeBytes { Data($0) }
            let box = try AES.GCM.seal(
                bytes, using: key.derived("strata blinding key"), authenticating: key.id.bytes)
            guard let combined = box.combined else { throw Self.damaged }
            blindingKeys[key.id.description] = combined
        } catch {
            throw StrataError(.persistentStoreOperation, "The store's blinding key cannot be encrypted.", cause: error)
        }
    }

    /// Notes that no value is encrypted under other keys than this one.
    mutating func keepOnly(_ key: EncryptionKey.ID) {
        blindingKeys = blindingKeys.filter { $0.key == key.description }
    }

    private static var damaged: StrataError {
        StrataError(.corrupt, "The store's record of its encryption is damaged; restore the store from a backup.")
    }
}
