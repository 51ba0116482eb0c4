import Crypto
package import Foundation
package import StrataModel
import Synchronization

/// The attributes of an entity that are encrypted under keys of subjects, and how their values come under them.
///
/// A value that was set is under the store's key until the change is saved, when the subject is known. A stored value
/// names its subject, so it is readable after the object was given another one; the next save puts it under that.
package struct SubjectAttributes: Sendable {
    private struct Attribute: Sendable {
        let slot: Int
        let name: String
        let cipher: AttributeCipher
        /// The slot that names the subject, with its property's name; nil for the object itself.
        let naming: (slot: Int, name: String)?
    }

    /// A value that is to come under the key of a subject.
    package struct Pending: Sendable {
        package let slot: Int
        package let subject: SubjectID
        /// Whether the subject is an object that was made since the store was opened.
        fileprivate let isNew: Bool
        fileprivate let value: AttributeValue
        fileprivate let cipher: AttributeCipher
    }

    private let attributes: [Attribute]
    private let layout: RowLayout
    private let entityName: String
    private let keys: KeyRing

    /// Nil for an entity without such attributes.
    package init?(_ entity: EntitySchema, _ keys: KeyRing) {
        attributes = entity.properties.compactMap { property in
            guard let subject = property.attribute?.encryption?.subject, let cipher = keys.cipher(property) else {
                return nil
            }
            var naming: (slot: Int, name: String)?
            if case .property(let name) = subject {
                guard let found = entity.property(named: name) else { return nil }
                naming = (found.slot, name)
            }
            return Attribute(slot: property.slot, name: property.name, cipher: cipher, naming: naming)
        }
        if attributes.isEmpty { return nil }
        layout = entity.layout
        entityName = entity.name
        self.keys = keys
    }

    /// The values of a row that are not under the key of the subject that it names now.
    ///
    /// A value of a subject that was erased stays as it is, and so does one of an object that no longer names one.
    ///
    /// - Parameters:
    ///   - changed: the slots that differ from the stored row; nil if all do.
    ///   - blob: reads a file of a large value.
    /// - Throws: `validationMissingMandatoryProperty` for a new value without a subject; `encryptionKeyMissing`,
    ///   `encryptedValueDamaged`, `missingBlob`.
    package func pending(
        in row: RowReader, of id: ObjectID, changed: SlotSet?, blob: (BlobReference) throws -> Data
    ) throws -> [Pending] {
        var found: [Pending] = []
        for attribute in attributes {
            if let changed, !changed.contains(attribute.slot),
                !(attribute.naming.map { changed.contains($0.slot) } ?? false)
            {
                continue
            }
            let encrypted: EncryptedValue
            switch try row.value(attribute.slot) {
            case .encrypted(let value): encrypted = value
            case .blob(let reference): encrypted = EncryptedValue(stored: try blob(reference))
            default: continue
            }
            let named = try attribute.naming.map { try row.value($0.slot) } ?? .objectID(id)
            if named.isNull {
                if encrypted.subject == nil { throw lacksSubject(attribute, id) }
                continue
            }
            let subject = try keys.subjectID(of: named)
            guard encrypted.subject != subject else { continue }
            do throws(StrataError) {
                let value = try attribute.cipher.decrypt(encrypted, of: id)
                found.append(
                    Pending(
                        slot: attribute.slot, subject: subject, isNew: keys.isNew(named), value: value,
                        cipher: attribute.cipher))
            } catch {
                if error.code != .subjectErased { throw error }
            }
        }
        return found
    }

    /// Makes the keys of subjects that have none yet.
    ///
    /// - Throws: `subjectErased` for a subject that was erased; `encryptionKeyMissing`; what the app's keys throw.
    package func makeKeys(for pending: [Pending]) throws {
        try keys.makeSubjectKeys(
            Set(pending.map(\.subject)), new: Set(pending.lazy.filter(\.isNew).map(\.subject)))
    }

    /// The value under its subject's key, which has been made.
    ///
    /// - Throws: as `AttributeCipher.seal`.
    package static func sealed(_ pending: Pending, of id: ObjectID) throws(StrataError) -> EncryptedValue {
        try pending.cipher.seal(pending.value, of: id, under: pending.subject)
    }

    /// The row with its values under the keys of their subjects, and the slots that were changed.
    ///
    /// - Parameter stored: makes the row's value of an encrypted value, which may be outside the row.
    /// - Throws: as `pending`, `makeKeys` and `sealed`.
    package func sealed(
        _ image: RowImage, of id: ObjectID, changed: SlotSet?, blob: (BlobReference) throws -> Data,
        stored: (EncryptedValue, Int) throws -> AttributeValue = { value, _ in .encrypted(value) }
    ) throws -> (image: RowImage, slots: [Int])? {
        let pending = try image.bytes.withUnsafeBytes { bytes in
            try self.pending(in: RowReader(bytes, layout: layout), of: id, changed: changed, blob: blob)
        }
        if pending.isEmpty { return nil }
        try makeKeys(for: pending)
        var builder = try RowBuilder(image, layout: layout)
        for value in pending { try builder.set(value.slot, try stored(Self.sealed(value, of: id), value.slot)) }
        return (try builder.finish(), pending.map(\.slot))
    }

    private func lacksSubject(_ attribute: Attribute, _ id: ObjectID) -> StrataError {
        let name = attribute.naming?.name ?? "the object"
        return StrataError(
            .validationMissingMandatoryProperty,
            "\(attribute.name) is encrypted under the key of \(name), which is nil; set \(name), or \(attribute.name) to "
                + "nil.", context: .init(entityName: entityName, objectID: id, key: attribute.name))
    }
}

extension KeyRing {
    /// The id of the subject that a value names: an object by its id, or a string, a whole number or a UUID.
    ///
    /// - Throws: `encryptionKeyMissing` if the store was opened without its key; `wrongType` for another value.
    package func subjectID(of value: AttributeValue) throws(StrataError) -> SubjectID {
        guard let blindingKey = table.all.blindingKey else {
            throw StrataError(
                .encryptionKeyMissing,
                "Subjects of encrypted values are named by the store's key, which was not given; open the store with it."
            )
        }
        var writer = ByteWriter(capacity: 64)
        let type: AttributeType
        switch value {
        case .objectID(let id):
            writer.append(UInt8(0))
            writer.append(littleEndian: id.rawValue)
            return Self.id(writer, blindingKey)
        case .string: type = .string
        case .integer: type = .integer64
        case .uuid: type = .uuid
        default:
            throw StrataError(
                .wrongType, "A subject is an object, a string, a whole number or a UUID, and not \(value.kindName).")
        }
        writer.append(UInt8(1))
        do {
            try CanonicalForm.append(value, of: type, to: &writer)
        } catch {
            throw StrataError(.wrongType, "The value cannot name a subject.", cause: error)
        }
        return Self.id(writer, blindingKey)
    }

    private static func id(_ writer: borrowing ByteWriter, _ blindingKey: SymmetricKey) -> SubjectID {
        var name = HMAC<SHA256>(key: EncryptionKey.naming(blindingKey))
        name.update(data: writer.bytes)
        return name.finalize().withUnsafeBytes { SubjectID(UnsafeRawBufferPointer(rebasing: $0[..<16])) }
    }

    /// Makes the keys of subjects that have none yet.
    ///
    /// - Parameter new: the subjects among them that no value can be under yet.
    /// - Throws: `subjectErased` for a subject that was erased; `encryptionKeyMissing`; what the app's keys throw.
    package func makeSubjectKeys(_ subjects: Set<SubjectID>, new: Set<SubjectID> = []) throws {
        if subjects.isEmpty { return }
        try subjectKeys().make(subjects, new: new)
    }

    /// Whether a value names an object that was made since the store was opened. Row numbers are given once, so no value
    /// that was there before is under its key.
    fileprivate func isNew(_ value: AttributeValue) -> Bool {
        guard case .objectID(let id) = value else { return false }
        return id.row >= table.firstNewRow.load(ordering: .relaxed)
    }

    /// Destroys the keys of subjects for ever.
    ///
    /// - Throws: `encryptionKeyMissing` if the store was opened without keys of subjects; what these throw.
    package func destroySubjectKeys(_ subjects: [SubjectID]) throws {
        try subjectKeys().destroy(subjects)
    }

    /// Counts the subjects that have a key, and those that never had one here. Those whose keys were destroyed are
    /// neither.
    ///
    /// - Throws: as `destroySubjectKeys`.
    package func subjectKeyCounts(_ subjects: [SubjectID]) throws -> (there: Int, missing: Int) {
        if subjects.isEmpty { return (0, 0) }
        var counts = (there: 0, missing: 0)
        let keys = try subjectKeys()
        for subject in subjects {
            switch try keys.source.find(subject) {
            case .key: counts.there += 1
            case .none: counts.missing += 1
            case .destroyed: break
            }
        }
        return counts
    }

    private func subjectKeys() throws(StrataError) -> SubjectKeys {
        if let subjects = table.all.subjects { return subjects }
        throw StrataError(
            .encryptionKeyMissing,
            "The model has attributes that are encrypted under keys of subjects, and the store was opened without any; "
                + "give the store's key and the keys of its subjects.")
    }

    /// Whether keys of subjects were given.
    package var hasSubjectKeys: Bool { table.all.subjects != nil }
    /// Whether ids of subjects can be computed.
    var namesSubjects: Bool { table.all.blindingKey != nil }
}
