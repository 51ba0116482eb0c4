import Foundation
import StrataModel

// Between a slot of the row and a value that carries its own type.

extension ManagedObject {
    /// The slot as the model's value type; a fault has fired. An encrypted value whose key is not known stays encrypted.
    final func attributeValue(_ property: PropertyRuntime) -> AttributeValue {
        guard property.cipher != nil else { return storedValue(property) }
        if property.kind.isExternal, case .blob(let reference) = storedValue(property) { return .blob(reference) }
        do {
            return try decryptedValue(property)
        } catch let error as StrataError where error.code == .encryptionKeyMissing {
            return storedValue(property)
        } catch {
            report(ManagedObjectContext.typed(error))
            return .null
        }
    }

    /// The slot as the store has it: encrypted where it is.
    final func storedValue(_ property: PropertyRuntime) -> AttributeValue {
        guard property.isInRow else { return .null }
        do {
            return try RowReader(rowBytes, layout: _entity.layout).value(property.slot)
        } catch {
            report(corruption(error))
            return .null
        }
    }

    /// The slot as the Swift value of its attribute's type; data kept in a file and transformed values as stored.
    final func value(of property: PropertyRuntime) -> Any? {
        guard property.isInRow, !_isNull(property.location) else { return nil }
        let location = property.location
        switch property.kind {
        case .absent: return nil
        case .boolean: return Bool._load(self, location)
        case .integer16: return Int16._load(self, location)
        case .integer32: return Int32._load(self, location)
        case .integer64, .position: return Int64._load(self, location)
        case .float: return Float._load(self, location)
        case .double: return Double._load(self, location)
        case .date: return Date._load(self, location)
        case .decimal: return Decimal._load(self, location)
        case .uuid: return UUID._load(self, location)
        case .objectID, .reference: return ObjectID._load(self, location)
        case .string: return String._load(self, location)
        case .url: return URL._load(self, location)
        case .data: return Data(_bytes(location))
        case .externalData, .composite, .undefined:
            let value = attributeValue(property)
            return value.isNull ? nil : value.plain
        case .encrypted, .externalEncrypted:
            let value = attributeValue(property)
            return value.isNull ? nil : property.swiftValue(of: value)
        }
    }

    /// A Swift value as the model's value type, fit for the attribute.
    ///
    /// - Throws: `wrongType`.
    final func boxed(_ value: Any?, for property: PropertyRuntime) throws -> AttributeValue {
        guard let value = Self.unwrapped(value) else { return .null }
        guard let attribute = property.attribute else { throw wrongType(property, value) }
        if attribute.type == .transformable, !(value is AttributeValue) {
            return .data(try property.transformed(value, errorContext(property.name)))
        }
        guard let given = try AttributeValue(any: value, for: attribute), let fit = given.coerced(to: attribute.type)
        else { throw wrongType(property, value) }
        return try fit.withFittingElements(of: attribute, errorContext(property.name))
    }

    /// Writes an attribute whose value is fit for it.
    final func write(_ value: AttributeValue, to property: PropertyRuntime) throws {
        if let refusal = refusalToChange(key: property.name) { throw refusal }
        if _state != 0, !makeWritable(property.index) { throw unreadable(property.name) }
        try store(value, property)
        _extras?.forgetValue(property.index)
        if _state != 0 { _didWrite(property.index) }
    }

    final func store(_ value: AttributeValue, _ property: PropertyRuntime) throws {
        let location = property.location
        if property.kind.isEncrypted { return try storeEncrypted(value, property) }
        switch (value, property.kind) {
        case (.null, _): return _storeNull(location)
        case (.boolean(let value), .boolean): Bool._store(value, in: self, location)
        case (.integer(let value), .integer16): Int16._store(try narrow(value, property), in: self, location)
        case (.integer(let value), .integer32): Int32._store(try narrow(value, property), in: self, location)
        case (.integer(let value), .integer64): Int64._store(value, in: self, location)
        case (.float(let value), .float): Float._store(value, in: self, location)
        case (.double(let value), .double): Double._store(value, in: self, location)
        case (.date(let value), .date): Date._store(value, in: self, location)
        case (.decimal(let value), .decimal): Decimal._store(value, in: self, location)
        case (.uuid(let value), .uuid): UUID._store(value, in: self, location)
        case (.objectID(let value), .objectID):
            if value.isNil { return _storeNull(location) }
            ObjectID._store(value, in: self, location)
        case (.string(let value), .string): String._store(value, in: self, location)
        case (.url(let value), .url): URL._store(value, in: self, location)
        case (.data(let value), .data), (.data(let value), .externalData): Data._store(value, in: self, location)
        case (.blob, .externalData), (_, .composite), (_, .undefined): try storeEncoded(value, property)
        default: throw wrongType(property, value)
        }
        _didStore(location)
    }

    /// Values that only the row codec can write.
    final func storeEncoded(_ value: AttributeValue, _ property: PropertyRuntime) throws {
        do {
            var builder = RowBuilder(_entity.layout)
            try builder.set(property.slot, value)
            let image = try builder.finish()
            try image.bytes.withUnsafeBytes { bytes throws in
                let reader = try RowReader(bytes, layout: _entity.layout)
                _storeBytes(try reader.variableBytes(reader.entry(property.slot)), property.location)
            }
        } catch {
            throw StrataError(
                .wrongType, "The value cannot be stored.", context: errorContext(property.name, value), cause: error)
        }
    }

    private final func narrow<Number: FixedWidthInteger>(_ value: Int64, _ property: PropertyRuntime) throws -> Number {
        guard let number = Number(exactly: value) else { throw wrongType(property, value) }
        return number
    }
}

extension PropertyRuntime {
    /// A value that is fit for the attribute as the Swift value of its type.
    func swiftValue(of value: AttributeValue) -> Any? {
        switch attributeType {
        case .integer16: Int16(attributeValue: value)
        case .integer32: Int32(attributeValue: value)
        case .float: Float(attributeValue: value)
        default: value.plain
        }
    }
}

extension AttributeValue {
    /// A Swift value of any storable type, or what Foundation has for it; nil for other types.
    ///
    /// - Parameter attribute: what takes the value; nil where it is not known, which takes no `Codable` types.
    init?(any value: Any, for attribute: AttributeDescription?) throws {
        switch value {
        case let value as AttributeValue: self = value
        case let value as any StorableValue: self = value.attributeValue
        case let value as [String: Any]:
            self = .composite(
                try value.mapValues { element in
                    guard let inner = ManagedObject.unwrapped(element) else { return .null }
                    guard let boxed = try AttributeValue(any: inner, for: attribute) else {
                        throw StrataError(.wrongType, "A composite cannot hold a \(type(of: inner)).")
                    }
                    return boxed
                })
        case let value as any BinaryInteger:
            guard let exact = Int64(exactly: value) else { return nil }
            self = .integer(exact)
        case let value as any RawRepresentable:
            guard let raw = value.rawValue as? any StorableValue else { return nil }
            self = raw.attributeValue
        case let value as any Codable & Sendable where attribute?.type == .composite:
            self = try AttributeValueEncoder.encode(value)
        case let value as NSDictionary:
            var elements: [String: Any] = [:]
            for (key, element) in value { elements["\(key)"] = element }
            try self.init(any: elements, for: attribute)
        default: self.init(foundation: value)
        }
    }

    /// A value of Foundation's classes, as `JSONSerialization` and property lists have them where they are not bridged.
    private init?(foundation value: Any) {
        switch value {
        case let value as NSNumber:
            guard case .constant(let number) = value.fetchExpression else { return nil }
            self = number
        case is NSNull: self = .null
        case let value as NSString: self = .string(String(describing: value))
        case let value as NSDate:
            self = .date(Date(timeIntervalSinceReferenceDate: value.timeIntervalSinceReferenceDate))
        case let value as NSData: self = .data(Data(referencing: value))
        case let value as NSUUID:
            guard let id = UUID(uuidString: value.uuidString) else { return nil }
            self = .uuid(id)
        case let value as NSURL:
            guard let url = value.absoluteURL else { return nil }
            self = .url(url)
        default: return nil
        }
    }

    /// The value as Swift has it: a composite as a dictionary.
    var plain: Any? {
        switch self {
        case .null: nil
        case .boolean(let value): value
        case .integer(let value): value
        case .float(let value): value
        case .double(let value): value
        case .decimal(let value): value
        case .string(let value): value
        case .date(let value): value
        case .uuid(let value): value
        case .url(let value): value
        case .data(let value): value
        case .blob(let value): value
        case .objectID(let value): value
        case .composite(let values): values.mapValues { $0.plain }
        case .encrypted(let value): value
        }
    }
}
