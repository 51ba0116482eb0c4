import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

/// Attributes under keys of subjects: values, links to the subject, erasures and what they reach.
@Suite struct SubjectKeyTests {
    private let fixture: SubjectFixture

    init() throws { fixture = try SubjectFixture() }

    // MARK: Values

    @Test func valuesComeBackAndEqualValuesOfTwoSubjectsHaveNothingInCommon() throws {
        let container = try fixture.open()
        let (ann, bob) = try fixture.fill(container)
        #expect(try container.newBackgroundContext().secretTexts("Order", "note") == ["note 0", "note 1", "note 2"])
        let first = try #require(try fixture.stored(ann, "diagnosis", container))
        let second = try #require(try fixture.stored(bob, "diagnosis", container))
        #expect(first.subject != nil && first.subject != second.subject && first.blind != second.blind)
        let context = container.newBackgroundContext()
        let photo = try context.existingObject(with: ann).value(forKey: "photo") as? Data
        #expect(photo == Data(repeating: 7, count: 90_000))
        #expect(try container.verify().isSound)
        container.close()
        let again = try fixture.open()
        #expect(try again.newBackgroundContext().secretTexts("Person", "diagnosis") == ["measles", "measles"])
        #expect(
            try again.newBackgroundContext().objects("Card").compactMap { try $0.value(forKey: "pin") as? Int32 }
                .sorted() == [1111, 2222])
        again.close()
        #expect(try fixture.keys.counts() == (keys: 4, destroyed: 0))
        #expect(try fixture.folder.files(containing: ["measles", "note 0", "note 2"]) == [])
    }

    @Test func settingTheSameValueAgainSavesNothing() throws {
        let container = try fixture.open()
        defer { container.close() }
        let (ann, _) = try fixture.fill(container)
        let before = try container.head()
        let context = container.newBackgroundContext()
        let object = try context.existingObject(with: ann)
        try object.setValue("measles", forKey: "diagnosis")
        try context.save()
        #expect(try container.head() == before)
        #expect(try object.value(forKey: "diagnosis") as? String == "measles")
    }

    @Test func aValueComesUnderTheKeyOfTheSubjectThatTheObjectNamesWhenItIsSaved() throws {
        let container = try fixture.open()
        defer { container.close() }
        let (ann, bob) = try fixture.fill(container)
        let context = container.newBackgroundContext()
        let order = try #require(try context.objects("Order", "number == 0").first)
        let before = try #require(try fixture.stored(order.objectID, "note", container)?.subject)
        try order.setValue(try context.existingObject(with: bob), forKey: "customer")
        try context.save()
        let after = try #require(try fixture.stored(order.objectID, "note", container)?.subject)
        #expect(before != after)
        #expect(
            try after
                == fixture.stored(
                    #require(try context.objects("Order", "number == 2").first).objectID, "note", container)?
                .subject)
        // Of nobody any more, it stays under the key that it has.
        try order.setValue(nil, forKey: "customer")
        try context.save()
        #expect(try fixture.stored(order.objectID, "note", container)?.subject == after)
        #expect(try order.value(forKey: "note") as? String == "note 0")
        // It went with its customer, so an erasure of the former one does not reach it.
        let result = try container.erase([ann], reason: nil)
        #expect(try result.destroyedKeyCount == 1 && fixture.keys.counts().destroyed == 1)
        let notes = try container.newBackgroundContext().secretTexts("Order", "note")
        #expect(notes == ["note 0", nil, "note 2"])
    }

    @Test func aNewValueWithoutASubjectIsRefusedWithTheReason() throws {
        let container = try fixture.open()
        defer { container.close() }
        let context = container.newBackgroundContext()
        let order = try context.addObject("Order", ["note": "whose?"])
        let error = try #require(thrownError { try context.save() })
        #expect(error.code == .validationMissingMandatoryProperty && error.message.contains("customer, which is nil"))
        try order.setValue(try context.addObject("Person", ["name": "Ann"]), forKey: "customer")
        try context.save()
        #expect(try container.newBackgroundContext().secretTexts("Order", "note") == ["whose?"])
    }

    // MARK: Erasures

    @Test func anErasureReachesABackupThatWasMadeBefore() throws {
        var container = try fixture.open()
        let (ann, _) = try fixture.fill(container)
        container.close()
        try fixture.copy(to: "backup")
        let subject: SubjectID
        container = try fixture.open()
        subject = try #require(try fixture.stored(ann, "diagnosis", container)?.subject)
        guard case .key(let key)? = try fixture.keys.key(of: subject) else {
            Issue.record("The subject has no key.")
            return
        }
        #expect(try container.erase([ann], reason: "asked for it").isComplete)
        #expect(try fixture.keys.key(of: subject) == .destroyed)
        #expect(try container.newBackgroundContext().secretTexts("Order", "note") == [nil, nil, "note 2"])
        #expect(try container.verify().isSound)
        container.close()
        // The bytes of the key are nowhere, so nobody can read the backup.
        for case let file as URL in FileManager.default.enumerator(
            at: fixture.folder.url, includingPropertiesForKeys: nil) ?? .init()
        {
            guard !file.hasDirectoryPath else { continue }
            #expect(try Data(contentsOf: file).range(of: key) == nil, "\(file.lastPathComponent)")
        }
        let backup = try fixture.open("backup")
        defer { backup.close() }
        let context = backup.newBackgroundContext()
        let person = try context.existingObject(with: ann)
        #expect(try person.value(forKey: "name") as? String == "Ann")
        #expect(try person.value(forKey: "diagnosis") == nil && person.value(forKey: "photo") == nil)
        #expect(try person.isErased("diagnosis") && person.isErased("photo") && !person.isErased("name"))
        #expect(try context.secretTexts("Person", "diagnosis") == [nil, "measles"])
        #expect(try context.secretTexts("Order", "note") == [nil, nil, "note 2"])
        // What is erased does not stand in the way of anything else.
        try person.setValue("Anna", forKey: "name")
        try context.save()
        try person.setValue("flu", forKey: "diagnosis")
        #expect(thrownError { try context.save() }?.code == .subjectErased)
        context.rollback()
        let rows = try backup.newBackgroundContext().fetch(
            FetchRequest<ManagedObject>(entityName: "Person", where: FetchPredicate(format: "diagnosis == nil")))
        #expect(rows.isEmpty, "The value is there, though nobody can read it.")
        #expect(try backup.verify().isSound)
        try backup.apply(backup.erasures())
    }

    @Test func aKeyOfAValueIsDestroyedByItself() throws {
        let container = try fixture.open()
        defer { container.close() }
        _ = try fixture.fill(container)
        try container.destroySubjectKey(of: .string("Ann"))
        let cards = try container.newBackgroundContext().objects("Card")
        #expect(try cards.map { try $0.value(forKey: "pin") as? Int32 ?? 0 }.sorted() == [0, 2222])
        #expect(try container.newBackgroundContext().secretTexts("Person", "diagnosis") == ["measles", "measles"])
    }

    @Test func anErasureWithoutTheKeysOfSubjectsIsRefused() throws {
        var container = try fixture.open()
        let (ann, _) = try fixture.fill(container)
        container.close()
        container = try fixture.open(keys: .some(nil))
        #expect(thrownError { try container.erase([ann], reason: nil) }?.code == .encryptionKeyMissing)
        #expect(try container.newBackgroundContext().objects("Person").count == 2)
        // Values of other attributes may be erased.
        try container.erase([ann], attributes: ["name"], reason: nil)
        container.close()
        #expect(try fixture.keys.counts().destroyed == 0)
    }

    @Test func anErasureThatIsRefusedDestroysNoKey() throws {
        let container = try fixture.open()
        defer { container.close() }
        let (ann, _) = try fixture.fill(container)
        #expect(thrownError { try container.erase([ann], attributes: ["nothing"], reason: nil) }?.code == .unknownKey)
        #expect(try fixture.keys.counts().destroyed == 0)
    }

    // MARK: Keys

    @Test func missingAndWrongKeysAreToldApartFromDamageAndErasure() throws {
        var container = try fixture.open()
        let (ann, _) = try fixture.fill(container)
        let subject = try #require(try fixture.stored(ann, "diagnosis", container)?.subject)
        container.close()
        func code(_ keys: (any SubjectKeyStore)?) throws -> StrataError.Code? {
            let container = try fixture.open(keys: .some(keys))
            defer { container.close() }
            let context = container.newBackgroundContext()
            let person = try context.existingObject(with: ann)
            do {
                return try person.value(forKey: "diagnosis") == nil ? .subjectErased : nil
            } catch let error as StrataError {
                return error.code
            }
        }
        #expect(try code(nil) == .encryptionKeyMissing)
        let empty = try SubjectKeyDirectory(
            at: fixture.folder.url.appending(path: "other", directoryHint: .isDirectory))
        #expect(try code(empty) == .encryptionKeyMissing)
        _ = try empty.makeKeys(of: [subject])
        #expect(try code(empty) == .encryptionKeyWrong)
        #expect(try code(fixture.keys) == nil)
        container = try fixture.open()
        let value = try #require(try fixture.stored(ann, "diagnosis", container))
        var bytes = value.stored
        bytes[bytes.count - 1] ^= 1
        let cipher = try #require(
            container.store.schema.entity(ann.entityID)?.property(named: "diagnosis").flatMap {
                container.store.keyRing.cipher($0)
            })
        let damaged = EncryptedValue(stored: bytes)
        #expect(thrownError { _ = try cipher.decrypt(damaged, of: ann) }?.code == .encryptedValueDamaged)
        #expect(try cipher.decrypt(value, of: ann) == .string("measles"))
        container.close()
    }

    @Test func theKeyOfTheStoreChangesBesideErasedSubjects() throws {
        var container = try fixture.open()
        let (ann, bob) = try fixture.fill(container)
        container.close()
        try fixture.copy(to: "b")
        container = try fixture.open()
        try container.erase([ann], reason: nil)
        container.close()
        let ids = try [StoreEncryption.keyID(of: firstKey), StoreEncryption.keyID(of: secondKey)]
        for name in ["a", "b"] {
            container = try fixture.open(name, key: secondKey, previous: [firstKey])
            let subject = try fixture.stored(bob, "diagnosis", container)?.subject
            // Bob's diagnosis, the note of his order, and two cards.
            #expect(try container.rotateEncryptionKey(stepSize: 2) == 4)
            #expect(try container.rotateEncryptionKey() == 0)
            #expect(try container.encryptionKeyIDs == [ids[1]])
            #expect(try fixture.stored(bob, "diagnosis", container)?.subject == subject)
            #expect(try container.verify().isSound)
            container.close()
            container = try fixture.open(name, key: secondKey)
            #expect(try container.newBackgroundContext().secretTexts("Order", "note") == [nil, nil, "note 2"])
            container.close()
        }
    }

    // MARK: Searches

    @Test func searchesAreRefusedWithTheReason() throws {
        let container = try fixture.open()
        defer { container.close() }
        _ = try fixture.fill(container)
        let context = container.newBackgroundContext()
        for (entity, format) in [
            ("Person", "diagnosis == 'measles'"), ("Order", "note IN {'x'}"), ("Order", "customer.diagnosis != 'x'"),
        ] {
            let error = try #require(thrownError { _ = try context.objects(entity, format) })
            #expect(error.code == .invalidRequest && error.message.contains("under the key of a subject"), "\(format)")
        }
        #expect(try context.objects("Person", "diagnosis != nil").count == 2)
        #expect(try context.objects("Person", "photo == nil").count == 1)
    }
}
