import Foundation
import Strata
import Testing

/// The recipes of the article on views, as they stand there.
@Suite struct ViewRecipesTests {
    @Entity final class Film: ManagedObject {
        var title: String
        var isReleased: Bool = false
        var gross: Decimal = 0
        var rating: Double?
        var premiere: Date?
        var studio: Studio?
        @Relationship(inverse: \Tag.films) var tags: ToMany<Tag>
    }

    @Entity final class Studio: ManagedObject {
        @Attribute(.unique) var name: String
        @Relationship(inverse: \Film.studio) var films: ToMany<Film>
    }

    @Entity final class Tag: ManagedObject {
        @Attribute(.unique) var name: String
        var films: ToMany<Film>
    }

    @View struct FilmsByTag {
        static let source = ViewSource(Film.self).ordered(by: "gross", ascending: false)
        @Key(\Film.tags) var tag: ObjectID?
        @Count var films: Int
        @Sum(\Film.gross) var gross: Decimal
        @Max(\Film.rating) var best: Double?
    }

    struct MiddleRating: ViewProjection {
        static var inputs: [PartialKeyPath<Film>] { [\.rating] }
        private var counts: [Double: Int] = [:]

        init() {}
        mutating func add(_ film: ProjectedRow<Film>) throws { count(try film.rating, 1) }
        mutating func remove(_ film: ProjectedRow<Film>) throws { count(try film.rating, -1) }

        private mutating func count(_ rating: Double?, _ sign: Int) {
            guard let rating else { return }
            counts[rating, default: 0] += sign
            if counts[rating] == 0 { counts[rating] = nil }
        }

        var value: Double? {
            var left = counts.values.reduce(0, +) / 2
            for (rating, count) in counts.sorted(by: { $0.key < $1.key }) {
                if left < count { return rating }
                left -= count
            }
            return nil
        }
    }

    @View struct StudioRatings {
        static let source = ViewSource(Film.self)
        @Key(\Film.studio) var studio: ObjectID?
        @Count var films: Int
        @Projected(MiddleRating.self) var middle: MiddleRating
    }

    private let container: PersistentContainer
    private let context: ManagedObjectContext
    private let films: [Film]
    private let tags: [Tag]

    init() throws {
        container = try PersistentContainer(
            name: "Cinema", entities: [Film.self, Studio.self, Tag.self], views: [FilmsByTag.view, StudioRatings.view],
            at: .inMemory, options: PersistentStoreOptions(durability: .disposable))
        try container.loadPersistentStores()
        let context = container.newBackgroundContext()
        let studio = Studio(context: context)
        studio.name = "Mosfilm"
        tags = ["space", "slow", "short"].map { name in
            let tag = Tag(context: context)
            tag.name = name
            return tag
        }
        films = (1...4).map { number in
            let film = Film(context: context)
            film.title = "\(number)"
            film.gross = Decimal(number * 10)
            film.rating = number == 4 ? nil : Double(number)
            film.studio = studio
            return film
        }
        films[0].tags.insert(tags[0])
        films[1].tags.insert(tags[0])
        films[1].tags.insert(tags[1])
        films[2].tags.insert(tags[1])
        self.context = context
        try context.save()
    }

    @Test func membersOfAManyToMany() throws {
        func films(tagged tag: Tag) throws -> FilmsByTag? {
            let id = tag.objectID
            return try context.rows(of: FilmsByTag.self).where { $0.tag == id }.first()
        }
        let richest = try context.rows(of: FilmsByTag.self).sorted(by: \.gross, .descending).prefix(3)
        #expect(richest.map(\.gross) == [50, 40, 30])
        #expect(richest.map(\.tag) == [tags[1].objectID, nil, tags[0].objectID])
        #expect(try films(tagged: tags[0])?.films == 2 && films(tagged: tags[2]) == nil)
        let before = context.eventNumber
        self.films[3].tags.insert(tags[2])
        self.films[1].tags.remove(tags[0])
        context.delete(self.films[2])
        #expect(try films(tagged: tags[0])?.films == 1 && films(tagged: tags[2])?.gross == 40)
        try context.save()
        #expect(try films(tagged: tags[0])?.films == 1 && films(tagged: tags[1])?.gross == 20)
        let past = try container.context(asOf: .event(before)).rows(of: FilmsByTag.self).all()
        #expect(past.map(\.films).sorted() == [1, 2, 2])
        #expect(try container.verify().isSound)
    }

    @Test func aProjectionOfOnesOwn() throws {
        for row in try context.rows(of: StudioRatings.self).all() { print(row.films, row.middle.value ?? 0) }
        try MiddleRating.checkLaws()
        try MiddleRating.checkLaws { generator in
            ProjectedRow([\.rating: Double(Int.random(in: 0...10, using: &generator)) / 2])
        }
        #expect(try context.rows(of: StudioRatings.self).all().map(\.middle.value) == [2])
        films[0].rating = 5
        #expect(try context.rows(of: StudioRatings.self).first()?.middle.value == 3)
        try context.save()
        #expect(try context.rows(of: StudioRatings.self).first()?.films == 4)
        #expect(try container.verify().uncheckedViews.isEmpty)
    }
}
