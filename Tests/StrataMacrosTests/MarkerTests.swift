import SwiftSyntaxMacrosGenericTestSupport
import Testing

/// `@Attribute`, `@Relationship` and `@Transient` themselves.
@Suite struct MarkerTests {
    @Test(arguments: ["Attribute", "Relationship", "Transient"])
    func aMarkerOutsideAnEntityIsRefused(name: String) {
        expectExpansion(
            of: "class Movie {\n    @\(name) var title: String\n}", "class Movie {\n    var title: String\n}",
            diagnostics: [
                DiagnosticSpec(
                    message: "@\(name) applies to a variable of an @Entity class.", line: 2, column: 5)
            ])
    }

    @Test func aMarkerOnAFunctionIsRefused() {
        expectExpansion(
            of: "@Entity class Movie: ManagedObject {\n    @Attribute func title() {}\n}",
            "@Entity class Movie: ManagedObject {\n    func title() {}\n}",
            diagnostics: [
                DiagnosticSpec(
                    message: "@Attribute applies to a variable of an @Entity class.", line: 2, column: 5)
            ],
            macros: entityMacros.filter { $0.key == "Attribute" })
    }
}
