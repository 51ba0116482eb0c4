import Foundation
import StrataModel
import StrataXcode
import Testing

struct ReadingTests {
    private static let declaration = #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"# + "\n"

    private func read(_ text: String) throws -> XcodeModel {
        try XcodeModel(contents: Data((Self.declaration + text).utf8), name: "M")
    }

    @Test func everythingThatXcodeCanSayIsRead() throws {
        let model = try read(HandMade.everything).managedObjectModel()
        let film = try #require(model.entitiesByName["Film"])
        #expect(film.managedObjectClassName == "Movie")
        #expect(film.renamingIdentifier == "Picture" && film.versionHashModifier == "2")
        #expect(film.userInfo == ["a": "1\n2", "b": ""])
        #expect(film.uniquenessConstraints == [["code", "year"]])
        #expect(film.indexes.map(\.name) == ["byPlace"])
        #expect(film.indexes.first?.elements.map(\.isAscending) == [true, false])
        #expect(film.indexes.first?.partialIndexPredicate?.description == "year > 1900")
        func attribute(_ name: String) throws -> AttributeDescription {
            try #require(film.properties.first { $0.name == name }?.attribute)
        }
        #expect(try attribute("size").elements.map(\.name) == ["width", "height"])
        #expect(try attribute("size").attributeValueClassName == "Size")
        let born = try attribute("born")
        #expect(born.defaultValue == .date(Date(timeIntervalSinceReferenceDate: 3600)))
        #expect(
            born.validationRules == [
                .range(
                    minimum: .date(Date(timeIntervalSinceReferenceDate: 0)),
                    maximum: .date(Date(timeIntervalSinceReferenceDate: 86400)))
            ])
        let code = try attribute("code")
        #expect(code.validationRules == [.length(minimum: 2, maximum: 4), .pattern("[A-Z\"<]+")])
        #expect(code.defaultValue == .string("AB\"<") && code.preservesValueInHistoryOnDeletion)
        #expect(try attribute("secret").allowsExternalBinaryDataStorage)
        let year = try attribute("year")
        #expect(year.renamingIdentifier == "made" && year.defaultValue == .integer(2000))
        #expect(try attribute("cache").type == .undefined)
        let actors = try #require(film.properties.first { $0.name == "actors" }?.relationship)
        #expect(actors.minCount == 2 && actors.maxCount == 9 && actors.isOrdered && actors.deleteRule == .cascade)
        let films = try #require(model.entitiesByName["Person"]?.properties.first?.relationship)
        #expect(films.minCount == 0 && !films.isOptional && films.deleteRule == .deny)
        let since = try #require(model.fetchRequestTemplates["since"])
        #expect(since.fetchLimit == 5 && since.fetchBatchSize == 20 && since.includesPropertyValues)
        #expect(since.includesPendingChanges && !since.includesSubentities && !since.returnsObjectsAsFaults)
        #expect(model.fetchedProperties.map(\.name) == ["namesakes"])
        #expect(model.entities(forConfiguration: "Cloud")?.map(\.name) == ["Film", "Star"])
        #expect(model.entities(forConfiguration: "Default")?.count == 3)
        #expect(model.entities(forConfiguration: "Other") == nil)
        #expect(model.versionIdentifier == "v7")
    }

    @Test func settingsWithoutEffectAreNamedWithTheirLocation() throws {
        let notes = try read(HandMade.everything).diagnostics
        let found = notes.map {
            "\($0.kind) \($0.owner ?? "-") \($0.element) \($0.attribute ?? "-") \($0.location.line)"
        }
        #expect(
            Set(found) == [
                "notSupported - model usedWithCloudKit 2",
                "notSupported Film.secret attribute allowsCloudEncryption 8",
                "notSupported Film fetchIndexElement type 17",
                "notSupported Film fetchIndexElement expression 21",
                "unknown Star.rank attribute novelty 38", "unknown Star surprise - 39",
                "notSupported - fetchRequest resultType 45", "notSupported - fetchRequest returnsDistinctResults 45",
                "notSupported - configuration usedWithCloudKit 46",
            ])
        #expect(found.count == 9)
    }

    @Test func nothingOfAFileIsLostWhenItIsWrittenAgain() throws {
        let model = try read(HandMade.everything).managedObjectModel()
        let written = String(decoding: try model.xcodeContents(), as: UTF8.self)
        #expect(written == Self.declaration + HandMade.everything)
    }

    /// In XML a name can begin with a colon; Strata's notes must not look like such a name.
    @Test func attributesOfAnyNameComeBack() throws {
        let text = """
            <model>
                <entity name="A" :order="b" :form="x">
                    <attribute name="a" attributeType="String" :order="name" :unread="1" _="2" :="3"/>
                </entity>
            </model>
            """
        let model = try read(text).managedObjectModel()
        let written = try model.xcodeContents()
        #expect(String(decoding: written, as: UTF8.self).contains(#":unread="1""#))
        #expect(try XcodeModel(contents: written, name: "M").managedObjectModel() == model)
    }

    @Test func valuesThatMakeNoSenseAreNamedAndKept() throws {
        let text = """
            <model>
                <entity name="A">
                    <attribute name="a" optional="maybe" attributeType="Integer 16" defaultValueString="many"/>
                    <attribute name="b" attributeType="Complex" transient="YES"/>
                    <relationship name="c" optional="YES" maxCount="1" deletionRule="Explode" destinationEntity="A"/>
                </entity>
                <fetchRequest name="r" entity="A" predicateString="a =="/>
            </model>
            """
        let file = try read(text)
        #expect(file.diagnostics.allSatisfy { $0.kind == .unreadable })
        #expect(
            file.diagnostics.map(\.attribute) == [
                "optional", "defaultValueString", "attributeType", "deletionRule", "predicateString",
            ])
        let model = try file.managedObjectModel()
        #expect(model.fetchRequestTemplates.isEmpty)
        let written = String(decoding: try model.xcodeContents(), as: UTF8.self)
        for part in ["optional=\"maybe\"", "many", "Complex", "Explode", "predicateString=\"a ==\""] {
            #expect(written.contains(part), "\(part)")
        }
    }

    @Test func anInverseNamedOnOneSideIsKnownOnBoth() throws {
        let text = """
            <model>
                <entity name="A">
                    <relationship name="b" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="B" inverseName="a" inverseEntity="B"/>
                </entity>
                <entity name="B">
                    <relationship name="a" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="A"/>
                    <relationship name="lone" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="A"/>
                </entity>
            </model>
            """
        let model = try read(text).managedObjectModel()
        let relationships = model.entitiesByName["B"]?.properties.compactMap(\.relationship) ?? []
        #expect(relationships.map(\.inverseName) == ["b", nil])
        #expect(relationships.map(\.hasNoInverse) == [false, true])
    }

    @Test func attributesMarkedAsIndexedHaveAnIndex() throws {
        let text = """
            <model>
                <entity name="A">
                    <attribute name="a" optional="YES" attributeType="String" indexed="YES"/>
                    <attribute name="b" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES" indexed="YES"/>
                    <compoundIndexes>
                        <compoundIndex>
                            <index value="a"/>
                            <index value="c"/>
                        </compoundIndex>
                    </compoundIndexes>
                </entity>
            </model>
            """.replacing(
                "<compoundIndexes>",
                with: "<attribute name=\"c\" optional=\"YES\" attributeType=\"Date\"/>\n        <compoundIndexes>")
        let model = try read(text).managedObjectModel()
        #expect(model.entities.first?.indexes.map { $0.elements.map(\.propertyPath) } == [["a"], ["a", "c"]])
        #expect(
            try read(String(decoding: model.xcodeContents(), as: UTF8.self).components(separatedBy: "?>\n")[1])
                .managedObjectModel() == model)
    }
}
