import Foundation
import Testing

/// Encrypted attributes and full texts of models from Xcode, with the tool alone.
@Suite struct KeyFileTests {
    private let folder = FileManager.default.temporaryDirectory.appending(
        component: "keys-\(UUID().uuidString)", directoryHint: .isDirectory)

    private func path(_ name: String) -> String { folder.appending(path: name).path(percentEncoded: false) }

    /// A model in Xcode's format.
    private func model(_ name: String, marks: String) throws -> String {
        let directory = folder.appending(path: "\(name).xcdatamodel", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Patient" representedClassName="Patient" syncable="YES">
                    <attribute name="name" attributeType="String"/>
                    <attribute name="diagnosis" optional="YES" attributeType="String">\(marks)</attribute>
                    <userInfo><entry key="strata.fullText" value="name"/></userInfo>
                </entity>
            </model>
            """
        try Data(text.utf8).write(to: directory.appending(path: "contents"))
        return directory.path(percentEncoded: false)
    }

    /// A store with a patient whose diagnosis is encrypted.
    private func makeStore() throws -> (store: String, key: String) {
        let marks = "<userInfo><entry key=\"strata.encrypted\" value=\"YES\"/></userInfo>"
        let model = try model("Clinic", marks: marks)
        let key = path("clinic.key")
        try Data((0..<32).map { _ in .random(in: 0...255) }).write(to: URL(filePath: key))
        let store = path("Clinic.strata")
        #expect(try Tool.run("create", store, "--model", model).exitCode == 0)
        let inserted = try Tool.run(
            "insert", store, "Patient", "name=Ann Lee", "diagnosis=influenza", "--key-file", key)
        #expect(inserted.exitCode == 0, "\(inserted)")
        return (store, key)
    }

    @Test func aKeyFileShowsWhatIsEncrypted() throws {
        let (store, key) = try makeStore()
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(try Tool.run("query", store, "Patient").output.contains("(encrypted)"))
        #expect(try Tool.run("query", store, "Patient", "--key-file", key).output.contains("influenza"))
        let found = try Tool.run(
            "query", store, "Patient", "--where", "diagnosis == 'influenza'", "--key-file", key)
        #expect(found.output.contains("Ann Lee"), "\(found)")
        #expect(try Data(contentsOf: URL(filePath: store + "/data.mdb")).range(of: Data("influenza".utf8)) == nil)
        #expect(try Tool.run("verify", store).exitCode == 0)
        #expect(try Tool.run("doctor", store).exitCode == 0)
    }

    @Test func anExportWithoutTheKeyIsRefused() throws {
        let (store, key) = try makeStore()
        defer { try? FileManager.default.removeItem(at: folder) }
        for form in ["csv", "json", "ndjson", "plist"] {
            let refused = try Tool.run("export", store, "Patient", "--form", form)
            #expect(refused.exitCode != 0 && refused.error.contains("--key-file"), "\(form): \(refused)")
            let written = try Tool.run("export", store, "Patient", "--form", form, "--key-file", key)
            #expect(written.exitCode == 0 && written.output.contains("influenza"), "\(form): \(written)")
            #expect(try Tool.run("export", store, "Patient", "--form", form, "--columns", "name").exitCode == 0)
        }
        #expect(try Tool.run("export", store, "--form", "cloudevents").output.contains("(encrypted)"))
    }

    @Test func aMigrationDecryptsWithTheKey() throws {
        let (store, key) = try makeStore()
        defer { try? FileManager.default.removeItem(at: folder) }
        let plain = try model("Plain", marks: "")
        #expect(try Tool.run("migrate", store, "--model", plain).exitCode == 1)
        let migrated = try Tool.run("migrate", store, "--model", plain, "--key-file", key)
        #expect(migrated.exitCode == 0, "\(migrated)")
        #expect(try Tool.run("query", store, "Patient").output.contains("influenza"))
        #expect(try Tool.run("verify", store).exitCode == 0)
    }

    @Test func aModelFromXcodeDeclaresFullText() throws {
        let (store, key) = try makeStore()
        defer { try? FileManager.default.removeItem(at: folder) }
        let found = try Tool.run("query", store, "Patient", "--match", "le*", "--key-file", key)
        #expect(found.exitCode == 0 && found.output.contains("Ann Lee"), "\(found)")
        let exported = path("Exported.xcdatamodel")
        #expect(try Tool.run("model", "export", store, exported).exitCode == 0)
        let text = try String(contentsOfFile: exported + "/contents", encoding: .utf8)
        #expect(text.contains("strata.fullText") && !text.contains("strata.description"), "\(text)")
    }
}
