import Foundation
import StrataModel
import StrataXcode
import Testing

/// Features that Xcode can write and that no app in the corpus has, name by name: each has its effect or is reported,
/// and is written unchanged.
struct RareNameTests {
    private static let declaration = #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"# + "\n"

    private func read(_ text: String) throws -> XcodeModel {
        try XcodeModel(contents: Data((Self.declaration + text).utf8), name: "M")
    }

    /// A model of one entity with an attribute and a relationship, with additional parts.
    private static func text(
        attribute: String = "", relationship: String = "", entity: String = "", inEntity: String = "",
        inModel: String = ""
    ) -> String {
        """
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" userDefinedModelVersionIdentifier="">
            <entity name="A"\(entity)>
                <attribute name="a" optional="YES" attributeType="String"\(attribute)/>
                <attribute name="d" optional="YES" attributeType="Date"/>
                <relationship name="r" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="A"\(relationship)/>\
        \(inEntity.isEmpty ? "" : "\n        " + inEntity)
            </entity>\(inModel.isEmpty ? "" : "\n    " + inModel)
        </model>

        """
    }

    private func expectWrittenAgain(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let written = String(decoding: try read(text).managedObjectModel().xcodeContents(), as: UTF8.self)
        let trimmed = (Self.declaration + text).trimmingCharacters(in: .newlines)
        #expect(written.trimmingCharacters(in: .newlines) == trimmed, sourceLocation: sourceLocation)
    }

    // MARK: Defaults

    @Test(arguments: [
        ("Integer 16", "NO", AttributeValue.integer(0)), ("Integer 32", "YES", .integer(1)),
        ("Integer 64", "false", .integer(0)), ("Double", "YES", .double(1)), ("Decimal", "NO", .decimal(0)),
    ])
    func aDefaultYesOrNoOfANumberIsReadAsOneOrZero(type: String, text: String, value: AttributeValue) throws {
        let field = #"<attribute name="n" optional="YES" attributeType="\#(type)" defaultValueString="\#(text)"/>"#
        let file = try read(
            Self.text().replacing(#"<attribute name="d" optional="YES" attributeType="Date"/>"#, with: field))
        let note = try #require(file.diagnostics.first)
        #expect(file.diagnostics.count == 1 && note.owner == "A.n" && note.sentence.contains("'\(text)' is not"))
        let attribute = file.entities[0].properties.first { $0.name == "n" }?.attribute
        #expect(attribute?.defaultValue == value)
        try expectWrittenAgain(
            Self.text().replacing(#"<attribute name="d" optional="YES" attributeType="Date"/>"#, with: field))
    }

    // MARK: Fetch requests

    private typealias Options = (subentities: Bool, values: Bool, pending: Bool, faults: Bool)

    @Test(arguments: [
        ("includeSubentities", 0), ("includesSubentities", 0), ("includePropertyValues", 1),
        ("includesPropertyValues", 1),
        ("includePendingChanges", 2), ("includesPendingChanges", 2), ("returnObjectsAsFaults", 3),
        ("returnsObjectsAsFaults", 3),
    ])
    func bothSpellingsOfAnOptionSetIt(name: String, index: Int) throws {
        let text = Self.text(inModel: #"<fetchRequest name="q" entity="A" predicateString="a == $X" \#(name)="YES"/>"#)
        let file = try read(text)
        #expect(file.diagnostics.isEmpty, "\(file.diagnostics)")
        let template = try #require(try file.managedObjectModel().fetchRequestTemplates["q"])
        let options = [
            template.includesSubentities, template.includesPropertyValues, template.includesPendingChanges,
            template.returnsObjectsAsFaults,
        ]
        // If a file has some of the options, the others are off.
        #expect(options == (0..<4).map { $0 == index })
        try expectWrittenAgain(text)
    }

    @Test func optionsThatAreOnlySwitchedOffLeaveTheOthersOn() throws {
        let text = Self.text(inModel: #"<fetchRequest name="q" entity="A" includesSubentities="NO"/>"#)
        let model = try read(text).managedObjectModel()
        var template = try #require(model.fetchRequestTemplates["q"])
        #expect(!template.includesSubentities && template.includesPropertyValues)
        #expect(template.includesPendingChanges && template.returnsObjectsAsFaults)
        // If all are off, that is written, because a request without options has all of them on.
        template.includesPropertyValues = false
        template.includesPendingChanges = false
        template.returnsObjectsAsFaults = false
        let off = try ManagedObjectModel(entities: model.entities).adding(fetchRequestTemplates: [template])
        let again = try XcodeModel(contents: off.xcodeContents(), name: "M").managedObjectModel()
        template = try #require(again.fetchRequestTemplates["q"])
        #expect(!template.includesSubentities && !template.includesPropertyValues)
        #expect(!template.includesPendingChanges && !template.returnsObjectsAsFaults)
    }

    @Test(arguments: ["0x10", "1_0", "nan", "inf", "12abc", ""])
    func aDecimalIsWrittenWholeOrIsNone(text: String) throws {
        let file = try read(
            Self.text(
                inEntity: #"<attribute name="n" optional="YES" attributeType="Decimal" defaultValueString="\#(text)"/>"#
            ))
        #expect(file.diagnostics.map(\.attribute) == (text.isEmpty ? [] : ["defaultValueString"]))
        let entity = try file.managedObjectModel().entities[0]
        let values = entity.properties.compactMap { property -> AttributeValue? in
            if case .attribute(let attribute) = property, attribute.name == "n" { attribute.defaultValue } else { nil }
        }
        #expect(values.isEmpty)
    }

    @Test func limitsOfARequestAreItsLimits() throws {
        let text = Self.text(inModel: #"<fetchRequest name="q" entity="A" fetchLimit="5" fetchBatchSize="20"/>"#)
        let template = try #require(try read(text).managedObjectModel().fetchRequestTemplates["q"])
        #expect(template.fetchLimit == 5 && template.fetchBatchSize == 20)
        try expectWrittenAgain(text)
        let odd = try read(text.replacing("\"5\"", with: "\"few\""))
        #expect(odd.diagnostics.map(\.attribute) == ["fetchLimit"] && odd.diagnostics.first?.kind == .unreadable)
    }

    @Test(arguments: [
        ("resultType", "1"), ("resultType", "2"), ("returnDistinctResults", "YES"), ("returnsDistinctResults", "YES"),
    ])
    func whatATemplateDoesNotDoIsReported(name: String, value: String) throws {
        let text = Self.text(inModel: #"<fetchRequest name="q" entity="A" \#(name)="\#(value)"/>"#)
        let file = try read(text)
        #expect(
            file.diagnostics.map { "\($0.kind) \($0.element) \($0.attribute ?? "-")" } == [
                "notSupported fetchRequest \(name)"
            ])
        try expectWrittenAgain(text)
    }

    @Test func fetchedPropertiesHaveRequestsWithAllOfTheirOptions() throws {
        let text = Self.text(
            inEntity: """
                <fetchedProperty name="f" optional="YES">
                            <fetchRequest name="fetchedPropertyFetchRequest" entity="A" predicateString="a == $FETCH_SOURCE.a" \
                fetchLimit="3" includesSubentities="YES"/>
                        </fetchedProperty>
                """)
        let file = try read(text)
        #expect(file.diagnostics.isEmpty, "\(file.diagnostics)")
        let property = try #require(try file.managedObjectModel().fetchedProperties.first)
        #expect(property.name == "f" && property.entityName == "A" && property.isOptional)
        #expect(property.request.fetchLimit == 3 && property.request.includesSubentities)
        #expect(!property.request.returnsObjectsAsFaults)
        #expect(property.request.predicate?.description == "a == $FETCH_SOURCE.a")
        try expectWrittenAgain(text)
    }

    // MARK: Attributes

    @Test func rulesOfAttributesHold() throws {
        let text = Self.text(attribute: #" regularExpressionString="[a-z]+""#)
            .replacing(
                #"attributeType="Date""#,
                with: #"attributeType="Date" minDateTimeInterval="0" maxDateTimeInterval="86400""#)
        let file = try read(text)
        #expect(file.diagnostics.isEmpty, "\(file.diagnostics)")
        let properties = try #require(try file.managedObjectModel().entitiesByName["A"]?.properties)
        #expect(properties[0].attribute?.validationRules == [.pattern("[a-z]+")])
        #expect(
            properties[1].attribute?.validationRules == [
                .range(
                    minimum: .date(Date(timeIntervalSinceReferenceDate: 0)),
                    maximum: .date(Date(timeIntervalSinceReferenceDate: 86400)))
            ])
        try expectWrittenAgain(text)
    }

    @Test(arguments: ["preserveAfterDeletion", "preservesValueInHistoryOnDeletion"])
    func valuesThatOutliveTheirObjectAreMarkedInBothSpellings(name: String) throws {
        let text = Self.text(attribute: " \(name)=\"YES\"")
        let file = try read(text)
        #expect(file.diagnostics.isEmpty)
        let attribute = try file.managedObjectModel().entitiesByName["A"]?.properties.first?.attribute
        #expect(attribute?.preservesValueInHistoryOnDeletion == true)
        try expectWrittenAgain(text)
    }

    @Test(arguments: [
        (" allowsCloudEncryption=\"YES\"", "allowsCloudEncryption"),
        (" spotlightIndexingEnabled=\"YES\"", "spotlightIndexingEnabled"),
        (" storedInTruthFile=\"YES\"", "storedInTruthFile"), (" minDateTimeInterval=\"1\"", "minDateTimeInterval"),
        (" defaultDateTimeInterval=\"1\"", "defaultDateTimeInterval"), (" novelty=\"1\"", "novelty"),
        (" derivationExpression=\"b\"", "derivationExpression"), (" derived=\"YES\"", "derived"),
    ])
    func whatAnAttributeDoesNotDoIsReported(extra: String, name: String) throws {
        let text = Self.text(attribute: extra)
        #expect(try read(text).diagnostics.map { "\($0.owner ?? "-") \($0.attribute ?? "-")" } == ["A.a \(name)"])
    }

    @Test func boundsOfAnotherTypeAreReported() throws {
        let text = Self.text().replacing(
            #"attributeType="Date""#,
            with: #"attributeType="Date" minValueString="1" maxValueString="2" regularExpressionString="x""#)
        #expect(
            try read(text).diagnostics.map(\.attribute) == [
                "minValueString", "maxValueString", "regularExpressionString",
            ])
        let flag = Self.text().replacing(#"attributeType="Date""#, with: #"attributeType="Boolean" maxValueString="2""#)
        #expect(try read(flag).diagnostics.map(\.attribute) == ["maxValueString"])
    }

    @Test func compositesMayHoldComposites() throws {
        let text = Self.text(
            inModel: """
                <composite name="Outer">
                        <attribute name="inner" optional="YES" attributeType="Composite" composite="Inner"/>
                    </composite>
                    <composite name="Inner">
                        <attribute name="x" optional="YES" attributeType="Double"/>
                    </composite>
                """
        ).replacing(#"attributeType="Date""#, with: #"attributeType="Composite" composite="Outer""#)
        let file = try read(text)
        #expect(file.diagnostics.isEmpty, "\(file.diagnostics)")
        let attribute = try file.managedObjectModel().entitiesByName["A"]?.properties[1].attribute
        #expect(attribute?.elements.first?.elements.map(\.name) == ["x"])
        let other = try read(
            Self.text(
                inModel: #"<composite name="C"><compositeAttribute name="x" attributeType="Double"/></composite>"#
            )
            .replacing(#"attributeType="Date""#, with: #"attributeType="Composite" composite="C""#))
        #expect(other.diagnostics.map { "\($0.kind) \($0.element)" } == ["unknown compositeAttribute"])
    }

    @Test(arguments: ["elementID", "renamingIdentifier"])
    func theNameOfBeforeIsReadInBothSpellings(name: String) throws {
        let extra = " \(name)=\"old\""
        let text = Self.text(
            attribute: extra, relationship: " \(name)=\"older\"", entity: name == "elementID" ? extra : "")
        let file = try read(text)
        #expect(file.diagnostics.isEmpty, "\(file.diagnostics)")
        let entity = try #require(try file.managedObjectModel().entitiesByName["A"])
        #expect(entity.properties.map(\.renamingIdentifier) == ["old", nil, "older"])
        #expect(entity.renamingIdentifier == (name == "elementID" ? "old" : nil))
    }

    // MARK: Indexes and configurations

    @Test func partialIndexesAreMade() throws {
        let text = Self.text(
            inEntity: """
                <fetchIndex name="i" partialIndexPredicate="a BEGINSWITH &quot;x&quot;">
                            <fetchIndexElement property="a" type="Binary" order="ascending"/>
                        </fetchIndex>
                """)
        let file = try read(text)
        #expect(file.diagnostics.isEmpty, "\(file.diagnostics)")
        let index = try #require(try file.managedObjectModel().entitiesByName["A"]?.indexes.first)
        #expect(index.partialIndexPredicate?.description == #"a BEGINSWITH "x""#)
        try expectWrittenAgain(text)
    }

    @Test(arguments: [
        (#"property="a" type="RTree""#, "type", 1), (#"expression="length:(a)" type="Binary""#, "expression", 0),
        (#"expression="lowercase:(a)" expressionType="String" type="Binary""#, "expression", 1),
    ])
    func indexesOfOtherKindsAreReported(part: String, name: String, count: Int) throws {
        let text = Self.text(
            inEntity: """
                <fetchIndex name="i">
                            <fetchIndexElement \(part) order="ascending"/>
                        </fetchIndex>
                """)
        let file = try read(text)
        #expect(
            file.diagnostics.map { "\($0.kind) \($0.element) \($0.attribute ?? "-")" } == [
                "notSupported fetchIndexElement \(name)"
            ])
        #expect(try file.managedObjectModel().entitiesByName["A"]?.indexes.count == count)
        try expectWrittenAgain(text)
    }

    @Test func configurationsNameTheirEntities() throws {
        let text = Self.text(
            inModel: """
                <configuration name="Cloud" usedWithCloudKit="YES">
                        <memberEntity name="A"/>
                    </configuration>
                """)
        let file = try read(text)
        #expect(file.diagnostics.map { "\($0.kind) \($0.attribute ?? "-")" } == ["notSupported usedWithCloudKit"])
        #expect(try file.managedObjectModel().entities(forConfiguration: "Cloud")?.map(\.name) == ["A"])
        try expectWrittenAgain(text)
        let unknown = try read(text.replacing(#"memberEntity name="A""#, with: #"memberEntity name="Z""#))
        #expect(throws: StrataError.self) { try unknown.managedObjectModel() }
    }
}
