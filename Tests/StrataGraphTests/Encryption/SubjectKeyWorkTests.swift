import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

/// Attributes under keys of subjects in batches, merges, undo, children, the past and migrations.
@Suite struct SubjectKeyWorkTests {
    private let fixture: SubjectFixture

    init() throws { fixture = try SubjectFixture() }

    private func subject(_ id: ObjectID, _ key: String, _ container: PersistentContainer) throws -> SubjectID? {
        try container.store.read(at: container.head()) { snapshot in
            let entity = try #require(snapshot.schema.entity(id.entityID))
            let slot = try #require(entity.property(named: key)?.slot)
            switch try snapshot.row(id)?.reader.value(slot) {
            case .encrypted(let value)?: return value.subject
            case .blob(let reference)?: return EncryptedValue(stored: try container.store.blob(reference)).subject
            default: return nil
            }
        }
    }

    // MARK: Batches

    @Test func batchesInsertAndUpdateUnderTheKeysOfSubjects() throws {
        let container = try fixture.open()
        defer { container.close() }
        let context = container.newBackgroundContext()
        let photo = Data(repeating: 3, count: 100_000)
        let people = BatchInsertRequest<ManagedObject>(
            entityName: "Person",
            [
                ["name": .string("Ann"), "diagnosis": .string("flu"), "photo": .data(photo)],
                ["name": .string("Bob"), "diagnosis": .string("flu")],
            ])
        try context.execute(people)
        let found = try context.objects("Person", "name != nil").sorted { $0.objectID < $1.objectID }
        let (ann, bob) = (found[0], found[1])
        #expect(try ann.value(forKey: "photo") as? Data == photo && bob.value(forKey: "diagnosis") as? String == "flu")
        #expect(try subject(ann.objectID, "photo", container) == container.subject(of: .objectID(ann.objectID)))
        try context.execute(
            BatchInsertRequest<ManagedObject>(
                entityName: "Order",
                (0..<3).map { number in
                    [
                        "number": .integer(number), "note": .string("note \(number)"),
                        "customer": .objectID(number < 2 ? ann.objectID : bob.objectID),
                    ]
                }))
        #expect(try context.secretTexts("Order", "note") == ["note 0", "note 1", "note 2"])
        // The customer changes, and the note with its key.
        var update = BatchUpdateRequest<ManagedObject>(
            entityName: "Order", setting: ["customer": .constant(.objectID(bob.objectID))])
        update.predicate = try FetchPredicate(format: "number == 0")
        try context.execute(update)
        let order = try #require(try container.newBackgroundContext().objects("Order", "number == 0").first)
        let bobs = try container.subject(of: .objectID(bob.objectID))
        #expect(try subject(order.objectID, "note", container) == bobs)
        try context.execute(
            BatchUpdateRequest<ManagedObject>(entityName: "Order", setting: ["note": .constant(.string("new"))]))
        #expect(try container.newBackgroundContext().secretTexts("Order", "note") == ["new", "new", "new"])
        #expect(try container.verify().isSound)
        try container.erase([bob.objectID], reason: nil)
        #expect(try container.newBackgroundContext().secretTexts("Order", "note") == [nil, "new", nil])
        #expect(try container.verify().isSound)
        let orphan = BatchInsertRequest<ManagedObject>(entityName: "Order", [["note": .string("whose?")]])
        #expect(thrownError { try context.execute(orphan) }?.code == .validationMissingMandatoryProperty)
    }

    @Test func anInsertionThatBecomesAnUpdateComesUnderTheKeyOfThatObject() throws {
        let container = try fixture.open()
        defer { container.close() }
        let context = container.newBackgroundContext()
        let ann = try context.addObject("Person", ["name": "Ann", "diagnosis": "flu"])
        try context.save()
        var request = BatchInsertRequest<ManagedObject>(
            entityName: "Person", [["name": .string("Ann"), "diagnosis": .string("cold")]])
        request.uniquenessPolicy = .merge
        try context.execute(request)
        #expect(try container.newBackgroundContext().secretTexts("Person", "diagnosis") == ["cold"])
        let own = try container.subject(of: .objectID(ann.objectID))
        #expect(try subject(ann.objectID, "diagnosis", container) == own)
        #expect(try container.verify().isSound)
    }

    // MARK: Contexts

    @Test func undoChildrenAndThePastShowValues() throws {
        let container = try fixture.open()
        defer { container.close() }
        let context = container.newBackgroundContext()
        context.undoManager = ObjectUndoManager()
        let ann = try context.addObject("Person", ["name": "Ann", "diagnosis": "flu"])
        try context.save()
        let before = try container.head()
        let child = try context.newChildContext()
        try child.existingObject(with: ann.objectID).setValue("cold", forKey: "diagnosis")
        #expect(try child.existingObject(with: ann.objectID).value(forKey: "diagnosis") as? String == "cold")
        try child.save()
        #expect(try ann.value(forKey: "diagnosis") as? String == "cold")
        try context.save()
        #expect(try container.newBackgroundContext().secretTexts("Person", "diagnosis") == ["cold"])
        #expect(try child.existingObject(with: ann.objectID).value(forKey: "diagnosis") as? String == "cold")
        try context.undo()
        try context.save()
        #expect(try container.newBackgroundContext().secretTexts("Person", "diagnosis") == ["flu"])
        let past = try container.context(asOf: .event(before))
        #expect(try past.secretTexts("Person", "diagnosis") == ["flu"])
        try container.erase([ann.objectID], reason: nil)
        let again = try container.context(asOf: .event(before))
        #expect(try again.secretTexts("Person", "diagnosis") == [nil])
        #expect(try container.verify().isSound)
    }

    @Test func twoContextsMergeChangesOfValueAndSubject() throws {
        let container = try fixture.open()
        defer { container.close() }
        let context = container.newBackgroundContext()
        let ann = try context.addObject("Person", ["name": "Ann"]),
            bob = try context.addObject("Person", ["name": "Bob"])
        let order = try context.addObject("Order", ["number": 1, "note": "old", "customer": ann])
        try context.save()
        let other = container.newBackgroundContext()
        // Another subject changes what is stored of the note.
        other.mergePolicy = .mergeByPropertyObjectTrump
        let theirs = try other.existingObject(with: order.objectID)
        try theirs.setValue("new", forKey: "note")
        try order.setValue(bob, forKey: "customer")
        try context.save()
        try other.save()
        // The value was written for Ann and is Bob's now.
        let bobs = try container.subject(of: .objectID(bob.objectID))
        #expect(try subject(order.objectID, "note", container) == bobs)
        #expect(try container.newBackgroundContext().secretTexts("Order", "note") == ["new"])
        #expect(try container.verify().isSound)
    }

    // MARK: Migrations

    @Test func aModelMayBeginAndCeaseToUseKeysOfSubjects() throws {
        var container = try fixture.open(isEncrypted: false)
        var context = container.newBackgroundContext()
        let ann = try context.addObject("Person", ["name": "Ann", "diagnosis": "flu", "photo": Data([1, 2])])
        let bob = try context.addObject("Person", ["name": "Bob", "diagnosis": "flu"])
        try context.addObject("Order", ["number": 1, "note": "one", "customer": ann])
        try context.addObject("Card", ["owner": "Ann", "pin": 17])
        try context.save()
        let ids = (ann.objectID, bob.objectID)
        let before = try container.head()
        container.close()
        container = try fixture.open()
        #expect(try container.verify().isSound)
        context = container.newBackgroundContext()
        #expect(try context.secretTexts("Person", "diagnosis") == ["flu", "flu"])
        #expect(try context.secretTexts("Order", "note") == ["one"])
        #expect(try context.objects("Card").first?.value(forKey: "pin") as? Int32 == 17)
        #expect(try subject(ids.0, "diagnosis", container) == container.subject(of: .objectID(ids.0)))
        let past = try container.context(asOf: .event(before))
        #expect(try past.secretTexts("Person", "diagnosis") == ["flu", "flu"])
        #expect(try fixture.keys.counts().keys == 3)
        // Somebody destroyed the key in another copy.
        try container.destroySubjectKey(of: .objectID(ids.0))
        container.close()
        container = try fixture.open(isEncrypted: false)
        context = container.newBackgroundContext()
        #expect(try context.secretTexts("Person", "diagnosis") == [nil, "flu"])
        #expect(try context.secretTexts("Order", "note") == [nil])
        #expect(try container.verify().isSound)
        container.close()
    }

    @Test func aMigrationOfAValueWithoutASubjectIsRefused() throws {
        var container = try fixture.open(isEncrypted: false)
        let context = container.newBackgroundContext()
        try context.addObject("Order", ["number": 1, "note": "whose?"])
        try context.save()
        container.close()
        let error = try #require(thrownError { container = try fixture.open() })
        #expect(
            "\(error)".contains("customer, which is nil")
                || error.details.contains { "\($0)".contains("customer, which is nil") })
        container = try fixture.open(isEncrypted: false)
        #expect(try container.newBackgroundContext().secretTexts("Order", "note") == ["whose?"])
        container.close()
    }
}
