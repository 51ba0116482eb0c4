import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

/// Stores of encrypted attributes on disk: keys that are right, wrong and missing, and what a reader of the files finds.
@Suite struct EncryptionKeyTests {
    private let folder: EncryptionFolder

    init() throws { folder = try EncryptionFolder() }

    private func fill(_ name: String = "a", key: Data = firstKey) throws -> ObjectID {
        let container = try makePatients(at: folder.location(name), encryption: StoreEncryption(key: key))
        defer { container.close() }
        let context = container.newBackgroundContext()
        let patient = context.addPatient("Ann", ssn: "123-45-6789", diagnosis: "tuberculosis")
        let secrets = Secrets(context: context)
        secrets.label = "photo"
        secrets.text = "a text to be hidden"
        (secrets.flag, secrets.small, secrets.large, secrets.single, secrets.double) = (true, 1, 2, 3, 4)
        secrets.money = 5
        secrets.photo = Data(String(repeating: "hidden picture ", count: 5_000).utf8)
        try context.save()
        patient.diagnosis = "nothing serious"
        try context.save()
        context.delete(try context.existingObject(with: secrets.objectID, as: Secrets.self))
        try context.save()
        #expect(try container.verify().isSound)
        return patient.objectID
    }

    @Test func noFileHasAValue() throws {
        _ = try fill()
        let container = try makePatients(at: folder.location("a"))
        try container.backup(to: folder.store("b"))
        container.close()
        #expect(
            try folder.files(containing: [
                "123-45-6789", "tuberculosis", "nothing serious", "a text to be hidden", "hidden picture",
            ]) == [])
        #expect(try !folder.files(containing: ["Ann"]).isEmpty, "Other values are found, so the search works.")
    }

    @Test func withoutAKeyEverythingElseCanBeRead() throws {
        let id = try fill()
        let container = try makePatients(at: folder.location("a"), encryption: nil)
        defer { container.close() }
        let context = container.newBackgroundContext()
        let patient = try context.existingObject(with: id, as: Patient.self)
        #expect(patient.name == "Ann")
        #expect(thrownError { _ = try patient.value(forKey: "ssn") }?.code == .encryptionKeyMissing)
        var reported: StrataError?
        context.faultingErrorHandler = { reported = $0 }
        #expect(patient.ssn.isEmpty && patient.diagnosis == nil)
        #expect(reported?.code == .encryptionKeyMissing && reported?.context.key == "diagnosis")
        context.reset()
        let again = try context.existingObject(with: id, as: Patient.self)
        again.note = "seen"
        try context.save()
        #expect(
            thrownError {
                _ = try context.count(for: FetchRequest<Patient>(where: FetchPredicate(format: "ssn == '1'")))
            }?.code == .encryptionKeyMissing)
        let event = try container.history(of: id).last
        guard case .encrypted? = event?.changes.first(where: { $0.key == "ssn" })?.after else {
            Issue.record("\(String(describing: event))")
            return
        }
        again.ssn = "2"
        #expect(thrownError { try context.save() }?.code == .encryptionKeyMissing)
        context.reset()
        #expect(try container.verify().isSound)
        _ = try container.rebuildViews()
        #expect(try container.verify().isSound)
    }

    @Test func aWrongKeyIsToldWhenTheStoreIsOpened() throws {
        _ = try fill()
        let error = thrownError {
            _ = try makePatients(at: folder.location("a"), encryption: StoreEncryption(key: secondKey))
        }
        #expect(error?.code == .encryptionKeyWrong && error?.message.contains("the keys that were given") == true)
        #expect(
            thrownError {
                _ = try makePatients(at: folder.location("a"), encryption: StoreEncryption(key: Data([1])))
            }?.code == .encryptionKeyWrong)
        struct Locked: Error {}
        #expect(throws: Locked.self) {
            _ = try makePatients(at: folder.location("a"), encryption: StoreEncryption { throw Locked() })
        }
    }

    @Test func aDamagedValueIsNotAWrongKey() throws {
        let id = try fill()
        let container = try makePatients(at: folder.location("a"))
        defer { container.close() }
        let schema = container.store.schema
        let entity = try #require(schema.entity(named: "Patient"))
        let property = try #require(entity.property(named: "ssn"))
        let cipher = try #require(container.store.keyRing.cipher(property))
        let value = try cipher.encrypt("123", of: id)
        #expect(try cipher.decrypt(value, of: id) == "123")
        for offset in value.stored.indices {
            var bytes = value.stored
            bytes[offset] ^= 0x40
            let error = thrownError { _ = try cipher.decrypt(EncryptedValue(stored: bytes), of: id) }
            let isKeyID = EncryptedValue.keyIDRange.contains(offset)
            #expect(error?.code == (isKeyID ? .encryptionKeyMissing : .encryptedValueDamaged), "\(offset)")
        }
        for count in 0..<value.stored.count {
            #expect(throws: StrataError.self) {
                _ = try cipher.decrypt(EncryptedValue(stored: value.stored.prefix(count)), of: id)
            }
        }
        let neighbour = ObjectID(entity: id.entityID, row: id.row + 1)
        #expect(thrownError { _ = try cipher.decrypt(value, of: neighbour) }?.code == .encryptedValueDamaged)
        let other = try #require(entity.property(named: "diagnosis"))
        let diagnosis = try #require(container.store.keyRing.cipher(other))
        #expect(thrownError { _ = try diagnosis.decrypt(value, of: id) }?.code == .encryptedValueDamaged)
    }

    @Test func otherStoresHaveOtherBytes() throws {
        let ids = try (fill("a"), fill("b"))
        func stored(_ name: String, _ id: ObjectID) throws -> EncryptedValue? {
            let container = try makePatients(at: folder.location(name), encryption: nil, isReadOnly: true)
            defer { container.close() }
            let event = try container.history(of: id).last
            guard case .encrypted(let value)? = event?.changes.first(where: { $0.key == "ssn" })?.after else {
                return nil
            }
            return value
        }
        let one = try #require(try stored("a", ids.0)), two = try #require(try stored("b", ids.1))
        #expect(one.blind != two.blind)
    }

    @Test func metadataOfTheAppLeaveTheKeysAlone() throws {
        let container = try makePatients(at: folder.location("a"))
        try container.setMetadata(["a": 1])
        try container.setMetadata([:])
        #expect(try container.metadata.isEmpty && container.store.encryptionKeyIDs().count == 1)
        #expect(thrownError { try container.setMetadata(1, forKey: "strata.encryption") }?.code == .invalidRequest)
        container.close()
        try makePatients(at: folder.location("a")).close()
    }
}
