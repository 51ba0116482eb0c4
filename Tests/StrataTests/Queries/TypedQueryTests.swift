import Foundation
import Strata
import Testing

/// What the closures of typed queries become.
@Suite struct TypedQueryTests {
    private func text(_ condition: (ObjectExpression<Film>) -> ValueExpression<Bool>) -> String {
        FetchPredicate(for: Film.self, condition).description
    }

    @Test func comparisonsAreThoseOfTheFormatLanguage() {
        #expect(text { $0.year == 1979 } == "year == 1979")
        #expect(text { $0.year != 1979 } == "year != 1979")
        #expect(text { $0.rating > 4 } == "rating > 4.0")
        #expect(text { $0.rating <= 4.5 } == "rating <= 4.5")
        #expect(text { $0.year < $0.actors.count } == "year < actors.@count")
        #expect(text { $0.length >= 90 } == "length >= 90")
        #expect(text { $0.score == 0.1 } == "score == 0.1")
        #expect(text { $0.year.isBetween(1970, 1980) } == "year BETWEEN {1970, 1980}")
        #expect(text { $0.year.isIn(1970...1980) } == "year BETWEEN {1970, 1980}")
        #expect(text { $0.year.isIn(1970..<1980) } == "year >= 1970 AND year < 1980")
        #expect(text { $0.year.isIn([1979, 1980]) } == "year IN {1979, 1980}")
    }

    @Test func nilIsAskedForAndVariablesMayBeNil() {
        let missing: Int32? = nil
        let there: Int32? = 90
        #expect(text { $0.note == nil } == "note == nil")
        #expect(text { $0.note != nil } == "note != nil")
        #expect(text { $0.length == missing } == "length == nil")
        #expect(text { $0.length == there } == "length == 90")
        #expect(text { $0.studio == nil } == "studio == nil")
        #expect(text { ($0.length ?? 0) > 90 } == "TERNARY(length == nil, 0, length) > 90")
    }

    @Test func boolsAreConditions() {
        #expect(text { $0.isSeen } == "isSeen == TRUE")
        #expect(text { !$0.isSeen } == "NOT isSeen == TRUE")
        #expect(text { $0.isLent == false } == "isLent == FALSE")
        #expect(
            text { $0.isSeen && ($0.year > 1 || $0.year < 0) && !($0.rating > 1) }
                == "isSeen == TRUE AND (year > 1 OR year < 0) AND NOT rating > 1.0")
        #expect(
            text { ($0.rating > 1) == $0.isSeen } == "TERNARY(rating > 1.0, TRUE, FALSE) == isSeen")
    }

    @Test func enumsAreTheirRawValues() {
        #expect(text { $0.genre == .drama } == #"genre == "drama""#)
        #expect(text { $0.grade != .high } == "grade != 3")
        #expect(text { $0.genre.isIn([.drama, .horror]) } == #"genre IN {"drama", "horror"}"#)
        #expect(text { $0.genre.rawValue.begins(with: "d") } == #"genre BEGINSWITH "d""#)
        #expect(text { $0.grade == nil } == "grade == nil")
    }

    @Test func textsAreComparedWithOptions() {
        #expect(text { $0.title.contains("a", [.caseInsensitive]) } == #"title CONTAINS[c] "a""#)
        #expect(text { $0.title.begins(with: "a") } == #"title BEGINSWITH "a""#)
        #expect(
            text { $0.title.ends(with: "a", [.caseInsensitive, .diacriticInsensitive]) } == #"title ENDSWITH[cd] "a""#)
        #expect(text { $0.title.like("?a*") } == #"title LIKE "?a*""#)
        #expect(text { $0.title.matches("[a-z]+", [.caseInsensitive]) } == #"title MATCHES[c] "[a-z]+""#)
        #expect(text { $0.title.isEqual(to: "x", [.diacriticInsensitive]) } == #"title ==[d] "x""#)
        #expect(text { $0.title.contains($0.note) } == "title CONTAINS note")
        #expect(text { $0.title.isIn(["a", "b"], [.caseInsensitive]) } == #"title IN[c] {"a", "b"}"#)
        #expect(text { $0.title.lowercased() == "x" } == #"lowercase:(title) == "x""#)
        #expect(text { $0.title.count > 3 && $0.note.isEmpty } == #"length:(title) > 3 AND note == """#)
    }

    @Test func numbersAreReckonedWith() {
        #expect(text { $0.year + 1 == 1980 } == "year + 1 == 1980")
        #expect(text { ($0.year - 1900) * 2 > 100 } == "(year - 1900) * 2 > 100")
        #expect(text { $0.rating / 2 > $0.rating - 3 } == "rating / 2.0 > rating - 3.0")
        #expect(text { $0.year % 10 == 0 } == "modulus:by:(year, 10) == 0")
        #expect(text { -$0.rating < -4 } == "rating * (-1) < -4.0")
        #expect(text { $0.rating.floor == 4 && $0.year.magnitude > 3 } == "floor:(rating) == 4.0 AND abs:(year) > 3")
    }

    @Test func toOnesAreFollowedWithADot() throws {
        #expect(text { $0.studio.name == "Mosfilm" } == #"studio.name == "Mosfilm""#)
        #expect(text { $0.studio.country == nil } == "studio.country == nil")
        let container = try makeOpenContainer(filmEntities)
        let context = container.newBackgroundContext()
        let studio = Studio(context: context)
        let id = FetchExpression.constant(.objectID(studio.objectID))
        #expect(text { $0.studio == studio } == "studio == \(id)")
        #expect(text { $0.studio.objectID == studio.objectID } == "studio == \(id)")
        #expect(text { $0.objectID == studio.objectID } == "SELF == \(id)")
        #expect(text { $0 != nil } == "SELF != nil")
    }

    @Test func toManysAreQuantified() {
        #expect(text { $0.actors.any { $0.name == "A" } } == #"ANY actors.name == "A""#)
        #expect(text { $0.actors.all { $0.name != "A" } } == #"ALL actors.name != "A""#)
        #expect(text { $0.actors.none { $0.age > 40 } } == "NOT ANY actors.age > 40")
        // A missing age does not meet the condition, and ALL passes over it.
        #expect(text { $0.actors.all { $0.age > 40 } } == "SUBQUERY(actors, $x, NOT $x.age > 40).@count == 0")
        #expect(text { $0.actors.any { $0.age == nil } } == "SUBQUERY(actors, $x, $x.age == nil).@count > 0")
        #expect(
            text { film in film.actors.any { $0.name == film.title && $0.age > 3 } }
                == "SUBQUERY(actors, $x, $x.name == title AND $x.age > 3).@count > 0")
        #expect(
            text { $0.actors.any { actor in actor.clients.any { $0.name == actor.name } } }
                == "SUBQUERY(actors, $x, SUBQUERY($x.clients, $y, $y.name == $x.name).@count > 0).@count > 0")
        #expect(
            text { film in film.actors.any { actor in film.studio.films.any { $0.title == actor.name } } }
                == "SUBQUERY(actors, $x, SUBQUERY(studio.films, $y, $y.title == $x.name).@count > 0).@count > 0")
    }

    @Test func toManysAreCountedAndSummed() {
        #expect(text { $0.actors.count > 2 } == "actors.@count > 2")
        #expect(text { $0.actors.isEmpty } == "actors.@count == 0")
        #expect(text { $0.actors.where { $0.age > 40 }.count >= 2 } == "SUBQUERY(actors, $x, $x.age > 40).@count >= 2")
        #expect(text { $0.actors.sum(\.age) > 100 } == "actors.@sum.age > 100")
        #expect(text { $0.actors.average(\.age) > 40 } == "actors.@avg.age > 40.0")
        #expect(text { $0.actors.min(\.name) == "A" } == #"actors.@min.name == "A""#)
        #expect(text { $0.actors.max(\.age) < 60 } == "actors.@max.age < 60")
        #expect(text { $0.studio.films.max(\.year) == $0.year } == "studio.films.@max.year == year")
    }

    @Test func aRequestCollectsConditionsAndKeys() throws {
        let request = try FetchRequest<Film>()
            .where { $0.year > 1970 }
            .where { $0.isSeen }
            .sorted(by: \.studio?.name)
            .sorted(by: \.title, isAscending: false, folding: .caseInsensitive)
            .limited(to: 5, offset: 2)
        #expect(request.predicate?.description == "year > 1970 AND isSeen == TRUE")
        #expect(
            request.sortDescriptors == [
                SortDescription("studio.name"),
                SortDescription("title", isAscending: false, folding: .caseInsensitive),
            ])
        #expect(request.fetchLimit == 5 && request.fetchOffset == 2)
    }
}
