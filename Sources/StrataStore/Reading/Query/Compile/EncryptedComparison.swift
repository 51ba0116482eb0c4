import StrataModel
import Synchronization

/// An encrypted attribute at the end of a path: it is compared with constants by blinds, which equal values have in
/// common, and read with the key.
final class EncryptedComparison: Sendable {
    private let property: PropertySchema
    private let type: ComparedType
    private let attributeType: AttributeType
    /// Whether equal values of two subjects have nothing in common.
    let hasSubject: Bool
    private let keys: SchemaKeys
    /// Found once, because a description takes longer to copy than a value to hash.
    private let found = AtomicLazyReference<AttributeCipher>()

    /// Nil if the path ends elsewhere.
    init?(_ path: ResolvedPath, _ schema: Schema) {
        guard case .attribute(let slot, let attribute) = path.end, attribute.isEncrypted else { return nil }
        property = path.entity.properties[slot]
        type = ComparedType(attribute)
        attributeType = attribute.type
        hasSubject = attribute.encryption?.subject != nil
        keys = SchemaKeys.of(schema)
    }

    /// Whether a constant can be compared with values of the attribute.
    func takes(_ constant: AttributeValue) -> Bool {
        constant.isNull || type != .outside && type.constant(constant) != nil
    }

    /// Whether the attribute is in the row, so that it can be compared with other values than nil.
    var isInRow: Bool { type != .outside }

    /// Whether the store was opened without a key.
    var lacksKey: Bool { keys.ring.map { !$0.table.hasKey } ?? false }

    private var cipher: AttributeCipher? {
        guard let ring = keys.ring else { return nil }
        if let known = found.load(), known.given === ring.table { return known }
        return ring.cipher(property).map { found.storeIfNil($0) }
    }

    /// The constant as the attribute has it; nil if it cannot be compared, or there is no key.
    func accepted(_ constant: AttributeValue) -> AttributeValue? {
        if constant.isNull { return .null }
        guard takes(constant), !lacksKey else { return nil }
        // Nothing equals a number that the attribute cannot have. Nothing is stored before the first key is noted, and a
        // check alone finds nothing.
        guard let ring = keys.ring, ring.isComplete, let cipher,
            let value = type.constant(constant)?.coerced(to: attributeType), let blind = try? cipher.blind(value)
        else { return .encrypted(EncryptedValue(blind: nil)) }
        return .encrypted(blind)
    }

    /// The value of an object; still encrypted if its key is not known.
    ///
    /// - Throws: `encryptedValueDamaged`.
    func decrypted(_ value: AttributeValue, of object: ObjectID) throws -> AttributeValue {
        guard let cipher else { return value }
        return try Self.decrypted(value, cipher, object)
    }

    /// A value of a property; still encrypted if its key is not known.
    ///
    /// - Throws: `encryptedValueDamaged`.
    static func decrypted(
        _ value: AttributeValue, _ property: PropertySchema, _ object: ObjectID, _ schema: Schema
    ) throws -> AttributeValue {
        guard let cipher = SchemaKeys.of(schema).ring?.cipher(property) else { return value }
        return try decrypted(value, cipher, object)
    }

    private static func decrypted(
        _ value: AttributeValue, _ cipher: AttributeCipher, _ object: ObjectID
    ) throws -> AttributeValue {
        do {
            return try cipher.decrypt(value, of: object)
        } catch  where error.code == .subjectErased {
            return .null
        } catch  where error.code == .encryptionKeyMissing {
            return value
        }
    }
}
