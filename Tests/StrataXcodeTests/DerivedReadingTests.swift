import Foundation
import StrataModel
import StrataXcode
import Testing

/// Derived attributes and indexes over expressions, as Xcode writes them.
struct DerivedReadingTests {
    private func read(_ text: String) throws -> XcodeModel {
        try XcodeModel(contents: Data(("<?xml version=\"1.0\"?>\n" + text).utf8), name: "M")
    }

    private func film(_ derivation: String) -> String {
        """
        <model documentVersion="1.0">
            <entity name="Film">
                <attribute name="title" optional="YES" attributeType="String"/>
                <attribute name="made" optional="YES" attributeType="String" \(derivation)/>
                <relationship name="actors" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Film"/>
            </entity>
        </model>
        """
    }

    @Test(arguments: ["canonical:(title)", "uppercase:(title)", "lowercase:(title)", "title", "actors.@count"])
    func aDerivationIsPartOfTheModel(_ expression: String) throws {
        let type = expression.hasPrefix("actors") ? "Integer 64" : "String"
        let text = film("derived=\"YES\" derivationExpression=\"\(expression)\"")
            .replacing(
                "name=\"made\" optional=\"YES\" attributeType=\"String\"",
                with: "name=\"made\" optional=\"YES\" attributeType=\"\(type)\"")
        let file = try read(text)
        #expect(file.diagnostics.isEmpty)
        let model = try file.managedObjectModel()
        let made = try #require(model.entitiesByName["Film"]?.properties[1].attribute)
        #expect(made.derivationExpression?.description == expression)
        #expect(
            String(decoding: try model.xcodeContents(), as: UTF8.self).contains(
                "derivationExpression=\"\(expression)\""))
        #expect(try XcodeModel(contents: model.xcodeContents(), name: "M").managedObjectModel() == model)
    }

    /// A derivation that Core Data cannot compute either makes the model invalid.
    @Test(arguments: [
        (
            "average:(actors.title)",
            "Film.made cannot be derived from average:(actors.title): a derivation is a key path"
        ),
        ("actors.title", "it leads to many values; @count or @sum makes one of them."),
        ("titel", "Film has no property named titel (did you mean title?)."), ("actors", "it leads to many values"),
        ("now()", "it is a date, the attribute is a string."), ("made", "Film.made is derived itself."),
        ("actors.title.@sum", "@sum needs an attribute that is a number."),
    ])
    func whatCannotBeDerivedIsAProblem(_ expression: String, _ sentence: String) throws {
        let file = try read(film("derived=\"YES\" derivationExpression=\"\(expression)\""))
        let error = #expect(throws: StrataError.self) { try file.managedObjectModel() }
        let message = try #require(error?.details.first?.message)
        #expect(message.contains(sentence), "\(message)")
        #expect(error?.details.first?.context.key == "made")
    }

    @Test func anExpressionThatCannotBeReadIsShownWithACaret() throws {
        let file = try read(film("derived=\"YES\" derivationExpression=\"canonical:(title\""))
        #expect(
            file.diagnostics.map(\.description) == [
                """
                line 5, column 9: Film.made: derivationExpression: the derivation cannot be read: Column 17: expected a comma \
                or a closing parenthesis, found the end.
                canonical:(title
                                ^
                """
            ])
        #expect(throws: StrataError.self) { try file.managedObjectModel() }
    }

    @Test func onlyWhatIsMarkedAsDerivedIs() throws {
        let notes = try read(film("derivationExpression=\"title\"")).diagnostics.map(\.sentence)
        #expect(notes == ["derivationExpression: the attribute is not marked as derived, so it is not"])
        let empty = try read(film("derived=\"YES\"")).diagnostics.map(\.sentence)
        #expect(empty == ["derived: the attribute does not say what it is derived from"])
    }

    // MARK: Indexes

    private func index(_ element: String) -> String {
        """
        <?xml version="1.0"?>
        <model documentVersion="1.0">
            <entity name="Film">
                <attribute name="title" optional="YES" attributeType="String"/>
                <fetchIndex name="byTitle">
                    <fetchIndexElement \(element) type="Binary" order="descending"/>
                </fetchIndex>
            </entity>
        </model>

        """
    }

    @Test(
        arguments: [
            ("lowercase:(title)", StringFolding.caseInsensitive), ("uppercase:(title)", .caseInsensitive),
            ("canonical:(title)", [.caseInsensitive, .diacriticInsensitive]), ("title", []),
        ] as [(String, StringFolding)])
    func anIndexOverFoldedTextIsAFoldedIndex(_ expression: String, _ folding: StringFolding) throws {
        let text = index("expression=\"\(expression)\" expressionType=\"String\"")
        let file = try XcodeModel(contents: Data(text.utf8), name: "M")
        #expect(file.diagnostics.count == (folding.isEmpty ? 0 : 1))
        let model = try file.managedObjectModel()
        let made = try #require(model.entitiesByName["Film"]?.indexes.first)
        #expect(made.elements == [FetchIndexElement("title", isAscending: false, folding: folding)])
        let written = String(decoding: try model.xcodeContents(), as: UTF8.self)
        #expect(written.contains("<fetchIndexElement expression=\"\(expression)\" expressionType=\"String\""))
        #expect(!written.contains("strata."))
        #expect(try XcodeModel(contents: model.xcodeContents(), name: "M").managedObjectModel() == model)
    }

    @Test(arguments: [
        ("length:(title)", ""), ("parts.@count", "; a derived attribute with that expression can be indexed"),
    ])
    func anIndexOverAnotherExpressionIsNotMadeAndSaysSo(_ expression: String, _ advice: String) throws {
        let file = try XcodeModel(contents: Data(index("expression=\"\(expression)\"").utf8), name: "M")
        #expect(
            file.diagnostics.map(\.sentence) == [
                "the index byTitle is omitted: \(expression) cannot be indexed" + advice
            ])
        let model = try file.managedObjectModel()
        #expect(model.entitiesByName["Film"]?.indexes.isEmpty == true)
        #expect(String(decoding: try model.xcodeContents(), as: UTF8.self).contains(expression))
    }
}
