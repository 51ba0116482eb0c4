import Foundation
import StrataModel
import StrataStore

// Attributes whose rows hold something else than the value: Codable values, data in files, and values that are in no
// row at all.

extension ManagedObject {
    // MARK: Codable

    final func decodedValue<Value: Codable & Sendable>(at index: Int) -> Value? {
        if _state & ObjectState.readMask != 0 { _willRead(index) }
        let property = _entity.properties[index]
        guard property.isInRow, !_isNull(property.location) else { return nil }
        if let known = _extras?.decoded[index], let value = known as? Value { return value }
        do {
            if property.attributeType == .transformable { return try readTransformed(property) as? Value }
            let value =
                try property.cipher == nil
                ? RowReader(rowBytes, layout: _entity.layout).value(property.slot) : decryptedValue(property)
            if value.isNull { return nil }
            let decoded = try AttributeValueDecoder.decode(Value.self, from: value)
            ensureExtras().decoded[index] = decoded
            return decoded
        } catch {
            report(
                (error as? StrataError)
                    ?? StrataError(
                        .wrongType, "The stored value cannot be decoded as \(Value.self).",
                        context: errorContext(property.name), cause: error))
            return nil
        }
    }

    final func setEncodedValue<Value: Codable & Sendable>(_ value: Value, at index: Int) {
        let property = _entity.properties[index]
        reporting {
            guard Self.unwrapped(value) != nil else { return try write(.null, to: property) }
            if property.attributeType == .transformable {
                return try write(try boxed(value, for: property), to: property)
            }
            let encoded: AttributeValue
            do { encoded = try AttributeValueEncoder.encode(value) } catch {
                throw StrataError(
                    .wrongType, "The value cannot be encoded.", context: errorContext(property.name), cause: error)
            }
            try write(encoded, to: property)
        }
    }

    // MARK: Transient

    final func transientValue(at index: Int) -> Any? {
        if _state & ObjectState.readMask != 0 { _willRead(index) }
        if let known = _extras?.transients[index] { return known }
        let property = _entity.properties[index]
        return property.attribute?.defaultValue.flatMap { property.swiftValue(of: $0) }
    }

    /// The value that was set, as the type of the property; nil if none was, or one of another type.
    final func keptValue<Value>(at index: Int) -> Value? {
        if _state & ObjectState.readMask != 0 { _willRead(index) }
        guard let kept = _extras?.transients[index] else { return nil }
        if let value = kept as? Value { return value }
        // Set by name, so perhaps as another number, or as the raw value of an enum.
        return kept.flatMap {
            Self.converted($0, to: (Value.self as? any OptionalType.Type)?.wrappedType ?? Value.self)
        } as? Value
    }

    private static func converted(_ value: Any, to type: Any.Type) -> Any? {
        func made<Case: RawRepresentable>(_ type: Case.Type) -> Case? {
            let raw = value as? Case.RawValue ?? converted(value, to: Case.RawValue.self) as? Case.RawValue
            return raw.flatMap(Case.init(rawValue:))
        }
        if let type = type as? any StorableValue.Type, let value = value as? any StorableValue {
            return type.init(attributeValue: value.attributeValue)
        }
        if let type = type as? any RawRepresentable.Type { return made(type) }
        return nil
    }

    /// A value for a transient attribute, of the attribute's type where the model names one.
    ///
    /// - Throws: `wrongType`.
    final func fitTransientValue(_ value: Any?, _ property: PropertyRuntime) throws -> Any? {
        guard let type = property.attributeType, type != .undefined, type != .transformable, type != .composite else {
            return value
        }
        let fit = try boxed(value, for: property)
        return fit.isNull ? nil : property.swiftValue(of: fit)
    }

    final func setTransientValue(_ value: Any?, at index: Int) {
        if _state & ObjectState.observed != 0 { announceWillSet(index) }
        ensureExtras().transients.updateValue(Self.unwrapped(value), forKey: index)
        if _state & ObjectState.observed != 0 { announceDidSet(index) }
    }

    // MARK: Data in files

    /// The bytes, read from the file when they are in one; empty, with an error reported, when they cannot be had.
    final func externalData(at location: _FieldLocation) -> Data {
        do {
            return try readExternalData(location)
        } catch {
            report(ManagedObjectContext.typed(error))
            return Data()
        }
    }

    /// The bytes, decrypted where they are encrypted.
    final func readExternalData(_ location: _FieldLocation) throws -> Data {
        let stored = try readExternalBytes(location)
        guard let cipher = _entity.property(slot: Int(location.slot)).cipher else { return stored }
        guard case .data(let data) = try cipher.decrypt(EncryptedValue(stored: stored), of: objectID) else {
            return Data()
        }
        return data
    }

    /// The bytes as the store has them.
    final func readExternalBytes(_ location: _FieldLocation) throws -> Data {
        let reader = try RowReader(rowBytes, layout: _entity.layout)
        if let bytes = try reader.bytes(Int(location.slot)) { return Data(bytes) }
        guard let reference = try reader.blob(Int(location.slot)) else { return Data() }
        guard let context = _context else { throw unreadable(_entity.property(slot: Int(location.slot)).name) }
        do {
            return try context.binding.store.blob(reference)
        } catch var error as StrataError {
            let name = _entity.property(slot: Int(location.slot)).name
            error.context.entityName = _entity.name
            error.context.objectID = objectID
            error.context.key = name
            throw error
        }
    }

    final func storeExternalData(_ value: Data, at location: _FieldLocation) {
        var bytes = [UInt8](repeating: 0, count: 1)
        bytes.reserveCapacity(value.count + 1)
        value.withUnsafeBytes { bytes.append(contentsOf: $0) }
        bytes.withUnsafeBytes { _storeBytes($0, location) }
    }

    /// Moves values too large for a row into files; the row keeps their names.
    final func moveLargeValuesOut() throws {
        guard let context = _context else { return }
        for property in _entity.properties where property.kind.isExternal && !_isNull(property.location) {
            guard isChanged(slot: property.slot) || _flags.contains(.inserted) else { continue }
            let reader = try RowReader(rowBytes, layout: _entity.layout)
            guard let bytes = try reader.bytes(property.slot),
                bytes.count >= context.binding.externalStorageThreshold
            else { continue }
            if context.saving.blobLease == nil {
                context.saving.blobLease = try context.binding.store.beginBlobLease()
            }
            let reference = try context.binding.store.stageBlob(Data(bytes))
            try storeReference(toBlob: reference, property)
        }
    }

    private final func storeReference(toBlob reference: BlobReference, _ property: PropertyRuntime) throws {
        var builder = RowBuilder(_entity.layout)
        try builder.set(property.slot, .blob(reference))
        let image = try builder.finish()
        try image.bytes.withUnsafeBytes { bytes throws in
            let reader = try RowReader(bytes, layout: _entity.layout)
            _storeBytes(try reader.variableBytes(reader.entry(property.slot)), property.location)
        }
    }
}
