public import Foundation
public import StrataModel
import StrataStore

// The keys of encrypted attributes: which of them are in use, and how values come under a new one.

extension StoreEncryption {
    /// The id of a key, as stores and errors name it: 16 hexadecimal digits that say nothing of the key.
    ///
    /// - Throws: `encryptionKeyWrong` for a key of fewer than 32 bytes.
    public static func keyID(of key: Data) throws(StrataError) -> String { try Store.encryptionKeyID(of: key) }
}

extension PersistentContainer {
    /// The ids of the keys that are needed to read the values of today, sorted; none for a store that never encrypted
    /// anything. Values of the past may need keys that are not among them.
    ///
    /// - Throws: `storeClosed`, `corrupt`.
    public var encryptionKeyIDs: [String] { get throws { try binding.store.encryptionKeyIDs() } }

    /// The subject of a value: of an object by its id, or of the string, whole number or UUID that attributes name.
    ///
    /// - Throws: `encryptionKeyMissing` if the store was opened without its key; `wrongType` for another value.
    public func subject(of value: AttributeValue) throws -> SubjectID {
        try binding.store.keyRing.subjectID(of: value)
    }

    /// Destroys the key of a subject for ever: values encrypted under it read as nil from now on, in this store, in its
    /// history and in every copy.
    ///
    /// ``erase(_:reason:author:)`` destroys the keys of the objects that it erases. This is for subjects that attributes
    /// name, and it leaves everything else as it is. Other processes that have read values may do so for half a minute.
    ///
    /// - Parameter value: the id of an object, or a string, a whole number or a UUID.
    /// - Throws: `encryptionKeyMissing` if the store was opened without its key or the keys of subjects; what these throw.
    public func destroySubjectKey(of value: AttributeValue) throws {
        try binding.store.keyRing.destroySubjectKeys([subject(of: value)])
    }

    /// Encrypts all values of today under the newest key, a step at a time beside readers and writers.
    ///
    /// It can be interrupted at any time and called again: values that are under the newest key are left alone. At its end
    /// the store notes that it needs only this key. The history keeps what it has: states before the rotation are read with
    /// the former keys as long as it is kept (`truncateHistory(before:)`). Other processes must have the new key, too,
    /// before it begins; one that saves under a former key makes another rotation necessary.
    ///
    /// A value of an object that no longer names its subject stays under the key of that subject. Values that cannot be
    /// encrypted again are passed over, and named by the error that is thrown when all others are done: the store then
    /// still needs their keys.
    ///
    /// - Parameter stepSize: the objects of one transaction.
    /// - Returns: the number of values that were encrypted again.
    /// - Throws: for values that were passed over, with an error for each in its details: `encryptionKeyMissing` or
    ///   `encryptionKeyWrong` if the store was opened without their keys, `encryptedValueDamaged`, `missingBlob`; what
    ///   saving throws.
    /// - Complexity: O(objects of entities with encrypted attributes).
    @discardableResult
    public func rotateEncryptionKey(stepSize: Int = 10_000) throws -> Int {
        let context = newBackgroundContext()
        (context.transactionAuthor, context.name) = ("strata", "key rotation")
        var rotation = try KeyRotation(context, stepSize: stepSize)
        let count = try rotation.run()
        if let failure = rotation.failure(after: count) { throw failure }
        try binding.store.noteKeyRotation()
        return count
    }
}

/// Encrypts values under the newest key.
private struct KeyRotation {
    private let writer: BatchWriter
    private let stepSize: Int
    /// The values that were passed over: the first ones, and how many.
    private var failures: [StrataError] = []
    private var failureCount = 0
    private static let mostNamed = 100

    init(_ context: ManagedObjectContext, stepSize: Int) throws {
        writer = try BatchWriter(context)
        self.stepSize = stepSize
    }

    /// The error for the values that were passed over; nil if there are none.
    func failure(after count: Int) -> StrataError? {
        guard let first = failures.first else { return nil }
        return StrataError(
            first.code,
            "\(CountText.of(failureCount, "value")) could not be encrypted under the new key, and the former one is in use "
                + "there; \(CountText.of(count, "other")) could. The former key is still needed. Open the store with the keys of these values, or set them to "
                + "nil, and rotate again.", context: first.context, details: failures)
    }

    private mutating func pass(_ error: StrataError, _ id: ObjectID, _ key: String?) {
        failureCount += 1
        guard failures.count < Self.mostNamed else { return }
        var error = error
        error.context.objectID = id
        error.context.entityName = error.context.entityName ?? writer.binding.schema.entity(id.entityID)?.name
        error.context.key = key ?? error.context.key
        failures.append(error)
    }

    mutating func run() throws -> Int {
        var count = 0
        for entity in writer.binding.schema.entities where !entity.isAbstract {
            guard let runtime = writer.binding.entity(entity.id) else { continue }
            let properties = runtime.properties.filter { $0.cipher != nil }
            guard !properties.isEmpty else { continue }
            try writer.check(stepSize: stepSize, entity.name)
            var request = StoreRequest(entityID: entity.id)
            request.includesSubentities = false
            try writer.forEachStep(BatchTarget(request: request, objectIDs: nil), stepSize: stepSize) { ids in
                count += try halving(ids, runtime, properties)
            }
        }
        return count
    }

    /// One step; if an object of it cannot be saved, that one is found and passed over.
    private mutating func halving(
        _ ids: ArraySlice<ObjectID>, _ entity: EntityRuntime, _ properties: [PropertyRuntime]
    ) throws -> Int {
        do {
            let (count, passed) = try step(ids, entity, properties)
            for value in passed { pass(value.error, value.id, value.key) }
            return count
        } catch let error as StrataError
            where [.validationMissingMandatoryProperty, .subjectErased, .encryptionKeyWrong].contains(error.code)
        {
            guard ids.count > 1 else {
                if let id = ids.first { pass(error, id, nil) }
                return 0
            }
            let middle = ids.startIndex + ids.count / 2
            return try halving(ids[..<middle], entity, properties) + halving(ids[middle...], entity, properties)
        }
    }

    private typealias Passed = (error: StrataError, id: ObjectID, key: String)

    private func step(
        _ ids: ArraySlice<ObjectID>, _ entity: EntityRuntime, _ properties: [PropertyRuntime]
    ) throws -> (count: Int, passed: [Passed]) {
        var count = 0
        var passed: [Passed] = []
        let lease = BatchLease()
        defer { withExtendedLifetime(lease) {} }
        let maker = BatchRowMaker(writer.binding, entity, lease)
        _ = try writer.save { snapshot, changes in
            (count, passed) = (0, [])
            for id in ids {
                guard let row = try snapshot.row(id) else { continue }
                let before = try row.converted(to: entity.schema)
                var prepared = BatchRowMaker.Prepared(builder: try RowBuilder(before, layout: entity.layout))
                for property in properties {
                    let stored = try before.withReader(entity.layout) { reader throws(CorruptRecord) in
                        try reader.value(property.slot)
                    }
                    do {
                        guard let (value, subject) = try outdated(stored, property, id) else { continue }
                        prepared.secrets.append((property, value))
                        prepared.keptSubjects[property.slot] = subject
                    } catch let error as StrataError where Self.isOfOneValue(error) {
                        passed.append((error, id, property.name))
                    }
                }
                guard !prepared.secrets.isEmpty else { continue }
                let slots = prepared.secrets.map(\.property.slot)
                count += slots.count
                try maker.encrypt(&prepared, of: id)
                changes.updates.append(
                    ChangeSet.Update(
                        id: id, baseRevision: row.revision, image: try prepared.builder.finish(), changedSlots: slots))
            }
        }
        return (count, passed)
    }

    private static func isOfOneValue(_ error: StrataError) -> Bool {
        [.encryptionKeyMissing, .encryptionKeyWrong, .encryptedValueDamaged, .missingBlob].contains(error.code)
    }

    /// The value, decrypted, if it is not under the newest key, with the subject under whose key it is.
    private func outdated(
        _ stored: AttributeValue, _ property: PropertyRuntime, _ id: ObjectID
    ) throws -> (value: AttributeValue, subject: SubjectID?)? {
        guard let cipher = property.cipher else { return nil }
        let encrypted: EncryptedValue
        switch stored {
        case .encrypted(let value): encrypted = value
        case .blob(let reference): encrypted = EncryptedValue(stored: try writer.binding.store.blob(reference))
        default: return nil
        }
        if cipher.isUnderNewestKey(encrypted) { return nil }
        let value = try cipher.decryptKept(.encrypted(encrypted), of: id)
        return value.isNull ? nil : (value, encrypted.subject)
    }
}
