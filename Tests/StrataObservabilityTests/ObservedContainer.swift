import Foundation
import StrataGraph
import StrataModel

/// A container of films, with an observer.
func makeContainer(
    _ observer: (any ContainerObserver)?, at location: PersistentStoreLocation = .inMemory,
    durability: PersistentStoreDurability = .disposable
) throws -> PersistentContainer {
    let film = EntityDescription(
        name: "Film",
        properties: [
            .attribute(AttributeDescription(name: "title", type: .string, isOptional: true)),
            .attribute(AttributeDescription(name: "year", type: .integer64, isOptional: true)),
        ],
        indexes: [FetchIndexDescription(name: "byYear", elements: [.init("year")])])
    var options = PersistentStoreOptions(durability: durability)
    options.observer = observer
    let container = PersistentContainer(
        name: "films", model: try ManagedObjectModel(entities: [film]), at: location, options: options)
    return container
}

extension ManagedObjectContext {
    /// Saves so many films, of the years from 1900 on.
    func saveFilms(_ count: Int) throws {
        for number in 0..<count {
            let film = try insertNewObject(forEntityName: "Film")
            try film.setValue("film \(number)", forKey: "title")
            try film.setValue(1900 + number, forKey: "year")
        }
        try save()
    }
}
