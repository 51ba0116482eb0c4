import Foundation
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataXcode

/// Core Data's mapping models, read for their renames and constants.
@Suite struct MappingModelTests {
    private typealias Value = OldArchive.Value

    /// `$source.<path>`.
    private static func source(_ path: String, _ archive: inout OldArchive) -> Value {
        let variable = archive.object(
            "NSVariableExpression", [("NSVariable", archive.add(.text("source"))), ("NSExpressionType", .integer(2))])
        let specifier = archive.object(
            "NSKeyPathSpecifierExpression",
            [("NSKeyPath", archive.add(.text(path))), ("NSExpressionType", .integer(10))])
        return archive.object(
            "NSKeyPathExpression",
            [
                ("NSOperand", variable), ("NSSelectorName", archive.add(.text("valueForKeyPath:"))),
                ("NSExpressionType", .integer(4)), ("NSArguments", archive.array([specifier])),
            ])
    }

    private static func constant(_ value: Value, _ archive: inout OldArchive) -> Value {
        archive.object("NSConstantValueExpression", [("NSConstantValue", archive.add(value))])
    }

    private static func call(_ selector: String, _ arguments: [Value], _ archive: inout OldArchive) -> Value {
        let manager = archive.object("NSVariableExpression", [("NSVariable", archive.add(.text("manager")))])
        return archive.object(
            "NSFunctionExpression",
            [
                ("NSOperand", manager), ("NSSelectorName", archive.add(.text(selector))),
                ("NSArguments", archive.array(arguments)),
            ])
    }

    private static func archived(_ make: (inout OldArchive) -> Value) -> String {
        var archive = OldArchive()
        let root = make(&archive)
        return Data(archive.bytes(root: root)).base64EncodedString()
    }

    /// A mapping of one entity with expressions for its properties.
    private func mapping(
        _ source: String, _ destination: String, _ properties: [(String, String?)], more: String = ""
    ) throws -> XcodeMappingModel {
        let objects = properties.enumerated().map { index, property in
            """
                <object type="XDDEVATTRIBUTEMAPPING" id="p\(index)">
                    <attribute name="name" type="string">\(property.0)</attribute>
                    \(property.1.map { "<attribute name=\"valueexpressiondata\" type=\"binary\">\($0)</attribute>" } ?? "")
                </object>
            """
        }
        let text = """
            <?xml version="1.0" standalone="yes"?>
            <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
            <database>
                <object type="XDDEVMAPPINGMODEL" id="m">
                    <relationship name="entitymappings" type="0/0" idrefs="e"></relationship>
                </object>
                <object type="XDDEVENTITYMAPPING" id="e">
                    <attribute name="sourcename" type="string">\(source)</attribute>
                    <attribute name="destinationname" type="string">\(destination)</attribute>
                    \(more)
                    <relationship name="attributemappings" type="0/0" idrefs="\(objects.indices.map { "p\($0)" }.joined(separator: " "))"></relationship>
                </object>
                <object type="XDDEVENTITYMAPPING" id="left over"></object>
            \(objects.joined(separator: "\n"))
            </database>
            """
        return try XcodeMappingModel(contents: Data(text.utf8), name: "M")
    }

    private func attribute(_ name: String, _ type: AttributeType = .string) -> PropertyDescription {
        .attribute(AttributeDescription(name: name, type: type, isOptional: true))
    }

    @Test func renamesAndConstantsAreRead() throws {
        let file = try mapping(
            "Film", "Movie",
            [
                ("title", Self.archived { Self.source("name", &$0) }), ("year", nil),
                ("sort", Self.archived { Self.source("name", &$0) }),
                ("state", Self.archived { Self.constant(.text("new"), &$0) }),
                ("count", Self.archived { Self.constant(.integer(7), &$0) }),
                (
                    "maker",
                    Self.archived { archive in
                        Self.call(
                            "destinationInstancesForEntityMappingNamed:sourceInstances:",
                            [Self.constant(.text("PersonToPerson"), &archive), Self.source("director", &archive)],
                            &archive)
                    }
                ),
                ("city", Self.archived { Self.source("director.city", &$0) }),
                ("length", Self.archived { archive in Self.call("lengthOf:", [Self.source("a", &archive)], &archive) }),
                ("broken", "AAAA"), ("nowhere", nil),
            ], more: #"<attribute name="sourcefilterpredicatestring" type="string">year &gt; 1900</attribute>"#)
        let person = EntityDescription(name: "Person", properties: [attribute("city")])
        func one(_ name: String) -> PropertyDescription {
            .relationship(RelationshipDescription(name: name, destinationEntityName: "Person", hasNoInverse: true))
        }
        let old = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Film", properties: [attribute("name"), attribute("year", .integer32), one("director")]),
            person,
        ])
        let new = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Movie",
                properties: [
                    attribute("title"), attribute("year", .integer32), attribute("sort"), attribute("state"),
                    attribute("count", .integer16), one("maker"), attribute("city"), attribute("length", .integer16),
                    attribute("broken"),
                ]),
            person,
        ])
        let migration = try file.migration(from: old, to: new)
        let movie = try #require(migration.model.entitiesByName["Movie"])
        #expect(movie.renamingIdentifier == "Film")
        let former = Dictionary(uniqueKeysWithValues: movie.properties.map { ($0.name, $0.renamingIdentifier) })
        #expect(former["title"] == "name" && former["maker"] == "director" && former["year"] == .some(nil))
        let object = MigratedObject(
            objectID: ObjectID(rawValue: 1), entityName: "Film", values: ["name": .string("Mirror")])
        let values = try Dictionary(
            uniqueKeysWithValues: migration.rules.map { ("\($0.entityName).\($0.propertyName)", try $0.make(object)) })
        #expect(
            values == ["Movie.sort": .string("Mirror"), "Movie.state": .string("new"), "Movie.count": .integer(7)])
        #expect(
            migration.notes == [
                "Movie is made only of the Film where year > 1900.",
                "Movie.city is computed by $source.director.city: give a rule for it.",
                "Movie.length is computed by the function lengthOf:: give a rule for it.",
                "Movie.broken is computed by an expression that cannot be read: it is not a binary property list: "
                    + "give a rule for it.",
                "Movie.nowhere is not in the new model.",
            ], "\(migration.notes)")
    }

    @Test func whatIsNoMappingModelIsRefused() throws {
        for text in [
            "<database></database>", "no XML", "<database><object type=\"XDDEVMAPPINGMODEL\" id=\"a\"/></database>",
        ] {
            #expect(throws: StrataError.self, "\(text)") {
                try XcodeMappingModel(contents: Data(text.utf8), name: "M")
            }
        }
        let url = URL(filePath: "/nowhere/M.xcmappingmodel")
        #expect(throws: StrataError.self) { try XcodeMappingModel(contentsOf: url) }
    }
}
