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

    @discardableResult
    static func movie(_ title: String, _ rating: Double, _ context: ManagedObjectContext) -> Movie {
        let movie = Movie(context: context)
        movie.title = title
        movie.rating = rating
        return movie
    }
}
