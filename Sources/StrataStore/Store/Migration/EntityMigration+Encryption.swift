import StrataModel

// Encrypted values in a migration.

extension EntityMigration {
    /// A stored value without its encryption; nil if its subject was erased.
    ///
    /// - Throws: `encryptionKeyMissing`, `encryptedValueDamaged`, `missingBlob`.
    func decrypted(
        _ stored: AttributeValue, _ attribute: AttributeDescription, _ property: PropertyID, _ id: ObjectID
    ) throws -> AttributeValue {
        guard attribute.isEncrypted else { return stored }
        do {
            if case .blob(let reference) = stored {
                let bytes = EncryptedValue(stored: try blobs.read(reference))
                return try keys.decrypted(.encrypted(bytes), of: property, in: id)
            }
            return try keys.decrypted(stored, of: property, in: id)
        } catch let error as StrataError where error.code == .subjectErased {
            return .null
        }
    }

    /// A value as the new model stores it.
    ///
    /// - Throws: `encryptionKeyMissing`.
    func encrypted(_ value: AttributeValue, _ property: PropertySchema, _ id: ObjectID) throws -> AttributeValue {
        if case .encrypted = value { return value }
        guard let cipher = keys.cipher(property), !value.isNull else { return value }
        if case .blob(let reference) = value {
            return .encrypted(try cipher.encrypt(.data(try blobs.read(reference)), of: id))
        }
        return .encrypted(try cipher.encrypt(value, of: id))
    }

    /// A value as the new model stores it, under the key of its subject if it has one.
    ///
    /// - Returns: nil if it lacks a subject, which is added to `failures`.
    func sealed(
        _ value: AttributeValue, _ property: PropertySchema, _ id: ObjectID, _ row: SnapshotRow, _ reader: RowReader,
        _ snapshot: Snapshot, _ changes: [PropertyChange], _ failures: inout MigrationFailures
    ) throws -> AttributeValue? {
        let stored = try encrypted(value, property, id)
        guard let subject = property.attribute?.encryption?.subject, let cipher = keys.cipher(property), !value.isNull
        else { return stored }
        var named = AttributeValue.objectID(id)
        if case .property(let name) = subject {
            named = .null
            if let naming = entity.property(named: name) {
                if case .value(let made)? = changes.last(where: { $0.property == naming.id })?.after {
                    named = made
                } else if let slot = old.slot(of: naming.id) {
                    named = try snapshot.value(slot, of: row, reader, old)
                }
            }
            if named.isNull {
                failures.add(
                    .migration, "\(property.name) is to be encrypted under the key of \(name), which is nil.", entity,
                    id,
                    property.name, .null)
                return nil
            }
        }
        let subjectID = try keys.subjectID(of: named)
        try keys.makeSubjectKeys([subjectID])
        return .encrypted(try cipher.seal(cipher.decrypt(stored, of: id), of: id, under: subjectID))
    }
}
