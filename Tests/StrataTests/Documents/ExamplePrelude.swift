/// What the examples of the documents may take for granted: entities, functions, and values by their usual names.
///
/// A page that declares a class of the same name uses its own.
enum ExamplePrelude {
    static let source = """
        import Foundation
        import Strata

        @Entity final class Movie: ManagedObject {
            @Attribute(.indexed) var title: String
            @Attribute(.range(0...5)) var rating: Double = 0
            var year: Int = 0
            var genre: String?
            var released: Date?
            var minutes: Int?
            var familyMember: FamilyMember?
            @Relationship(inverse: \\Person.movies) var owner: Person?
            @Relationship(inverse: \\Person.roles) var cast: ToMany<Person>
            @Relationship(inverse: \\Person.films) var actors: ToMany<Person>
        }

        @Entity final class FamilyMember: ManagedObject {
            var name: String
            @Relationship(deleteRule: .cascade, inverse: \\Movie.familyMember) var favoriteMovies: ToMany<Movie>
        }

        @Entity final class Person: ManagedObject {
            @Attribute(.indexed) var name: String
            var age: Int = 0
            var fee: Double = 0
            var firstName: String?
            var movies: ToMany<Movie>
            var roles: ToMany<Movie>
            var films: ToMany<Movie>
        }

        @Entity final class Film: ManagedObject {
            var title: String
            var year: Int = 0
        }

        @Entity final class Account: ManagedObject { var balance: Double = 0 }
        @Entity final class Transfer: ManagedObject { var amount: Double = 0 }

        @Entity final class Author: ManagedObject {
            @Attribute(.indexed) var name: String
            var books: ToMany<Book>
        }

        @Entity final class Book: ManagedObject {
            @Attribute(.unique) var isbn: String
            @Relationship(inverse: \\Author.books) var author: Author?
            var shelf: Shelf?
        }

        @Entity final class Shelf: ManagedObject {
            @Relationship(inverse: \\Book.shelf) var books: ToMany<Book>
        }

        struct Keyring: Sendable {
            func secret(named name: String) throws -> Data { Data() }
        }

        struct Color: Codable, Sendable { var red = 0.0 }

        func show(_ movies: some Sequence<Movie>) {}
        func index(_ changes: [ObjectChange]) throws {}
        func send(_ change: TransactionChanges) async throws {}

        """

    static let parameters = """
        container: PersistentContainer, context: ManagedObjectContext, object: Movie, movie: Movie, movies: [Movie],
            member: FamilyMember, ann: FamilyMember, account: Account, transfer: Transfer, person: Person,
            kaidanovsky: Person, freindlich: Person, book: Book, author: Author, shelf: Shelf,
            transaction: TransactionNumber, event: HistoryEvent, changes: ContainerResults<Movie>,
            modelWithAddresses: ManagedObjectModel, model: ManagedObjectModel, storeURL: URL, directory: URL,
            start: Date, end: Date, feed: AsyncStream<BatchRow<Movie>>, rows: [[String: AttributeValue]], uri: URL,
            keyring: Keyring, newKey: Data, oldKey: Data
        """

    static let variables = """
        var token: HistoryToken? = nil
        var options = PersistentStoreOptions()
        var request = FetchRequest<Movie>()
        var row = BatchRow<Movie>()
        _ = (token, options, request, row)
        (token, options, request, row) = (nil, .init(), .init(), .init())
        """
}
