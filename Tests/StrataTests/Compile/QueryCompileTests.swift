import Foundation
import Testing

/// How long the compiler takes over typed queries, and what it says of wrong ones.
///
/// Times are the compiler's own, of the processor and not of the clock. What a wrong query takes is counted in the
/// solver's scopes, which are the same on every machine under every load.
@Suite struct QueryCompileTests {
    private static let entities = """
        import Foundation
        import Strata

        enum Mood: String, Sendable { case calm, wild }
        @Entity final class Film: ManagedObject {
            var title: String
            var note: String?
            var year: Int = 0
            var length: Int32?
            var rating: Double = 0
            var isSeen: Bool = false
            var mood: Mood = .calm
            var released: Date?
            var studio: Studio?
            @Relationship(inverse: \\Actor.films) var actors: ToMany<Actor>
        }
        @Entity final class Studio: ManagedObject {
            var name: String
            @Relationship(inverse: \\Film.studio) var films: ToMany<Film>
        }
        @Entity final class Actor: ManagedObject {
            var name: String
            var age: Int?
            var films: ToMany<Film>
        }

        """

    private func failures(_ query: String, limit: [String]) throws -> [String] {
        let source = Self.entities + "func query(now: Date) throws -> FetchRequest<Film> {\n" + query + "\n}\n"
        return try Compiler().failures(in: source, options: limit.flatMap { ["-Xfrontend", $0] }).map(\.text)
    }

    private static let sixteenClauses = """
        try FetchRequest<Film>().where {
            $0.rating > 4 && $0.rating <= 5 && $0.title.contains("x", [.caseInsensitive]) && $0.note != nil
                && $0.year >= 1970 && ($0.year < 1990 || $0.year == 2001) && $0.isSeen && !($0.length > 90)
                && $0.mood == .calm && $0.released < now && $0.studio.name == "Mosfilm" && $0.studio != nil
                && $0.actors.any { $0.age > 40 } && $0.actors.count > 2 && $0.rating * 2 > 7
                && $0.title.begins(with: "S")
        }
        """

    @Test func sixteenClausesAreCheckedInLessThan200Milliseconds() throws {
        let limit = ["-warn-long-expression-type-checking=200"]
        let failures = try Compiler().failures(
            in: Self.entities + "func query(now: Date) throws -> FetchRequest<Film> {\n\(Self.sixteenClauses)\n}\n",
            options: ["-warnings-as-errors"] + limit.flatMap { ["-Xfrontend", $0] })
        #expect(failures.isEmpty, "\(failures)")
    }

    /// Proves that the test above could fail.
    @Test func aLimitOfAMillisecondIsExceeded() throws {
        let source = Self.entities + "func query(now: Date) throws -> FetchRequest<Film> {\n\(Self.sixteenClauses)\n}\n"
        let failures = try Compiler().failures(
            in: source,
            options: ["-warnings-as-errors", "-Xfrontend", "-warn-long-expression-type-checking=1"])
        #expect(failures.contains { $0.text.contains("to type-check") })
    }

    /// A quiet core of 2026 gets through 25,000 to 45,000 scopes in a second.
    private static let scopesOfASecond = 25_000

    /// Eight clauses, one of which is wrong.
    @Test(arguments: [
        ("$0.titel.contains(\"x\")", "has no dynamic member 'titel'"),
        ("$0.length > width", "Int32"),
        ("$0.title > 4", "String"),
        ("$0.studio.nam == \"x\"", "has no dynamic member 'nam'"),
        ("$0.actors.any { $0.aged > 3 }", "has no member"),
        ("$0.mood == .sad", "has no member 'sad'"),
        ("$0.mood != .sad", "has no member 'sad'"),
        ("$0.released < .later", "has no member 'later'"),
        ("$0.title.contains(\"x\", [.caseBlind])", "has no member 'caseBlind'"),
        ("$0.title.hasPrefix(\"x\")", "begins(with:)"),
        ("$0.title.hasSuffix(\"x\")", "ends(with:)"),
        ("$0.length == width", "Int32"),
        ("$0.studio == \"x\"", "String"),
        ("!$0.year", "ValueExpression<Bool>"),
        ("$0.year > largest", "cannot find 'largest'"),
    ])
    func aWrongClauseAmongEightFailsClearlyInLessThanASecond(clause: String, text: String) throws {
        let query = """
            let width: Int = 90
            _ = width
            return try FetchRequest<Film>().where {
                $0.rating > 4 && $0.title.contains("x", [.caseInsensitive]) && $0.note != nil && $0.year >= 1970
                    && \(clause) && !$0.isSeen && $0.studio.name == "Mosfilm" && $0.actors.count > 2
            }
            """
        let texts = try failures(query, limit: ["-solver-scope-threshold=\(Self.scopesOfASecond)"])
        #expect(texts.contains { $0.contains(text) }, "\(texts)")
        #expect(texts.allSatisfy { !$0.contains("reasonable time") }, "\(texts)")
    }

    /// Proves that the test above could fail.
    @Test func aLimitOfAHundredScopesIsExceeded() throws {
        let texts = try failures(
            "try FetchRequest<Film>().where { $0.mood == .sad }", limit: ["-solver-scope-threshold=100"])
        #expect(texts.contains { $0.contains("reasonable time") }, "\(texts)")
    }

    @Test func aCaseThatIsNoneIsNamed() throws {
        let texts = try failures("try FetchRequest<Film>().where { $0.rating > 4 && $0.mood == .sad }", limit: [])
        #expect(texts.contains { $0.contains("'sad'") }, "\(texts)")
    }

    @Test func predicatesOverEntitiesCompile() throws {
        let query = """
            let least = 4.0
            let predicate = #Predicate<Film> { $0.rating > least && $0.studio?.name == "Mosfilm" }
            do { return try FetchRequest<Film>().where(predicate) } catch { return FetchRequest<Film>() }
            """
        #expect(try failures(query, limit: []).isEmpty)
    }
}
