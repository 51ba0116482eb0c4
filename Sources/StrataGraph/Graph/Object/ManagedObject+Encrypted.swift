import Foundation
import StrataModel
import StrataStore

// Encrypted attributes. The row of an object holds them as the store does, so that layers, merges and undo need no key;
// they are decrypted when they are read and encrypted when they are set. Decrypted values are kept with the object until
// its row goes or the attribute changes.

extension ManagedObject {
    /// The value of an encrypted attribute; zero or empty, with an error reported, where it cannot be decrypted.
    @usableFromInline final func _decrypted<Value: StorableValue>(_ index: Int) -> Value {
        if let value: Value = _decryptedIfAny(index) { return value }
        guard let zero = Value(attributeValue: Value.attributeType.zero) else {
            preconditionFailure("\(Value.self) is stored as \(Value.attributeType).")
        }
        return zero
    }

    /// The value of an optional encrypted attribute; nil, with an error reported, where it cannot be decrypted.
    @usableFromInline final func _decryptedIfAny<Value: StorableValue>(_ index: Int) -> Value? {
        let property = _entity.properties[index]
        if _isNull(property.location) { return nil }
        do {
            return Value(attributeValue: try decryptedValue(property))
        } catch {
            report(ManagedObjectContext.typed(error))
            return nil
        }
    }

    /// Sets an encrypted attribute; the row may be written.
    @usableFromInline final func _encrypt(_ value: AttributeValue, _ index: Int) {
        let property = _entity.properties[index]
        reporting { try store(value, property) }
        _extras?.forgetValue(index)
        if _state != 0 { _didWrite(index) }
    }

    /// The value of an encrypted attribute; a fault has fired.
    ///
    /// - Throws: `encryptionKeyMissing`, `encryptedValueDamaged`, `missingBlob`, `corrupt`.
    final func decryptedValue(_ property: PropertyRuntime) throws -> AttributeValue {
        guard let cipher = property.cipher, !_isNull(property.location) else { return .null }
        if let known = _extras?.decryptedValue(property.index) { return known }
        do {
            let value: AttributeValue
            if property.kind.isExternal {
                value = try cipher.decrypt(EncryptedValue(stored: readExternalBytes(property.location)), of: objectID)
            } else {
                value = try cipher.decrypt(bytes: _bytes(property.location), of: objectID)
                // The results of decoders and transformers are kept.
                if !property.isEncoded { ensureExtras().keep(decrypted: value, property.index) }
            }
            return value
        } catch let error as StrataError where error.code == .subjectErased {
            return .null
        } catch let error as StrataError {
            throw naming(error, property)
        }
    }

    /// Whether the attribute has a value in this object that became unreadable when its subject was erased. It then
    /// reads as nil.
    ///
    /// - Throws: `unknownKey`; `encryptionKeyMissing` without the keys of subjects; `missingBlob`, `corrupt`.
    public final func isErased(_ key: String) throws -> Bool {
        guard let property = _entity.property(named: key) else { throw unknownKey(key) }
        _willRead(property.index)
        try throwIfUnreadable(key)
        guard let cipher = property.cipher, !_isNull(property.location) else { return false }
        do {
            let stored =
                try property.kind.isExternal
                ? EncryptedValue(stored: readExternalBytes(property.location)) : storedValue(property).encrypted
            if let stored { _ = try cipher.decrypt(stored, of: objectID) }
            return false
        } catch let error as StrataError where error.code == .subjectErased {
            return true
        } catch let error as StrataError {
            throw naming(error, property)
        }
    }

    private final func naming(_ error: StrataError, _ property: PropertyRuntime) -> StrataError {
        var error = error
        error.context.entityName = error.context.entityName ?? _entity.name
        error.context.objectID = error.context.objectID ?? objectID
        error.context.key = property.name
        return error
    }

    /// The values that are to come under the keys of their subjects when the object is saved.
    ///
    /// - Throws: as `SubjectAttributes.pending`.
    final func valuesToSeal(_ subjects: SubjectAttributes, _ store: Store) throws -> [SubjectAttributes.Pending] {
        let changed = _flags.contains(.inserted) ? nil : changedSlots
        let reader = try RowReader(rowBytes, layout: _entity.layout)
        return try subjects.pending(in: reader, of: objectID, changed: changed) { try store.blob($0) }
    }

    /// Puts a value under the key of its subject, which has been made.
    final func seal(_ pending: SubjectAttributes.Pending) throws {
        let property = _entity.property(slot: pending.slot)
        let sealed = try SubjectAttributes.sealed(pending, of: objectID)
        sealed.stored.withUnsafeBytes { storeEncrypted(bytes: $0, property) }
        _didStore(property.location)
    }

    /// Writes the slot of an encrypted attribute.
    ///
    /// - Parameter value: a value of the attribute's type, or one of this object that is encrypted already.
    final func storeEncrypted(_ value: AttributeValue, _ property: PropertyRuntime) throws {
        switch value {
        case .null: return _storeNull(property.location)
        case .encrypted(let given): given.stored.withUnsafeBytes { storeEncrypted(bytes: $0, property) }
        case .blob:
            try storeEncoded(value, property)
            return _didStore(property.location)
        default:
            guard let cipher = property.cipher else { throw wrongType(property, value) }
            // Under another key until it is saved, it would count as a change.
            if cipher.hasSubject, isStored(value, property) { return }
            var writer = ByteWriter(capacity: 128)
            do { try cipher.encrypt(value, of: objectID, into: &writer) } catch { throw naming(error, property) }
            storeEncrypted(bytes: writer.bytes, property)
        }
        _didStore(property.location)
    }

    /// Whether the row has the value, under the key of a subject.
    private final func isStored(_ value: AttributeValue, _ property: PropertyRuntime) -> Bool {
        if _isNull(property.location) { return false }
        // A value that cannot be decrypted counts as different, so that it can be replaced.
        do { return try decryptedValue(property).isIdentical(to: value) } catch { return false }
    }

    final func storeEncrypted(bytes: UnsafeRawBufferPointer, _ property: PropertyRuntime) {
        if property.kind.isExternal {
            storeExternalData(Data(bytes), at: property.location)
        } else {
            _storeBytes(bytes, property.location)
        }
    }
}

extension PropertyRuntime {
    /// A stored value as the app sees it: decrypted if it is encrypted and its key is known.
    func shown(_ value: AttributeValue, of object: ObjectID) -> AttributeValue {
        cipher?.shown(value, of: object) ?? value
    }
}

extension AttributeType {
    /// The value that an attribute without a value reads as if its Swift type has no nil.
    fileprivate var zero: AttributeValue {
        switch self {
        case .integer16, .integer32, .integer64: .integer(0)
        case .decimal: .decimal(0)
        case .double: .double(0)
        case .float: .float(0)
        case .string: .string("")
        case .boolean: .boolean(false)
        case .date: .date(Date(timeIntervalSinceReferenceDate: 0))
        case .binaryData, .transformable: .data(Data())
        case .uuid: .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
        case .uri: .url(URL(filePath: ""))
        case .objectID: .objectID(ObjectID(rawValue: 0))
        case .undefined, .composite: .null
        }
    }
}

extension AttributeValue {
    fileprivate var encrypted: EncryptedValue? { if case .encrypted(let value) = self { value } else { nil } }
}
