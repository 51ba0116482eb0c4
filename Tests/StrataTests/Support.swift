import Foundation
import Strata
import Testing

let everyEntity: [ManagedObject.Type] = [
    Movie.self, FamilyMember.self, BowTie.self, Review.self, RestaurantPhoto.self, Photo.self, Manager.self,
    Kinds.self, Node.self, Song.self, Playlist.self, Rock.self, Scissors.self, Paper.self, Cinema.Hall.self,
    Cinema.Seat.self,
]

/// A container in memory; with every entity of the tests unless told which.
func makeContainer(_ entities: [ManagedObject.Type] = everyEntity) throws -> PersistentContainer {
    ValueTransformer.setValueTransformer(CodableValueTransformer<TieColor>(), forName: "TieColor")
    ValueTransformer.setValueTransformer(CodableValueTransformer<URL>(), forName: "RemoteURL")
    return try PersistentContainer(
        name: "Test", entities: entities, at: .inMemory, options: .init(durability: .disposable))
}

func makeOpenContainer(_ entities: [ManagedObject.Type] = everyEntity) throws -> PersistentContainer {
    let container = try makeContainer(entities)
    try container.loadPersistentStores()
    return container
}

extension PersistentContainer {
    func entity(_ name: String) throws -> EntityDescription {
        try #require(managedObjectModel.entitiesByName[name])
    }

    func attribute(_ entityName: String, _ name: String) throws -> AttributeDescription {
        let properties = try entity(entityName).properties
        return try #require(properties.first { $0.name == name }?.attribute)
    }

    func relationship(_ entityName: String, _ name: String) throws -> RelationshipDescription {
        let properties = try entity(entityName).properties
        return try #require(properties.first { $0.name == name }?.relationship)
    }
}
