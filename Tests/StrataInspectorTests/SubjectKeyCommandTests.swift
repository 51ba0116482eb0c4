import Foundation
import Testing

@testable import StrataInspector

/// What commands do with attributes that are encrypted under keys of subjects.
@Suite struct SubjectKeyCommandTests {
    private let folder = FileManager.default.temporaryDirectory.appending(
        component: "subjects-\(UUID().uuidString)", directoryHint: .isDirectory)
    private let store: String
    private let keys: [String]

    static let model = """
        <?xml version="1.0" encoding="UTF-8"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            <entity name="Patient" representedClassName="Patient" syncable="YES">
                <attribute name="name" attributeType="String"/>
                <attribute name="diagnosis" optional="YES" attributeType="String">
                    <userInfo><entry key="strata.encrypted" value="SUBJECT"/></userInfo>
                </attribute>
                <attribute name="scan" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES">
                    <userInfo><entry key="strata.encrypted" value="SUBJECT"/></userInfo>
                </attribute>
                <relationship name="visits" optional="YES" toMany="YES" deletionRule="Nullify" \
                    destinationEntity="Visit" inverseName="patient" inverseEntity="Patient"/>
            </entity>
            <entity name="Visit" representedClassName="Visit" syncable="YES">
                <attribute name="notes" optional="YES" attributeType="String">
                    <userInfo><entry key="strata.encrypted" value="SUBJECT:patient"/></userInfo>
                </attribute>
                <relationship name="patient" optional="YES" maxCount="1" deletionRule="Nullify" \
                    destinationEntity="Patient" inverseName="visits" inverseEntity="Patient"/>
            </entity>
        </model>
        """

    init() throws {
        store = folder.appending(path: "Clinic.strata").path
        let model = try EncryptedStore.write("Clinic", Self.model, in: folder)
        let directory = folder.appending(path: "keys", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        keys = [
            "--key-file", try EncryptedStore.makeKey("clinic.key", in: folder), "--subject-keys", directory.path,
        ]
        try run(["create", store, "--model", model])
        try run(["insert", store, "Patient", "name=Ann", "diagnosis=influenza"] + keys)
        try run(["insert", store, "Visit", "notes=coughs", "patient=Patient/p1"] + keys)
    }

    /// What destroys the key of the patient.
    var destroying: [String] { [store, "Patient/p1"] + keys }

    @discardableResult
    private func run(_ words: [String]) throws -> String {
        let result = try Tool.run(words)
        #expect(result.exitCode == 0, "\(words): \(result)")
        return result.output
    }

    @Test func aKeyIsDestroyedByItself() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let wrong = try Tool.run(["keys", "destroy", store, "Nobody"] + keys)
        #expect(wrong.exitCode != 0 && wrong.error.contains("There is no key of Nobody; nothing was destroyed."))
        #expect(try run(["keys", "destroy", store, "Patient/p1"] + keys).contains("destroyed 1 key of subjects"))
        let shown = try run(["show", store, "Patient/p1"] + keys)
        #expect(shown.contains("Ann") && !shown.contains("influenza"))
        try run(["verify", store])
    }

    @Test func valuesAreShownWithBothKeysAndGoneAfterAnErasure() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(try run(["show", store, "Patient/p1"] + keys).contains("influenza"))
        #expect(try run(["show", store, "Visit/p2"] + keys).contains("coughs"))
        #expect(try run(["show", store, "Visit/p2"] + keys.prefix(2)).contains("(encrypted)"))
        #expect(try run(["inspect", store]).contains("Visit.notes (encrypted under the key of patient)"))
        #expect(try run(["model", "show", store]).contains("encrypted under the key of the object"))
        #expect(try run(["keys", "list", store] + keys).contains("1 subject with a key, 0 destroyed"))
        let backup = folder.appending(path: "backup").path
        try run(["backup", store, backup])
        let refused = try Tool.run(["erase", store, "Patient/p1"] + keys.prefix(2))
        #expect(
            refused.exitCode != 0 && refused.error.contains("open the store with its key and the keys of subjects"))
        #expect(
            try run(["erase", store, "Patient/p1", "--dry-run"] + keys).contains("would destroy 1 key of subjects"))
        #expect(try run(["erase", store, "Patient/p1"] + keys).contains("destroyed 1 key of subjects"))
        #expect(try run(["keys", "list", store] + keys).contains("0 subjects with a key, 1 destroyed"))
        let shown = try run(["show", backup, "Patient/p1"] + keys)
        #expect(shown.contains("Ann") && !shown.contains("influenza"))
        #expect(try run(["show", backup, "Visit/p2", "--history"] + keys).contains("coughs") == false)
        try run(["verify", backup])
    }

    @Test(arguments: [300, 300_000]) func largeValuesAreExportedWithTheirKeysAndNilAfterThese(size: Int) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let scan = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let file = folder.appending(path: "scan")
        try scan.write(to: file)
        try run(["update", store, "Patient/p1", "scan=@\(file.path)"] + keys)
        let exported = try run(["export", store, "Patient", "--form", "ndjson", "--columns", "name,scan"] + keys)
        let row = try JSONSerialization.jsonObject(with: Data(exported.utf8)) as? [String: String]
        #expect(row == ["name": "Ann", "scan": scan.base64EncodedString()])
        #expect(try run(["export", store, "Patient", "--form", "csv", "--columns", "scan"] + keys).contains("scan\n"))
        let refused = try Tool.run(["export", store, "Patient", "--form", "ndjson"])
        #expect(refused.exitCode != 0 && refused.error.contains("encrypted"), "\(refused)")
        let far = try Tool.run(["export", store, "Visit", "--form", "ndjson", "--columns", "patient.scan"] + keys)
        #expect(far.exitCode == 2 && far.error.contains("patient.scan is encrypted"), "\(far)")
        let sqlite = folder.appending(path: "a.sqlite").path
        try run(["export", store, sqlite, "--form", "coredata"] + keys)
        #expect(try Data(contentsOf: URL(filePath: sqlite)).range(of: Data("influenza".utf8)) != nil)
        try run(["keys", "destroy", store, "Patient/p1"] + keys)
        let gone = try run(["export", store, "Patient", "--form", "ndjson", "--columns", "name,scan"] + keys)
        #expect(gone == "{\"name\":\"Ann\",\"scan\":null}\n")
        let other = folder.appending(path: "b.sqlite").path
        try run(["export", store, other, "--form", "coredata"] + keys)
        #expect(try Data(contentsOf: URL(filePath: other)).range(of: Data("influenza".utf8)) == nil)
    }
}
