import Foundation
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataXcode

/// Models as Xcode kept them before version 4, in a binary file `elements`.
@Suite struct ElementsTests {
    private static let null = OldArchive.Value.reference(0)

    private static func property(
        _ archive: inout OldArchive, _ type: String, _ name: String, _ values: [(String, OldArchive.Value)]
    ) -> OldArchive.Value {
        let stereotype = archive.stereotype(values)
        let stereotypes = archive.dictionary([("XD_PPropStereotype", stereotype)])
        return archive.object(
            type, [("_name", archive.add(.text(name))), ("XDBucketForStereotypesstorage", stereotypes)])
    }

    /// Film with an ordered cast of stars, and Short, which is a Film.
    private static func films(_ change: (inout OldArchive) -> OldArchive.Value? = { _ in nil }) -> [UInt8] {
        var archive = OldArchive()
        let film = archive.object("XDPMEntity", []), star = archive.object("XDPMEntity", [])
        let short = archive.object("XDPMEntity", [])
        let cast = archive.object("XDPMRelationship", []), films = archive.object("XDPMRelationship", [])
        let title = property(
            &archive, "XDPMAttribute", "title",
            [
                ("XD_PAttK_attributeType", archive.add(.integer(700))), ("XD_PPSK_isOptional", .boolean(false)),
                ("XD_PAttK_maxValueString", archive.add(.text("25"))),
                ("XD_PAttK_defaultValueAsString", archive.add(.text("Ohne Titel – Öl"))),
            ])
        let copies = property(
            &archive, "XDPMAttribute", "copies",
            [
                ("XD_PAttK_attributeType", archive.add(.integer(200))), ("XD_PPSK_isOptional", .boolean(true)),
                ("XD_PAttK_defaultValueAsString", archive.add(.text("NO"))), ("XD_PPSK_isIndexed", .boolean(true)),
                ("XD_PAttK_minValueString", null),
            ])
        func ends(_ relationship: OldArchive.Value, _ name: String, _ values: [(String, OldArchive.Value)]) {
            let stereotype = archive.stereotype(values)
            let name = archive.add(.text(name))
            let stereotypes = archive.dictionary([("XD_PR_Stereotype", stereotype)])
            archive.set(relationship, [("_name", name), ("XDBucketForStereotypesstorage", stereotypes)])
        }
        ends(
            cast, "cast",
            [
                ("XD_PRK_destination", star), ("XD_PRK_inverseRelationship", films),
                ("XD_PRK_isToMany", .boolean(true)),
                ("XD_PRK_deleteRule", archive.add(.integer(2))), ("XD_PRK_ordered", .boolean(true)),
                ("XD_PRK_maxCount", archive.add(.integer(0))), ("XD_PPSK_isOptional", .boolean(true)),
            ])
        ends(
            films, "film",
            [
                ("XD_PRK_destination", film), ("XD_PRK_inverseRelationship", cast),
                ("XD_PRK_deleteRule", archive.add(.integer(1))), ("XD_PRK_maxCount", archive.add(.integer(1))),
                ("XD_PPSK_isOptional", .boolean(true)),
            ])
        func entity(
            _ entity: OldArchive.Value, _ name: String, _ properties: [(String, OldArchive.Value)],
            _ values: [(String, OldArchive.Value)] = [], parent: OldArchive.Value? = nil
        ) {
            let generalizations = parent.map { archive.object("XDUMLGeneralizationImp", [("_general", $0)]) }
            let stereotype = archive.stereotype(values)
            let fields: [(String, OldArchive.Value)] = [
                ("_name", archive.add(.text(name))),
                ("XDBucketForOwnedAttributesstorage", archive.dictionary(properties)),
                ("XDBucketForStereotypesstorage", archive.dictionary([("XD_PStereotype", stereotype)])),
                ("XDBucketForGeneralizationsstorage", archive.array(generalizations.map { [$0] } ?? [])),
            ]
            archive.set(entity, fields)
        }
        let extra = change(&archive).map { [("extra", $0)] } ?? []
        let info = archive.dictionary([
            ("note", archive.add(.text("x"))), ("list", archive.array([])),
            ("com.apple.syncservices.Syncable", archive.add(.text("NO"))),
        ])
        entity(
            film, "Film", [("title", title), ("cast", cast), ("copies", copies)] + extra,
            [
                ("XD_PSK_entityClassName", archive.add(.text("FilmObject"))), ("XD_PSK_isAbstract", .boolean(true)),
                ("XD_PSK_userInfo", info), ("XD_PSK_fetchRequestsArray", archive.array([])),
            ])
        entity(star, "Star", [("film", films)])
        entity(short, "Short", [], parent: film)
        let package = archive.object(
            "XDModelPackage",
            [
                (
                    "XDBucketForClassesstorage",
                    archive.dictionary([("Star", star), ("Short", short), ("Film", film)])
                )
            ])
        let configurations = archive.dictionary([("Cloud", archive.array([film]))])
        let root = archive.object(
            "XDPMModel", [("_xd_rootPackage", package), ("_configurationsByName", configurations)])
        return archive.bytes(root: root)
    }

    @Test func aModelIsReadWithEverythingThatItSays() throws {
        let file = try XcodeModel(contents: Data(Self.films()), name: "Films")
        let model = try file.managedObjectModel()
        #expect(model.entities.map(\.name) == ["Film", "Short", "Star"])
        let film = try #require(model.entitiesByName["Film"])
        #expect(film.managedObjectClassName == "FilmObject" && film.isAbstract && film.userInfo == ["note": "x"])
        #expect(model.entitiesByName["Short"]?.superentityName == "Film")
        let title = try #require(film.properties.first { $0.name == "title" }?.attribute)
        #expect(title.type == .string && !title.isOptional && title.defaultValue == .string("Ohne Titel – Öl"))
        #expect(title.validationRules == [.length(minimum: nil, maximum: 25)])
        let copies = try #require(film.properties.first { $0.name == "copies" }?.attribute)
        #expect(copies.type == .integer32 && copies.isOptional && copies.defaultValue == .integer(0))
        #expect(film.indexes.map(\.name) == ["copies"])
        let cast = try #require(film.properties.first { $0.name == "cast" }?.relationship)
        #expect(cast.isToMany && cast.isOrdered && cast.deleteRule == .cascade && cast.inverseName == "film")
        #expect(cast.destinationEntityName == "Star" && cast.maxCount == 0)
        let back = try #require(model.entitiesByName["Star"]?.properties.first?.relationship)
        #expect(!back.isToMany && back.inverseName == "cast" && back.deleteRule == .nullify)
        #expect(model.entities(forConfiguration: "Cloud")?.map(\.name) == ["Film"])
        let notes = Set(file.diagnostics.map(\.sentence))
        #expect(
            notes == [
                "user info with values that are not text is left out",
                "defaultValueString: 'NO' is not a 32-bit integer and is read as 0",
            ])
    }

    @Test func itIsWrittenAsXcodeDoesToday() throws {
        let model = try XcodeModel(contents: Data(Self.films()), name: "Films").managedObjectModel()
        let again = try XcodeModel(contents: try model.xcodeContents(), name: "Films").managedObjectModel()
        #expect(again.entities == model.entities && again.configurations == model.configurations)
    }

    @Test func aPropertyOfAnotherClassIsLeftOutWithANote() throws {
        let bytes = Self.films { archive in archive.object("XDPMFetchedProperty", []) }
        let file = try XcodeModel(contents: Data(bytes), name: "Films")
        let note = try #require(file.diagnostics.first { $0.sentence.contains("XDPMFetchedProperty") })
        #expect(note.owner == "Film.extra")
        #expect(try file.managedObjectModel().entities.count == 3)
    }

    @Test func aBundleIsReadThroughItsElements() throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "old-\(UUID().uuidString)")
        let version = folder.appending(components: "Films.xcdatamodeld", "Films.xcdatamodel")
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let elements = version.appending(component: "elements")
        try Data(Self.films()).write(to: elements)
        let bundle = try XcodeModelBundle(contentsOf: version.deletingLastPathComponent())
        #expect(try bundle.model().entities.map(\.name) == ["Film", "Short", "Star"])
        try Data(Self.films().dropLast()).write(to: elements)
        let error = #expect(throws: StrataError.self) { try bundle.model() }
        #expect(error?.code == .invalidModelFile && error?.context.path == elements.path)
        let message = try #require(error?.message)
        #expect(message.hasPrefix("The model Films is a binary file from before Xcode 4 and cannot be read: "))
        #expect(message.contains("Open it in Xcode and save it"))
    }

    /// Every prefix, and every byte with another value, is read or refused.
    @Test func aDamagedFileIsReadOrRefused() {
        let whole = Self.films()
        for count in stride(from: 0, to: whole.count, by: 7) { read(Array(whole.prefix(count))) }
        for offset in whole.indices {
            for flip in [0x01, 0x80, 0xFF] as [UInt8] where flip == 0xFF || offset % 3 == 0 {
                var bytes = whole
                bytes[offset] ^= flip
                read(bytes)
            }
        }
    }

    private func read(_ bytes: [UInt8]) {
        do throws(StrataError) {
            _ = try XcodeModel(contents: Data(bytes), name: "M").managedObjectModel()
        } catch {
            #expect([.invalidModelFile, .invalidModel].contains(error.code), "\(error)")
        }
    }
}
