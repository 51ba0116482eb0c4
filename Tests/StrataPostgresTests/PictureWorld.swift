import Foundation
import StrataGraph
import StrataModel

/// A model with large values, for tests.
enum PictureWorld {
    static func container(
        at location: PersistentStoreLocation, log: PersistentStoreLog?
    ) throws -> PersistentContainer {
        var large = AttributeDescription(name: "bytes", type: .binaryData, isOptional: true)
        large.allowsExternalBinaryDataStorage = true
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Picture",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string)),
                    .attribute(large),
                ])
        ])
        let container = PersistentContainer(name: "Pictures", model: model, at: location, options: .init(log: log))
        try container.loadPersistentStores()
        return container
    }

    @discardableResult static func save(
        _ name: String, _ bytes: Data, _ container: PersistentContainer
    ) throws -> ObjectID {
        let context = container.newBackgroundContext()
        let picture = try context.insertNewObject(forEntityName: "Picture")
        try picture.setValue(name, forKey: "name")
        try picture.setValue(bytes, forKey: "bytes")
        try context.save()
        return picture.objectID
    }

    static func change(_ id: ObjectID, to bytes: Data, _ container: PersistentContainer) throws {
        let context = container.newBackgroundContext()
        try context.existingObject(with: id).setValue(bytes, forKey: "bytes")
        try context.save()
    }

    static func pictures(_ context: ManagedObjectContext) throws -> [ManagedObject] {
        try context.fetch(FetchRequest<ManagedObject>(entityName: "Picture"))
    }
}
