import Foundation
import StrataGraph
import StrataModel
import Testing

/// A store of persons in a directory, whose bytes are searched.
private final class ScannedStore {
    private let folder: EncryptionFolder
    let container: PersistentContainer

    init(durability: PersistentStoreDurability = .disposable) throws {
        folder = try EncryptionFolder()
        container = PersistentContainer(
            name: "Test", model: try Self.model(), at: folder.location("Test.strata"),
            options: .init(durability: durability))
        try container.loadPersistentStores()
    }
    deinit { container.close() }

    private static func model() throws -> ManagedObjectModel {
        func text(_ name: String) -> PropertyDescription {
            .attribute(AttributeDescription(name: name, type: .string, isOptional: true))
        }
        return try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Person",
                properties: [
                    text("name"), text("email"),
                    .attribute(AttributeDescription(name: "number", type: .integer64, isOptional: true)),
                    .attribute(
                        AttributeDescription(
                            name: "address", type: .composite, isOptional: true,
                            elements: [AttributeDescription(name: "city", type: .string, isOptional: true)])),
                    .attribute(AttributeDescription(name: "link", type: .uri, isOptional: true)),
                ], uniquenessConstraints: [["email"], ["number"]])
        ])
    }

    func files(with text: String) throws -> [String] { try folder.files(containing: [text]) }

    func person(_ name: String, _ context: ManagedObjectContext) throws -> ManagedObject {
        let person = try context.insertNewObject(forEntityName: "Person")
        try person.setValue(name, forKey: "name")
        return person
    }
}

/// Erasures of values that notes of transactions have: of conflicts, and in metadata.
@Suite struct ErasedNoteTests {
    private let store: ScannedStore
    private let theirs: ManagedObjectContext
    private let mine: ManagedObjectContext

    init() throws {
        store = try ScannedStore()
        theirs = store.container.newBackgroundContext()
        mine = store.container.newBackgroundContext()
        mine.mergePolicy = .mergeByPropertyStoreTrump
    }

    /// One that may be erased, and one that stays.
    private func makePersons() throws -> (erased: ManagedObject, other: ManagedObject) {
        let persons = (try store.person("SecretName", theirs), try store.person("Public", theirs))
        try theirs.save()
        mine.refreshAllObjects()
        return persons
    }

    private func mine(_ object: ManagedObject) throws -> ManagedObject {
        try mine.existingObject(with: object.objectID)
    }

    @Test func aConflictBehindTheCutAboutAnObjectFromBeforeItGoes() throws {
        let (erased, other) = try makePersons()
        try mine(erased).setValue("SecretOther", forKey: "name")
        try mine(other).setValue("Public, too", forKey: "name")
        theirs.delete(erased)
        try theirs.save()
        let cut = try store.container.head()
        try mine.save()
        #expect(try store.container.transactions().last?.conflicts.map(\.conflict.objectID) == [erased.objectID])
        _ = try store.container.truncateHistory(before: .event(cut), holders: .overridden, reason: nil)
        #expect(try store.files(with: "Secret") != [])
        #expect(try store.container.erase([erased.objectID], reason: "asked for it").isComplete)
        #expect(try store.files(with: "Secret") == [])
        #expect(try store.container.transactions().first?.conflicts == [])
        #expect(try store.container.verify().isSound)
    }

    /// The note of such a conflict is about the object that did not get the value.
    @Test(arguments: ["email", "number"]) func aUniqueValueThatAnotherObjectDidNotGetGoes(key: String) throws {
        let (erased, other) = try makePersons()
        let value: Any = key == "email" ? "SecretMail/\"x" : Int64(7_357_735_773)
        let text = key == "email" ? "SecretMail" : "7357735773"
        try mine(other).setValue(value, forKey: key)
        try mine(other).setValue("Public, too", forKey: "name")
        try erased.setValue(value, forKey: key)
        try theirs.save()
        try mine.save()
        let conflict = try #require(try store.container.transactions().last?.conflicts.first)
        #expect(conflict.conflict.objectID == other.objectID && conflict.holder == erased.objectID)
        #expect(try store.files(with: text) != [])
        #expect(try store.container.erase([erased.objectID], reason: "asked for it").isComplete)
        #expect(try store.files(with: text) == [])
        #expect(try mine(other).value(forKey: "name") as? String == "Public, too")
        #expect(try store.container.verify().isSound)
    }

    /// Conflicts about others stay, also where a text is the same.
    @Test func conflictsAboutOtherObjectsStay() throws {
        let (erased, other) = try makePersons()
        try mine(other).setValue("SecretName", forKey: "name")
        try mine(other).setValue(Int64(7), forKey: "number")
        try other.setValue("Public, too", forKey: "name")
        try theirs.save()
        try mine.save()
        try store.container.erase([erased.objectID], reason: "asked for it")
        let conflict = try #require(try store.container.transactions().flatMap(\.conflicts).first)
        #expect(conflict.conflict.properties.map(\.mine) == [.string("SecretName")] && conflict.holder == nil)
    }

    @Test func textsOfCompositesAndAddressesGoFromAuthorsAndMetadata() throws {
        let (erased, _) = try makePersons()
        theirs.transactionAuthor = "from SecretTown"
        theirs.transactionMetadata = ["for": "see https://example.com/SecretPage", "batch": "seven"]
        try erased.setValue(["city": "SecretTown"], forKey: "address")
        try erased.setValue(URL(string: "https://example.com/SecretPage"), forKey: "link")
        try theirs.save()
        let number = try #require(try store.container.transactions().last).number
        #expect(try store.container.erase([erased.objectID], reason: "asked for it").isComplete)
        #expect(try store.files(with: "Secret") == [])
        let transaction = try store.container.transactions().first { $0.number == number }
        #expect(transaction?.author == nil && transaction?.metadata == ["batch": "seven"])
        #expect(try store.container.verify().isSound)
    }

    @Test(arguments: [PersistentStoreDurability.full, .journaled])
    func pinnedPastsUndoAndChildrenBringNothingBack(durability: PersistentStoreDurability) throws {
        let store = try ScannedStore(durability: durability)
        let context = store.container.newBackgroundContext()
        let undo = ObjectUndoManager()
        context.undoManager = undo
        let person = try store.person("SecretName", context)
        try context.save()
        try person.setValue("SecretOther", forKey: "name")
        try context.save()
        try store.container.setTag("then")
        let past = try store.container.context(asOf: .tag("then"))
        let seen = try past.existingObject(with: person.objectID)
        #expect(try seen.value(forKey: "name") as? String == "SecretOther")
        try person.setValue("SecretDraft", forKey: "name")
        context.processPendingChanges()
        let child = try context.newChildContext()
        try child.existingObject(with: person.objectID).setValue("SecretChild", forKey: "name")
        #expect(try store.container.erase([person.objectID], reason: "asked for it").isComplete)
        #expect(try store.files(with: "Secret") == [])
        // What a context had read it shows until it reads the object again.
        past.refresh(seen, mergeChanges: false)
        #expect(try seen.value(forKey: "name") == nil && past.count(for: FetchRequest(entityName: "Person")) == 1)
        #expect(thrownError { try context.save() }?.code == .merge)
        #expect(
            thrownError {
                try child.save(); try context.save()
            }?.code == .merge)
        #expect(
            thrownError {
                try undo.undo(); try context.save()
            }?.code == .merge)
        #expect(try store.files(with: "Secret") == [])
    }
}
