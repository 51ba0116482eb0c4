import Foundation
import Strata
import Testing

/// A question asked in every way, and in plain Swift.
struct Question: Sendable, CustomTestStringConvertible {
    let format: String
    let typed: @Sendable (ObjectExpression<Film>) -> ValueExpression<Bool>
    let predicate: Predicate<Film>?
    let plain: @Sendable (Film) -> Bool

    init(
        _ format: String, _ typed: @escaping @Sendable (ObjectExpression<Film>) -> ValueExpression<Bool>,
        _ predicate: Predicate<Film>? = nil,
        plain: @escaping @Sendable (Film) -> Bool
    ) {
        self.format = format
        self.typed = typed
        self.predicate = predicate
        self.plain = plain
    }

    var testDescription: String { format }
}

private let day = Date(timeIntervalSinceReferenceDate: 12 * 86_400)
private let names = ["Actor 1", "Actor 4"]

private let questions: [Question] = [
    Question("rating > 2.5", { $0.rating > 2.5 }, #Predicate { $0.rating > 2.5 }) { $0.rating > 2.5 },
    Question(
        "year >= 1965 AND year < 1980", { $0.year >= 1965 && $0.year < 1980 },
        #Predicate { $0.year >= 1965 && $0.year < 1980 }
    ) { $0.year >= 1965 && $0.year < 1980 },
    Question("year BETWEEN {1965, 1970}", { $0.year.isIn(1965...1970) }, #Predicate { (1965...1970).contains($0.year) })
    {
        (1965...1970).contains($0.year)
    },
    Question(
        "year IN {1961, 1966, 2000}", { $0.year.isIn([1961, 1966, 2000]) },
        #Predicate {
            [1961, 1966, 2000].contains($0.year)
        }
    ) { [1961, 1966, 2000].contains($0.year) },
    Question("note == nil", { $0.note == nil }, #Predicate { $0.note == nil }) { $0.note == nil },
    Question("length > 90", { $0.length > 90 }, #Predicate { ($0.length ?? 0) > 90 }) { ($0.length ?? 0) > 90 },
    Question("NOT length > 90", { !($0.length > 90) }, #Predicate { !(($0.length ?? 0) > 90) }) {
        !(($0.length ?? 0) > 90)
    },
    Question("isSeen == TRUE", { $0.isSeen }, #Predicate { $0.isSeen }) { $0.isSeen },
    Question("isLent == FALSE", { $0.isLent == false }, #Predicate { $0.isLent == false }) { $0.isLent == false },
    Question("genre == 'comedy'", { $0.genre == .comedy }, #Predicate { $0.genre.rawValue == "comedy" }) {
        $0.genre == .comedy
    },
    Question("grade == 3", { $0.grade == .high }) { $0.grade == .high },
    Question("score == 0.5", { $0.score == 0.5 }, #Predicate { $0.score == 0.5 }) { $0.score == 0.5 },
    Question("title CONTAINS[c] 'STA'", { $0.title.contains("STA", [.caseInsensitive]) }) {
        $0.title.lowercased().contains("sta")
    },
    Question("title CONTAINS 'sta'", { $0.title.contains("sta") }, #Predicate { $0.title.contains("sta") }) {
        $0.title.contains("sta")
    },
    Question("title BEGINSWITH 'So'", { $0.title.begins(with: "So") }, #Predicate { $0.title.starts(with: "So") }) {
        $0.title.hasPrefix("So")
    },
    Question("title ENDSWITH 'ror'", { $0.title.ends(with: "ror") }) { $0.title.hasSuffix("ror") },
    Question("title ==[cd] 'eloge'", { $0.title.isEqual(to: "eloge", [.caseInsensitive, .diacriticInsensitive]) }) {
        $0.title == "Éloge"
    },
    Question("title LIKE 'Part*'", { $0.title.like("Part*") }) { $0.title.hasPrefix("Part") },
    Question("title MATCHES '[A-Z][a-z]+'", { $0.title.matches("[A-Z][a-z]+") }) {
        ["Stalker", "Solaris", "Mirror", "Nostalghia", "Ran"].contains($0.title)
    },
    Question("title == ''", { $0.title.isEmpty }, #Predicate { $0.title.isEmpty }) { $0.title.isEmpty },
    Question("length:(title) > 6", { $0.title.count > 6 }, #Predicate { $0.title.count > 6 }) { $0.title.count > 6 },
    Question("year + 10 > 1990", { $0.year + 10 > 1990 }, #Predicate { $0.year + 10 > 1990 }) { $0.year + 10 > 1990 },
    Question(
        "rating * 2 - 1 >= rating + 2", { $0.rating * 2 - 1 >= $0.rating + 2 },
        #Predicate {
            $0.rating * 2 - 1 >= $0.rating + 2
        }
    ) { $0.rating * 2 - 1 >= $0.rating + 2 },
    Question("modulus:by:(year, 5) == 0", { $0.year % 5 == 0 }, #Predicate { $0.year % 5 == 0 }) { $0.year % 5 == 0 },
    Question("released < CAST(1036800, 'NSDate')", { $0.released < day }) { $0.released.map { $0 < day } ?? false },
    Question("studio.name == 'Mosfilm'", { $0.studio.name == "Mosfilm" }, #Predicate { $0.studio?.name == "Mosfilm" }) {
        $0.studio?.name == "Mosfilm"
    },
    Question("studio == nil", { $0.studio == nil }, #Predicate { $0.studio == nil }) { $0.studio == nil },
    Question("studio != nil AND studio.country == nil", { $0.studio != nil && $0.studio.country == nil }) {
        $0.studio != nil && $0.studio?.country == nil
    },
    Question(
        "ANY actors.age > 40", { $0.actors.any { $0.age > 40 } },
        #Predicate {
            $0.actors.contains { ($0.age ?? 0) > 40 }
        }
    ) { $0.actors.contains { ($0.age ?? 0) > 40 } },
    Question(
        "ANY actors.name == 'Actor 1'", { $0.actors.any { $0.name == "Actor 1" } },
        #Predicate {
            $0.actors.contains { $0.name == "Actor 1" }
        }
    ) { $0.actors.contains { $0.name == "Actor 1" } },
    Question(
        "ALL actors.name != 'Actor 1'", { $0.actors.all { $0.name != "Actor 1" } },
        #Predicate {
            $0.actors.allSatisfy { $0.name != "Actor 1" }
        }
    ) { $0.actors.allSatisfy { $0.name != "Actor 1" } },
    Question("SUBQUERY(actors, $a, NOT $a.age > 30).@count == 0", { $0.actors.all { $0.age > 30 } }) {
        $0.actors.allSatisfy { ($0.age ?? 0) > 30 }
    },
    Question("NONE actors.name IN {'Actor 1', 'Actor 4'}", { $0.actors.none { $0.name.isIn(names) } }) {
        !$0.actors.contains { names.contains($0.name) }
    },
    Question("actors.@count >= 2", { $0.actors.count >= 2 }, #Predicate { $0.actors.count >= 2 }) {
        $0.actors.count >= 2
    },
    Question("actors.@count == 0", { $0.actors.isEmpty }, #Predicate { $0.actors.isEmpty }) { $0.actors.isEmpty },
    Question("actors.@sum.age > 60", { $0.actors.sum(\.age) > 60 }) {
        $0.actors.compactMap(\.age).reduce(0, +) > 60
    },
    Question("actors.@avg.age > 35", { $0.actors.average(\.age) > 35 }) {
        let ages = $0.actors.compactMap(\.age)
        return !ages.isEmpty && Double(ages.reduce(0, +)) / Double(ages.count) > 35
    },
    Question("actors.@max.age < 50", { $0.actors.max(\.age) < 50 }) {
        $0.actors.compactMap(\.age).max().map { $0 < 50 } ?? false
    },
    Question("actors.@min.name == 'Actor 1'", { $0.actors.min(\.name) == "Actor 1" }) {
        $0.actors.map(\.name).min() == "Actor 1"
    },
    Question(
        "SUBQUERY(actors, $a, $a.age >= 30 AND $a.agent != nil).@count > 0",
        {
            $0.actors.any { $0.age >= 30 && $0.agent != nil }
        }, #Predicate { $0.actors.contains { ($0.age ?? 0) >= 30 && $0.agent != nil } }
    ) {
        $0.actors.contains { ($0.age ?? 0) >= 30 && $0.agent != nil }
    },
    Question(
        "SUBQUERY(actors, $a, $a.age > 30).@count >= 2", { $0.actors.where { $0.age > 30 }.count >= 2 },
        #Predicate {
            $0.actors.filter { ($0.age ?? 0) > 30 }.count >= 2
        }
    ) { $0.actors.filter { ($0.age ?? 0) > 30 }.count >= 2 },
    Question(
        "SUBQUERY(studio.films, $f, $f.year > year).@count > 4",
        { film in
            film.studio.films.where { $0.year > film.year }.count > 4
        }
    ) { film in (film.studio?.films.filter { $0.year > film.year }.count ?? 0) > 4 },
    Question(
        "TERNARY(note == nil, title, note) BEGINSWITH 'S'",
        { ($0.note ?? "").begins(with: "S") || ($0.note == nil && $0.title.begins(with: "S")) }
    ) {
        ($0.note ?? $0.title).hasPrefix("S")
    },
]

@Suite struct ThreeWaysTests {
    let container: PersistentContainer
    let context: ManagedObjectContext

    init() throws {
        container = try makeOpenContainer(filmEntities)
        context = container.newBackgroundContext()
        makeFilms(in: context)
    }

    private func titles(_ request: FetchRequest<Film>) throws -> [Int] {
        try context.fetch(request).map(\.year).sorted()
    }

    @Test(arguments: questions)
    func everyWayFindsWhatPlainSwiftFinds(question: Question) throws {
        let all = try context.fetch(FetchRequest<Film>())
        let expected = all.filter(question.plain).map(\.year).sorted()
        // Once with everything unsaved, once from the store.
        for _ in 0..<2 {
            #expect(try titles(FetchRequest<Film>().where(question.typed)) == expected)
            #expect(try titles(FetchRequest<Film>(format: question.format)) == expected)
            if let predicate = question.predicate {
                #expect(try titles(FetchRequest<Film>(predicate)) == expected)
                #expect(try all.filter { try predicate.evaluate($0) }.map(\.year).sorted() == expected)
            }
            try context.save()
        }
    }

    @Test(arguments: questions)
    func everyWayPrintsAFormatThatReadsAsTheSameTree(question: Question) throws {
        var trees = [try FetchPredicate(format: question.format), FetchPredicate(for: Film.self, question.typed)]
        if let predicate = question.predicate { trees.append(try FetchPredicate(predicate)) }
        for tree in trees {
            let again = try FetchPredicate(format: tree.description.replacing("%", with: "%%"))
            #expect(again == tree, "\(tree)")
        }
    }

    @Test func questionsThatFindNothingOrEverythingProveLittle() throws {
        let all = try context.fetch(FetchRequest<Film>())
        for question in questions {
            let count = all.filter(question.plain).count
            #expect(count > 0 && count < all.count, "\(question.format) finds \(count)")
        }
    }
}

/// What `#Predicate` has beyond the closures, and what it has that no query can.
@Suite struct FoundationPredicateTests {
    private func text(_ predicate: Predicate<Film>) throws -> String { try FetchPredicate(predicate).description }

    @Test func missingValuesAreAsInSwift() throws {
        let word = "x"
        #expect(try text(#Predicate { $0.note != word }) == #"NOT note == "x""#)
        #expect(
            try text(#Predicate { $0.note == $0.studio?.name })
                == "note == studio.name OR (note == nil AND studio.name == nil)")
        #expect(try text(#Predicate { $0.note != nil }) == "note != nil")
    }

    @Test func optionalsAreUnwrapped() throws {
        #expect(try text(#Predicate { $0.length.flatMap { $0 > 3 } ?? false }) == "length != nil AND length > 3")
        #expect(try text(#Predicate { $0.length.flatMap { $0 > 3 } ?? true }) == "length == nil OR length > 3")
        #expect(try text(#Predicate { $0.length! > 3 }) == "length > 3")
        #expect(try text(#Predicate { ($0.isSeen ? $0.year : 3) == 3 }) == "TERNARY(isSeen == TRUE, year, 3) == 3")
    }

    @Test func rangesListsAndDictionariesAreConstants() throws {
        let range = 1..<5
        let from = 3...
        let set: Set = ["b", "a"]
        let words = ["x": 1]
        #expect(try text(#Predicate { range.contains($0.year) }) == "year >= 1 AND year < 5")
        #expect(try text(#Predicate { from.contains($0.year) }) == "year >= 3")
        #expect(try text(#Predicate { ($0.year...1990).contains(3) }) == "3 BETWEEN {year, 1990}")
        #expect(try text(#Predicate { set.contains($0.title) }) == #"title IN {"a", "b"}"#)
        #expect(try text(#Predicate { film in set.contains { $0 == film.title } }).contains(#"== title"#))
        #expect(try text(#Predicate { words[$0.title] == 1 }) == #"TERNARY(title == "x", 1, nil) == 1"#)
        #expect(try text(#Predicate { words[$0.title, default: 7] == 1 }) == #"TERNARY(title == "x", 1, 7) == 1"#)
    }

    @Test func patternsMatchAPart() throws {
        let tree = try FetchPredicate(#Predicate<Film> { $0.title.contains(/a.b/) })
        #expect(tree.description.contains("MATCHES"))
    }

    @Test func objectsAreComparedByTheirIDs() throws {
        let container = try makeOpenContainer(filmEntities)
        let context = container.newBackgroundContext()
        let studio = Studio(context: context)
        let id = studio.objectID
        let literal = FetchExpression.constant(.objectID(id)).description
        #expect(try text(#Predicate { $0.studio?.objectID == id }) == "studio == \(literal)")
        #expect(try text(#Predicate { $0.objectID == id }) == "SELF == \(literal)")
    }

    @Test func whatNoQueryCanHaveIsNamed() throws {
        func node(_ predicate: Predicate<Film>) -> String? {
            do {
                _ = try FetchPredicate(predicate)
                return nil
            } catch {
                #expect(error.code == .invalidRequest)
                return error.context.key
            }
        }
        #expect(node(#Predicate { $0.isSeen }) == nil)
        #expect(node(#Predicate { $0.shout == "X" }) == "KeyPath")
    }
}
