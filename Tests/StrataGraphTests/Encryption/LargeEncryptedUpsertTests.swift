import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

/// Large encrypted values in files, which an insertion that becomes an update gives to another object.
@Suite struct LargeEncryptedUpsertTests {
    private static let photo = Data((0..<90_000).map { UInt8($0 % 251) })
    private let folder: EncryptionFolder

    init() throws { folder = try EncryptionFolder() }

    /// A store of cards with a photo that is encrypted under the store's key.
    private func open(_ keys: [Data] = [firstKey]) throws -> PersistentContainer {
        let card = EntityDescription(
            name: "Card",
            properties: [
                .attribute(AttributeDescription(name: "owner", type: .string, isOptional: true)),
                .attribute(
                    AttributeDescription(
                        name: "photo", type: .binaryData, isOptional: true, allowsExternalBinaryDataStorage: true,
                        encryption: .storeKey)),
            ], uniquenessConstraints: [["owner"]])
        var options = PersistentStoreOptions(durability: .disposable)
        options.encryption = StoreEncryption(key: keys[0], previous: Array(keys.dropFirst()))
        let container = PersistentContainer(
            name: "Cards", model: try ManagedObjectModel(entities: [card]), at: folder.location("a"), options: options)
        try container.loadPersistentStores()
        return container
    }

    private func request(
        _ entity: String, _ rows: [[String: AttributeValue]], _ policy: UniquenessPolicy
    ) -> BatchInsertRequest<ManagedObject> {
        var request = BatchInsertRequest<ManagedObject>(entityName: entity, rows)
        request.uniquenessPolicy = policy
        return request
    }

    private func photos(_ container: PersistentContainer, _ entity: String) throws -> [Data?] {
        let context = container.newBackgroundContext()
        return try context.objects(entity).sorted { $0.objectID < $1.objectID }
            .map { try $0.value(forKey: "photo") as? Data }
    }

    @Test(arguments: [UniquenessPolicy.merge, .replace])
    func aLargeValueOfAnInsertionIsReadableInTheObjectThatItIsMergedInto(policy: UniquenessPolicy) throws {
        var container = try open()
        let context = container.newBackgroundContext()
        try context.addObject("Card", ["owner": "Ann", "photo": Data(repeating: 1, count: 50_000)])
        try context.save()
        // One becomes an update of what is stored, one of another row of the request.
        let other = Data(Self.photo.reversed())
        try context.execute(
            request(
                "Card",
                [
                    ["owner": .string("Ann"), "photo": .data(Self.photo)], ["owner": .string("Bob")],
                    ["owner": .string("Bob"), "photo": .data(other)],
                ], policy))
        #expect(try photos(container, "Card") == [Self.photo, other])
        #expect(try container.verify().isSound)
        container.close()
        container = try open([secondKey, firstKey])
        #expect(try container.rotateEncryptionKey() == 2)
        container.close()
        container = try open([secondKey])
        #expect(try photos(container, "Card") == [Self.photo, other])
        #expect(try container.verify().isSound)
        container.close()
    }

    @Test func aLargeValueUnderTheKeyOfASubjectComesUnderThatOfTheObject() throws {
        let fixture = try SubjectFixture()
        let container = try fixture.open()
        defer { container.close() }
        let context = container.newBackgroundContext()
        let ann = try context.addObject("Person", ["name": "Ann"])
        try context.save()
        try context.execute(
            request("Person", [["name": .string("Ann"), "photo": .data(Self.photo)]], .merge))
        #expect(try photos(container, "Person") == [Self.photo])
        let stored = try container.store.read(at: container.head()) { snapshot in
            let entity = try #require(snapshot.schema.entity(ann.objectID.entityID))
            return try snapshot.row(ann.objectID)?.reader.value(#require(entity.property(named: "photo")?.slot))
        }
        guard case .blob(let reference)? = stored else { throw StrataError(.wrongType, "the photo is in the row") }
        let subject = EncryptedValue(stored: try container.store.blob(reference)).subject
        #expect(try subject == container.subject(of: .objectID(ann.objectID)))
        #expect(try container.verify().isSound)
    }
}
