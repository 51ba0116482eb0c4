import Foundation
import StrataGraph
import StrataModel

/// A container of films in memory, with an observer.
func makeContainer(_ observer: (any ContainerObserver)?) throws -> PersistentContainer {
    let film = EntityDescription(
        name: "Film",
        properties: [
            .attribute(AttributeDescription(name: "title", type: .string, isOptional: true)),
            .attribute(AttributeDescription(name: "year", type: .integer64, isOptional: true)),
        ],
        indexes: [FetchIndexDescription(name: "byYear", elements: [.init("year")])])
    var options = PersistentStoreOptions(durability: .disposable)
    options.observer = observer
    let container = PersistentContainer(
        name: "films", model: try ManagedObjectModel(entities: [film]), at: .inMemory, options: options)
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
