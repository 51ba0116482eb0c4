import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import StrataMacrosParts

/// What `@View` writes, and what it refuses.
@Suite struct ViewExpansionTests {
    private static let macros: [String: MacroSpec] = [
        "View": MacroSpec(type: ViewMacro.self, conformances: ["ViewRow"]),
        "Key": MacroSpec(type: ViewColumnMacro.self), "Count": MacroSpec(type: ViewColumnMacro.self),
        "Sum": MacroSpec(type: ViewColumnMacro.self), "Top": MacroSpec(type: ViewColumnMacro.self),
        "Last": MacroSpec(type: ViewColumnMacro.self), "Projected": MacroSpec(type: ViewColumnMacro.self),
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
                    @Top(3, by: \\Film.rating) var best: [ObjectID]
                    @Projected(Middle.self) var middle: Middle
                }
                """,
            """
            public struct Sales {
                static let source = ViewSource(Film.self)
                var year: Int?
                var stars: Double
                var films: Int
                var latest: ObjectID?
                var best: [ObjectID]
                var middle: Middle

                public nonisolated static let view: ViewDescription = {
                    var _view = source
                        .grouped(by: .year, of: \\Film.shown, in: .gmt, as: "year")
                        .grouped(byBucketsOf: 10, of: \\Film.rating, as: "stars")
                        .counting(as: "films")
                        .last(by: \\Film.shown, as: "latest")
                        .top(3, by: \\Film.rating, as: "best")
                        .projecting(Middle.self, as: "middle")
                        .description
                    _view.name = "Sales"
                    _view.version = 2
                    return _view
                }()
            }

            extension Sales: ViewRow {
                public nonisolated init(_columns: ViewColumns) throws {
                    year = try _columns.value("year")
                    stars = try _columns.value("stars")
                    films = try _columns.value("films")
                    latest = try _columns.value("latest")
                    best = try _columns.value("best")
                    middle = try _columns.value("middle")
                }
                public nonisolated static func _columnName(_ path: PartialKeyPath<Sales>) -> String? {
                    switch path {
                    case \\Sales.year:
                        "year"
                    case \\Sales.stars:
                        "stars"
                    case \\Sales.films:
                        "films"
                    case \\Sales.latest:
                        "latest"
                    case \\Sales.best:
                        "best"
                    case \\Sales.middle:
                        "middle"
                    default:
                        nil
                    }
                }
            }
            """, macros: Self.macros)
    }

    private func expectRefusal(
        of source: String, _ expected: String, _ faults: [(message: String, line: Int, column: Int)]
    ) {
        expectExpansion(
            of: source, expected,
            diagnostics: faults.map { DiagnosticSpec(message: $0.message, line: $0.line, column: $0.column) },
            macros: Self.macros)
    }

    private static let source = "static let source = ViewSource(Film.self)"
    private static let noColumn =
        "A variable of a view has a type, no initial value, and one of @Key, @Count, @CountDistinct, @Sum, @Average, "
        + "@Min, @Max, @First, @Last, @Top, @Projected."

    @Test func aClassAndAGenericStructAreRefused() {
        expectRefusal(of: "@View class Sales {\n}", "class Sales {\n}", [("@View applies to a struct.", 1, 1)])
        expectRefusal(
            of: "@View struct Sales<T> {\n    \(Self.source)\n    @Count var films: Int\n}",
            "struct Sales<T> {\n    \(Self.source)\n    var films: Int\n}",
            [("A view has one source and one name, so its struct cannot be generic.", 1, 14)])
    }

    @Test func aViewWithoutASourceOrColumnsIsRefused() {
        expectRefusal(
            of: "@View struct Sales {\n    @Count var films: Int\n}", "struct Sales {\n    var films: Int\n}",
            [("A view needs its objects: 'static let source = ViewSource(Film.self)'.", 1, 14)])
        expectRefusal(
            of: "@View struct Sales {\n    \(Self.source)\n}", "struct Sales {\n    \(Self.source)\n}",
            [("A view needs a column, such as '@Count var films: Int'.", 1, 14)])
    }

    @Test func aVariableThatIsNoColumnIsRefused() {
        for variable in ["var films: Int", "@Count @Sum(\\Film.x) var films: Int", "@Count var films: Int = 0"] {
            let bare = variable.replacing("@Count ", with: "").replacing("@Sum(\\Film.x) ", with: "")
            expectRefusal(
                of: "@View struct Sales {\n    \(Self.source)\n    \(variable)\n}",
                "struct Sales {\n    \(Self.source)\n    \(bare)\n}", [(Self.noColumn, 3, 5)])
        }
    }

    @Test func computedAndStaticVariablesAreNoColumns() {
        expectExpansion(
            of: "@View struct Sales {\n    \(Self.source)\n    @Count let films: Int\n    "
                + "var more: Int { films + 1 }\n}",
            """
            struct Sales {
                \(Self.source)
                let films: Int
                var more: Int { films + 1 }

                nonisolated static let view: ViewDescription = {
                    var _view = source
                        .counting(as: "films")
                        .description
                    _view.name = "Sales"
                    _view.version = 1
                    return _view
                }()
            }

            extension Sales: ViewRow {
                nonisolated init(_columns: ViewColumns) throws {
                    films = try _columns.value("films")
                }
                nonisolated static func _columnName(_ path: PartialKeyPath<Sales>) -> String? {
                    switch path {
                    case \\Sales.films:
                        "films"
                    default:
                        nil
                    }
                }
            }
            """, macros: Self.macros)
    }

    @Test func aColumnOutsideAViewIsRefused() {
        expectRefusal(
            of: "struct Sales {\n    @Count var films: Int\n}", "struct Sales {\n    var films: Int\n}",
            [("A column is a variable of a struct with @View.", 2, 5)])
        expectRefusal(
            of: "struct Sales {\n    @Count func films() {}\n}", "struct Sales {\n    func films() {}\n}",
            [("A column is a variable of a struct with @View.", 2, 5)])
    }
}
