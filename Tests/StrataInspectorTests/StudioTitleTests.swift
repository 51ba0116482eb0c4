import Foundation
import Testing

@testable import StrataInspector

/// By what Studio calls objects.
@Suite struct StudioTitleTests {
    private static let model = """
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            <entity name="Track"><attribute name="number" attributeType="Integer 64"/>
                <attribute name="name" optional="YES" attributeType="String"/>
                <uniquenessConstraints><uniquenessConstraint><constraint value="number"/></uniquenessConstraint></uniquenessConstraints>
            </entity>
            <entity name="Code"><attribute name="key" attributeType="String"/>
                <attribute name="name" optional="YES" attributeType="String"/>
                <uniquenessConstraints><uniquenessConstraint><constraint value="key"/></uniquenessConstraint></uniquenessConstraints>
            </entity>
            <entity name="Invoice"><attribute name="number" attributeType="Integer 64"/>
                <uniquenessConstraints><uniquenessConstraint><constraint value="number"/></uniquenessConstraint></uniquenessConstraints>
            </entity>
        </model>
        """

    /// A number says less to a person than a title; a text that is unique says more.
    @Test func aTitleTakesThePlaceOfAUniqueNumber() throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "title-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: "Music.strata").path
        let model = try EncryptedStore.write("Music", Self.model, in: folder)
        #expect(try Tool.run("create", path, "--model", model).exitCode == 0)
        let objects = [
            ["Track", "number=424", "name=Innuendo"], ["Code", "key=DE", "name=Germany"], ["Invoice", "number=7"],
        ]
        for words in objects { #expect(try Tool.run(["insert", path] + words).exitCode == 0) }
        let studio = try Studio(paths: [path])
        defer { studio.close() }
        let labels = try objects.map { words in
            let answer = studio.answer(StudioAddress(path: ["Music", "objects", words[0]], query: [:]))
            return try JSONNode(answer.body)["rows"][0]["label"].text
        }
        #expect(labels == ["Track/p1 (Innuendo)", "Code/p2 (DE)", "Invoice/p3 (7)"])
    }
}
