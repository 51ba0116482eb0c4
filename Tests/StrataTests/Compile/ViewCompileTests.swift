import Foundation
import Testing

/// What the compiler says of structs with `@View`.
@Suite struct ViewCompileTests {
    private static let entities = """
        import Foundation
        import Strata

        enum Mood: String, Sendable { case calm, wild }
        @Entity final class Film: ManagedObject {
            var title: String
            var year: Int = 0
            var rating: Double?
            var shown: Date?
            var mood: Mood = Mood.calm
            var studio: Studio?
        }
        @Entity final class Studio: ManagedObject {
            var name: String
            @Relationship(inverse: \\Film.studio) var films: ToMany<Film>
        }

        """

    @Test(arguments: [
        [], ["-default-isolation", "MainActor"],
        ["-enable-upcoming-feature", "ExistentialAny", "-enable-upcoming-feature", "MemberImportVisibility"],
    ])
    func viewsOfEveryAccessLevelCompile(options: [String]) throws {
        let failures = try Compiler().failures(
            in: Self.entities + """
                @View struct Sales {
                    nonisolated static let source = ViewSource(Film.self).where { $0.year > 1900 }
                    @Key(\\Film.studio) var studio: ObjectID?
                    @Key(\\Film.studio?.name) let name: String?
                    @Key(\\Film.mood) var mood: Mood
                    @Key(.month, of: \\Film.shown, in: TimeZone(identifier: "Europe/Berlin") ?? .gmt) var month: Int?
                    @Key(bucketsOf: 10, of: \\Film.year) var decade: Int
                    @Count var films: Int
                    @Count(\\Film.rating) var rated: Int
                    @Average(\\Film.rating) var `default`: Double?
                    @Last(by: \\Film.shown) var latest: ObjectID?
                    @Top(3, by: \\Film.rating) var best: [ObjectID]
                    var share: Double { Double(rated) / Double(films) }
                }
                private enum Pages {
                    @View fileprivate struct Years {
                        nonisolated static let source = ViewSource(Film.self)
                        @Key(\\Film.year) fileprivate var year: Int
                        @Count fileprivate var films: Int
                    }
                }

                func read(_ context: ManagedObjectContext) throws -> [Double?] {
                    try context.rows(of: Sales.self).where { $0.films > 10 && $0.name == "M" && $0.mood == .calm }
                        .sorted(by: \\.default, .descending).prefix(20).map(\\.default)
                        + context.rows(of: Pages.Years.self).all().map { Double($0.year) }
                }
                """, options: options)
        #expect(failures.isEmpty, "\(failures)")
    }

    @Test func aValueWithoutASumOrOrderIsRefusedAtItsColumn() throws {
        try expectRefusals(
            in: Self.entities + """
                @View struct Sales {  // refused
                    static let source = ViewSource(Film.self)
                    @Key(\\Film.titel) var title: String  // refused
                    @Count var films: Int
                }
                @View struct Sums {  // refused
                    static let source = ViewSource(Film.self)
                    @Sum(\\Film.title) var titles: Int  // refused
                    @Max(\\Film.studio) var studio: ObjectID?  // refused
                    @Key(.year, of: \\Film.year) var year: Int  // refused
                    @Count var films: Int
                }
                """)
    }

    @Test func aConditionOnSomethingElseIsRefused() throws {
        try expectRefusals(
            in: Self.entities + """
                @View struct Sales {
                    static let source = ViewSource(Film.self)
                    @Key(\\Film.year) var year: Int
                    @Count var films: Int
                }

                func read(_ context: ManagedObjectContext) throws {
                    _ = try context.rows(of: Sales.self).where { $0.year == 1979 }.all()
                    _ = try context.rows(of: Sales.self).where { $0.years == 1979 }.all()  // refused
                    _ = try context.rows(of: Sales.self).where { $0.year == "1979" }.all()  // refused
                    _ = try context.rows(of: Film.self).all()  // refused
                }
                """)
    }
}
