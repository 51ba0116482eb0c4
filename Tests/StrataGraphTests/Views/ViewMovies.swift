import StrataGraph
import StrataModel
import StrataTestSupport

/// Movies of which a test has one view.
enum ViewMovies {
    static func container(_ source: ViewSource<Movie>) throws -> PersistentContainer {
        let container = try PersistentContainer(
            name: "Movies", entities: [Movie.self, FamilyMember.self], views: [source.description], at: .inMemory,
            options: .init(durability: .disposable))
        try container.loadPersistentStores()
        MadeStores.current?.add(container)
        return container
    }

    /// Films without a class, which have these attributes.
    static func films(
        _ attributes: KeyValuePairs<String, AttributeType>, _ view: ViewDescription
    ) throws -> PersistentContainer {
        let properties = attributes.map { name, type in
            PropertyDescription.attribute(AttributeDescription(name: name, type: type, isOptional: true))
        }
        let film = EntityDescription(name: "Film", properties: properties)
        let container = PersistentContainer(
            name: "Films", model: try ManagedObjectModel(entities: [film]).adding(views: [view]), at: .inMemory,
            options: .init(durability: .disposable))
        try container.loadPersistentStores()
        MadeStores.current?.add(container)
        return container
    }

    @discardableResult
    static func movie(_ title: String, _ rating: Double, _ context: ManagedObjectContext) -> Movie {
        let movie = Movie(context: context)
        movie.title = title
        movie.rating = rating
        return movie
    }
}
