import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import StrataMacrosParts

/// What `@View` writes, and what it refuses.
@Suite struct ViewExpansionTests {
    private static let macros: [String: MacroSpec] = [
        "View": MacroSpec(type: ViewMacro.self, conformances: ["ViewRow"]),
        "Key": MacroSpec(type: ViewColumnMacro.self), "Count": MacroSpec(type: ViewColumnMacro.self),
        "Sum": MacroSpec(type: ViewColumnMacro.self), "Last": MacroSpec(type: ViewColumnMacro.self),
    ]

    @Test func aStructGetsItsViewAndItsColumns() {
        expectExpansion(
            of: """
                @View(version: 2) public struct Sales {
                    static let source = ViewSource(Film.self)
                    @Key(.year, of: \\Film.shown, in: .gmt) var year: Int?
                    @Key(bucketsOf: 10, of: \\Film.rating) var stars: Double
                    @Count var films: Int
                    @Last(by: \\Film.shown) var latest: ObjectID?
                }
                """,
            """
            public struct Sales {
                static let source = ViewSource(Film.self)
                var year: Int?
                var stars: Double
                var films: Int
                var latest: ObjectID?
            }

            extension Sales: ViewRow {
                public static var view: ViewDescription {
                    var _view = source
                        .grouped(by: .year, of: \\Film.shown, in: .gmt, as: "year")
                        .grouped(byBucketsOf: 10, of: \\Film.rating, as: "stars")
                        .counting(as: "films")
                        .last(by: \\Film.shown, as: "latest")
                        .description
                    _view.name = "Sales"
                    _view.version = 2
                    return _view
                }
                public init(_columns: ViewColumns) throws {
                    year = try _columns.value("year")
                    stars = try _columns.value("stars")
                    films = try _columns.value("films")
                    latest = try _columns.value("latest")
                }
                public static func _columnName(_ path: PartialKeyPath<Sales>) -> String? {
                    switch path {
                    case \\Sales.year:
                        "year"
                    case \\Sales.stars:
                        "stars"
                    case \\Sales.films:
                        "films"
                    case \\Sales.latest:
                        "latest"
                    default:
                        nil
                    }
                }
            }
            """, macros: Self.macros)
    }

    @Test func aClassAndAViewWithoutASourceAreRefused() {
        expectExpansion(
            of: "@View class Sales {\n}", "class Sales {\n}",
            diagnostics: [DiagnosticSpec(message: "@View applies to a struct.", line: 1, column: 1)],
            macros: Self.macros)
        expectExpansion(
            of: "@View struct Sales {\n    @Count var films: Int\n    var other: Int\n}",
            "struct Sales {\n    var films: Int\n    var other: Int\n}",
            diagnostics: [
                DiagnosticSpec(
                    message:
                        "A variable of a view has its type and @Key, @Count, @CountDistinct, @Sum, @Average, @Min, "
                        + "@Max, @First or @Last.", line: 3, column: 5),
                DiagnosticSpec(
                    message: "A view needs its objects: 'static let source = ViewSource(Film.self)'.", line: 1,
                    column: 14),
            ], macros: Self.macros)
    }

    @Test func aColumnOutsideAViewIsRefused() {
        expectExpansion(
            of: "struct Sales {\n    @Count var films: Int\n}", "struct Sales {\n    var films: Int\n}",
            diagnostics: [
                DiagnosticSpec(
                    message: "A column is a variable with a type annotation in a struct with @View.", line: 2, column: 5
                )
            ], macros: Self.macros)
    }
}
