import Crypto
package import Foundation
import LMDB
import Synchronization
package import StrataModel

// The keys of a store's encrypted attributes: given at opening, and noted in the log (EncryptionRecord.swift).

extension Store {
    /// The keys of encrypted attributes, and their ciphers.
    package var keyRing: KeyRing { file.keyRing }

    /// Takes the keys that were given, if the store or the model has encrypted attributes, and notes a key that the store
    /// does not know.
    ///
    /// It is called before the model is installed, because a migration may encrypt, and after that, because only a store
    /// with a model can note keys.
    ///
    /// - Throws: `encryptionKeyWrong` if none of the keys is the store's; what the app's closure throws.
    func takeKeys(_ model: ManagedObjectModel?) throws {
        guard let given = file.options.encryptionKeys else { return }
        guard try model?.hasEncryption ?? false || file.header.isEncrypted || hasEncryptedModel() else { return }
        if !keyRing.table.hasKey {
            var keys: [EncryptionKey] = []
            for secret in try given() { keys.append(try EncryptionKey(secret)) }
            keyRing.table.take(keys)
            if let source = file.options.subjectKeys {
                let firstRow = try file.environment.read { try RowLease.firstUnleased($0, file.tables.state) }
                keyRing.table.firstNewRow.store(firstRow, ordering: .relaxed)
                keyRing.table.take(subjects: SubjectKeys(source, uses: UsedSubjects.uses(of: self)))
            }
        }
        guard let newest = keyRing.table.newest else { return }
        let record = try file.environment.read { try encryptionRecord(StoreMetadata.read($0, file.tables)) }
        if let record {
            keyRing.table.take(blindingKey: try blindingKey(of: record))
            if record.keyIDs.contains(newest.id.description) { return }
        }
        guard !isReadOnly, !file.options.receivesOnly, file.histories.newest != nil else { return }
        let isMigrating = try file.environment.read { try file.migrationMark($0) != nil }
        if !isMigrating { try note(newest) }
    }

    /// Whether a model of the store has encrypted attributes. Those of a shared log come after the file was opened.
    private func hasEncryptedModel() throws -> Bool { try file.histories.schemas.contains { $0.hasEncryption } }

    /// Notes a key under which values will be encrypted. Another process may have noted the first key meanwhile.
    private func note(_ key: EncryptionKey) throws {
        try changeMetadata(MaintenanceNote(author: "strata")) { [self] entries in
            var record = try encryptionRecord(entries) ?? EncryptionRecord()
            let blindingKey = record.keyIDs.isEmpty ? SymmetricKey(size: .bits256) : try blindingKey(of: record)
            if !record.keyIDs.contains(key.id.description) { try record.add(key, blindingKey) }
            entries[EncryptionRecord.metadataKey] = record.entry
            keyRing.table.take(blindingKey: blindingKey)
        }
    }

    private func encryptionRecord(_ entries: [String: AttributeValue]) throws(StrataError) -> EncryptionRecord? {
        try EncryptionRecord(entries[EncryptionRecord.metadataKey])
    }

    private func blindingKey(of record: EncryptionRecord) throws(StrataError) -> SymmetricKey {
        if let key = try record.blindingKey(keyRing.table.all.keys) { return key }
        let given = keyRing.table.all.keys.map(\.id.description).sorted().joined(separator: ", ")
        throw StrataError(
            .encryptionKeyWrong,
            "The store is encrypted under the key \(record.keyIDs.joined(separator: " or ")); the keys that were given "
                + "are \(given). Open it with that key.", context: .init(path: path))
    }

    /// The ids of the keys under which current values may be encrypted, in hexadecimal, sorted; none for a store that
    /// never encrypted anything.
    package func encryptionKeyIDs() throws -> [String] {
        try checkOpen()
        return try file.read { transaction, _, _ in
            try encryptionRecord(StoreMetadata.read(transaction, file.tables))?.keyIDs ?? []
        }
    }

    /// Checks that values which are encrypted now can be read with the keys that the store needs.
    ///
    /// - Throws: `encryptionKeyWrong` if the store has come under another key since it was opened.
    package func checkKeyIsCurrent() throws {
        guard let newest = keyRing.table.newest else { return }
        let ids = try encryptionKeyIDs()
        guard !ids.isEmpty, !ids.contains(newest.id.description) else { return }
        throw StrataError(
            .encryptionKeyWrong,
            "The store has come under the key \(ids.joined(separator: " or ")) since it was opened with the key "
                + "\(newest.id). Open it again with that key.", context: .init(path: path))
    }

    /// Notes that no value of today is under another key than the newest.
    package func noteKeyRotation() throws {
        guard let newest = keyRing.table.newest else { return }
        try changeMetadata(MaintenanceNote(author: "strata")) { [self] entries in
            guard var record = try encryptionRecord(entries), record.keyIDs.contains(newest.id.description) else {
                return
            }
            record.keepOnly(newest.id)
            entries[EncryptionRecord.metadataKey] = record.entry
        }
    }

    /// A value as a row or an event has it, without its encryption.
    ///
    /// - Throws: `encryptionKeyMissing`, `encryptedValueDamaged`, `missingBlob`.
    package func decrypted(
        _ stored: AttributeValue, of property: PropertySchema, in object: ObjectID
    ) throws -> AttributeValue {
        guard let cipher = keyRing.cipher(property) else { return stored }
        guard case .blob(let reference) = stored else { return try cipher.decrypt(stored, of: object) }
        return try cipher.decrypt(EncryptedValue(stored: try blob(reference)), of: object)
    }

    /// A value as a row has it, without its encryption; nil if its subject was erased.
    ///
    /// - Throws: as `decrypted`.
    package func decryptedKept(
        _ stored: AttributeValue, of property: PropertySchema, in object: ObjectID
    ) throws -> AttributeValue {
        do {
            return try decrypted(stored, of: property, in: object)
        } catch let error as StrataError where error.code == .subjectErased {
            return .null
        }
    }

    /// Counts the present values that are encrypted under each key, by the ids of keys in hexadecimal. Needs no key.
    ///
    /// - Throws: `corrupt`, `missingBlob`.
    /// - Complexity: O(objects of entities with encrypted attributes); it reads the files of their large values.
    package func encryptedValueCounts(progress: ProgressHandler? = nil) throws -> [String: Int] {
        var (counts, seen) = ([EncryptionKey.ID: Int](), 0)
        try read(at: try head()) { snapshot in
            for entity in snapshot.schema.entities where !entity.isAbstract {
                let properties = entity.properties.filter { keyRing.cipher($0) != nil }
                guard !properties.isEmpty else { continue }
                try snapshot.scan(entity.id) { _, row in
                    let image = try row.converted(to: entity)
                    for property in properties {
                        let value = try image.withReader(entity.layout) { reader throws(CorruptRecord) in
                            try reader.value(property.slot)
                        }
                        guard let id = try keyID(of: value) else { continue }
                        counts[id, default: 0] += 1
                    }
                    seen += 1
                    if seen % 10_000 == 0 { progress?(StoreProgress(phase: "objects", done: seen, total: 0)) }
                    return true
                }
            }
        }
        return Dictionary(uniqueKeysWithValues: counts.map { ($0.key.description, $0.value) })
    }

    /// The id of the key of an encrypted value; nil for nil.
    private func keyID(of value: AttributeValue) throws -> EncryptionKey.ID? {
        let bytes: Data
        switch value {
        case .encrypted(let value): bytes = value.stored
        case .blob(let reference): bytes = try blob(reference)
        default: return nil
        }
        guard bytes.count >= EncryptedValue.overhead else { return nil }
        return bytes.withUnsafeBytes {
            EncryptionKey.ID(UnsafeRawBufferPointer(rebasing: $0[EncryptedValue.keyIDRange]))
        }
    }

    /// The id of a key, in hexadecimal.
    ///
    /// - Throws: `encryptionKeyWrong` for a short one.
    package static func encryptionKeyID(of key: Data) throws(StrataError) -> String {
        try EncryptionKey(key).id.description
    }
}
