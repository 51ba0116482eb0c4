import Foundation
import Strata

enum Genre: String, Sendable, CaseIterable { case drama, comedy, horror }
enum Grade: Int16, Sendable, CaseIterable { case low = 1, middle, high }

/// What the tests of queries ask about.
@Entity final class Film: ManagedObject {
    @Attribute(.indexed) var title: String = ""
    var note: String?
    @Attribute(.indexed) var year: Int = 0
    var length: Int32?
    var rating: Double = 0
    var score: Float?
    var isSeen: Bool = false
    var isLent: Bool?
    var genre: Genre = .drama
    var grade: Grade?
    var released: Date?
    var price: Decimal?
    var code: UUID?
    @Attribute(.transient) var mood: String?
    var studio: Studio?
    @Relationship(inverse: \Actor.films) var actors: ToMany<Actor>

    var shout: String { title.uppercased() }
}

@Entity final class Studio: ManagedObject {
    var name: String = ""
    var country: String?
    @Relationship(inverse: \Film.studio) var films: ToMany<Film>
}

@Entity final class Actor: ManagedObject {
    var name: String = ""
    var age: Int?
    var films: ToMany<Film>
    var agent: Actor?
    @Relationship(inverse: \Actor.agent) var clients: ToMany<Actor>
}

let filmEntities: [ManagedObject.Type] = [Film.self, Studio.self, Actor.self]

/// Thirty films with gaps in every optional property.
func makeFilms(in context: ManagedObjectContext) {
    let studios = ["Mosfilm", "Lenfilm", "Ghibli"].enumerated().map { number, name in
        let studio = Studio(context: context)
        studio.name = name
        studio.country = number == 1 ? nil : number == 0 ? "SU" : "JP"
        return studio
    }
    let agent = Actor(context: context)
    agent.name = "Agent"
    let actors = (0..<8).map { number in
        let actor = Actor(context: context)
        actor.name = "Actor \(number)"
        actor.age = number % 3 == 0 ? nil : 20 + number * 5
        actor.agent = number % 2 == 0 ? agent : nil
        return actor
    }
    let words = ["Stalker", "Solaris", "Mirror", "Nostalghia", "Éloge", "stalk", "", "Part 9", "Part 10", "Ran"]
    for number in 0..<30 {
        let film = Film(context: context)
        film.title = words[number % words.count]
        film.note = number % 4 == 0 ? nil : "Note \(number)"
        film.year = 1960 + number
        film.length = number % 5 == 0 ? nil : Int32(80 + number)
        film.rating = Double(number % 11) / 2
        film.score = number % 3 == 0 ? nil : Float(number) / 10
        film.isSeen = number % 2 == 0
        film.isLent = number % 3 == 0 ? nil : number % 3 == 1
        film.genre = Genre.allCases[number % 3]
        film.grade = number % 4 == 3 ? nil : Grade.allCases[number % 4]
        film.released = number % 6 == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(number) * 86_400)
        film.price = number % 7 == 0 ? nil : Decimal(number) / 4
        film.studio = number % 5 == 4 ? nil : studios[number % 3]
        film.actors = ToMany((0..<(number % 4)).map { actors[(number + $0 * 3) % actors.count] })
    }
}
