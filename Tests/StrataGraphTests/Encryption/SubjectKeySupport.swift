import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

/// A store of people, their orders and cards, whose secrets are under keys of subjects in a directory beside it.
final class SubjectFixture {
    let folder: EncryptionFolder
    let keys: SubjectKeyDirectory

    init() throws {
        folder = try EncryptionFolder()
        keys = try SubjectKeyDirectory(at: folder.url.appending(path: "keys", directoryHint: .isDirectory))
    }

    /// - Parameter isEncrypted: whether the model encrypts at all.
    static func entities(isEncrypted: Bool = true) -> [EntityDescription] {
        func secret(_ name: String, _ subject: EncryptionSubject, _ type: AttributeType = .string)
            -> PropertyDescription
        {
            .attribute(
                AttributeDescription(
                    name: name, type: type, isOptional: true,
                    allowsExternalBinaryDataStorage: type == .binaryData,
                    encryption: isEncrypted ? .subjectKey(subject) : nil))
        }
        return [
            EntityDescription(
                name: "Person",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string, isOptional: true)),
                    secret("diagnosis", .object), secret("photo", .object, .binaryData),
                    .relationship(
                        RelationshipDescription(
                            name: "orders", destinationEntityName: "Order", inverseName: "customer", isToMany: true)),
                ], uniquenessConstraints: [["name"]]),
            EntityDescription(
                name: "Order",
                properties: [
                    .attribute(AttributeDescription(name: "number", type: .integer32, isOptional: true)),
                    secret("note", "customer"),
                    .relationship(
                        RelationshipDescription(
                            name: "customer", destinationEntityName: "Person", inverseName: "orders")),
                ]),
            EntityDescription(
                name: "Card",
                properties: [
                    .attribute(AttributeDescription(name: "owner", type: .string, isOptional: true)),
                    secret("pin", "owner", .integer32),
                ]),
        ]
    }

    func open(
        _ name: String = "a", key: Data = firstKey, previous: [Data] = [], keys: (any SubjectKeyStore)?? = .none,
        isEncrypted: Bool = true
    ) throws -> PersistentContainer {
        var options = PersistentStoreOptions(durability: .disposable, allowsModelDowngrade: true)
        options.encryption = StoreEncryption(key: key, previous: previous, subjectKeys: keys ?? self.keys)
        let container = PersistentContainer(
            name: "People", model: try ManagedObjectModel(entities: Self.entities(isEncrypted: isEncrypted)),
            at: folder.location(name), options: options)
        try container.loadPersistentStores()
        return container
    }

    /// A copy of the closed store as it is now.
    func copy(_ name: String = "a", to other: String) throws {
        try FileManager.default.copyItem(at: folder.store(name), to: folder.store(other))
    }
}

extension SubjectFixture {
    /// Ann with two orders, Bob with one, a card of each.
    func fill(_ container: PersistentContainer) throws -> (ann: ObjectID, bob: ObjectID) {
        let context = container.newBackgroundContext()
        let ann = try context.addObject(
            "Person", ["name": "Ann", "diagnosis": "measles", "photo": Data(repeating: 7, count: 90_000)])
        let bob = try context.addObject("Person", ["name": "Bob", "diagnosis": "measles"])
        for (number, customer) in [ann, ann, bob].enumerated() {
            // The secret before its subject: it comes under that when it is saved.
            try context.addObject("Order", ["note": "note \(number)", "number": number, "customer": customer])
        }
        try context.addObject("Card", ["owner": "Ann", "pin": 1111])
        try context.addObject("Card", ["owner": "Bob", "pin": 2222])
        try context.save()
        return (ann.objectID, bob.objectID)
    }

    func stored(_ id: ObjectID, _ key: String, _ container: PersistentContainer) throws -> EncryptedValue? {
        try container.store.read(at: container.head()) { snapshot in
            let entity = try #require(snapshot.schema.entity(id.entityID))
            let slot = try #require(entity.property(named: key)?.slot)
            guard case .encrypted(let value)? = try snapshot.row(id)?.reader.value(slot) else { return nil }
            return value
        }
    }
}

extension ManagedObjectContext {
    @discardableResult
    func addObject(_ entity: String, _ values: [String: Any]) throws -> ManagedObject {
        let object = try insertNewObject(forEntityName: entity)
        for (key, value) in values { try object.setValue(value, forKey: key) }
        return object
    }

    func objects(_ entity: String, _ format: String? = nil) throws -> [ManagedObject] {
        try fetch(
            FetchRequest<ManagedObject>(entityName: entity, where: format.map { try FetchPredicate(format: $0) }))
    }

    /// The values of an attribute, by the name or number of the objects.
    func secretTexts(_ entity: String, _ key: String) throws -> [String?] {
        try objects(entity).sorted { $0.objectID < $1.objectID }.map { try $0.value(forKey: key) as? String }
    }
}
