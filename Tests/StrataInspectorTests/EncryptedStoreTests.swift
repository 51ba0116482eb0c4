import Foundation
import StrataCoreDataFixtures
import Testing

@testable import StrataInspector

/// A store with a patient whose number and diagnosis are encrypted, and the key in a file.
struct EncryptedStore {
    let folder: URL
    let path: String
    let key: String

    static let model = """
        <?xml version="1.0" encoding="UTF-8"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            <entity name="Patient" representedClassName="Patient" syncable="YES">
                <attribute name="name" attributeType="String"/>
                <attribute name="number" optional="YES" attributeType="String">
                    <userInfo><entry key="strata.encrypted" value="YES"/></userInfo>
                </attribute>
                <attribute name="diagnosis" optional="YES" attributeType="String">
                    <userInfo><entry key="strata.encrypted" value="YES"/></userInfo>
                </attribute>
                <relationship name="ward" optional="YES" maxCount="1" deletionRule="Nullify" \
                    destinationEntity="Ward" inverseName="patients" inverseEntity="Ward"/>
                <uniquenessConstraints>
                    <uniquenessConstraint><constraint value="number"/></uniquenessConstraint>
                </uniquenessConstraints>
            </entity>
            <entity name="Ward" representedClassName="Ward" syncable="YES">
                <attribute name="name" attributeType="String"/>
                <relationship name="patients" optional="YES" toMany="YES" deletionRule="Nullify" \
                    destinationEntity="Patient" inverseName="ward" inverseEntity="Patient"/>
            </entity>
        </model>
        """

    /// - Parameter folder: which must not exist.
    init(in folder: URL) throws {
        self.folder = folder
        path = folder.appending(path: "Clinic.strata").path
        let model = try Self.write("Clinic", Self.model, in: folder)
        key = try Self.makeKey("clinic.key", in: folder)
        try run("create", path, "--model", model)
        try run("insert", path, "Ward", "name=North")
        try run(
            "insert", path, "Patient", "name=Ann", "number=17", "diagnosis=influenza", "ward=Ward/p1", "--key-file",
            key)
        try run(
            "update", path, "Patient/p2", "diagnosis=bronchitis", "--key-file", key, "--reason", "seen\u{1B} again")
    }

    /// - Returns: the path of the model.
    static func write(_ name: String, _ model: String, in folder: URL) throws -> String {
        let directory = folder.appending(path: "\(name).xcdatamodel", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try Data(model.utf8).write(to: directory.appending(path: "contents"))
        return directory.path
    }

    /// - Returns: the path of a file with a new key.
    static func makeKey(_ name: String, in folder: URL) throws -> String {
        let file = folder.appending(path: name)
        try Data((0..<32).map { _ in .random(in: 0...255) }).write(to: file)
        return file.path
    }

    @discardableResult
    func run(_ words: String...) throws -> String {
        let result = try Tool.run(words)
        #expect(result.exitCode == 0, "\(words): \(result)")
        return result.output
    }
}

/// What commands show of encrypted attributes, with the key and without.
@Suite struct EncryptedStoreTests {
    private let made: EncryptedStore
    private var folder: URL { made.folder }
    private var store: String { made.path }
    private var key: String { made.key }

    init() throws {
        made = try EncryptedStore(
            in: FileManager.default.temporaryDirectory.appending(component: "encrypted-\(UUID().uuidString)"))
    }

    private func remove() { try? FileManager.default.removeItem(at: folder) }

    @discardableResult
    private func run(_ words: String...) throws -> String {
        let result = try Tool.run(words)
        #expect(result.exitCode == 0, "\(words): \(result)")
        return result.output
    }

    @Test func historyIsShownWithTheKey() throws {
        defer { remove() }
        let commands = [
            ["log", store], ["log", store, "--json"], ["log", store, "--property", "diagnosis"], ["diff", store, "t3"],
            ["diff", store, "t3", "--json"], ["show", store, "Patient/p2", "--history"],
            ["show", store, "Patient/p2", "--history", "--json"], ["export", store, "--form", "cloudevents"],
        ]
        for command in commands {
            let hidden = try Tool.run(command), shown = try Tool.run(command + ["--key-file", key])
            #expect(hidden.output.contains("(encrypted)") && !hidden.output.contains("bronchitis"), "\(hidden)")
            #expect(shown.output.contains("bronchitis") && !shown.output.contains("(encrypted)"), "\(shown)")
            #expect(hidden.exitCode == 0 && shown.exitCode == 0, "\(command)")
        }
    }

    @Test func theLogTellsTheReasonOfASaveOnce() throws {
        defer { remove() }
        let told = try run("log", store)
        #expect(told.components(separatedBy: "because: seen").count == 2 && !told.contains("\u{1B}"), "\(told)")
        #expect(try run("log", store, "--json").contains("\"reason\":\"seen\\u001b again\""))
        #expect(try run("export", store, "--form", "cloudevents").contains("\"stratareason\":\"seen"))
    }

    @Test func columnsBehindRelationshipsAreDecrypted() throws {
        defer { remove() }
        for (entity, column) in [("Ward", "patients.diagnosis"), ("Patient", "ward.patients.diagnosis")] {
            let shown = try run("query", store, entity, "--columns", column, "--key-file", key)
            #expect(shown.contains("bronchitis"), "\(shown)")
            #expect(try run("query", store, entity, "--columns", column).contains("(encrypted)"))
        }
    }

    @Test func labelsNameObjectsByWhatCanBeRead() throws {
        defer { remove() }
        try run("link", store, "Ward/p1", "patients", "Patient/p2")
        let hidden = try run("show", store, "Ward/p1"), shown = try run("show", store, "Ward/p1", "--key-file", key)
        #expect(!hidden.contains("encrypted") && hidden.contains("Patient/p2"), "\(hidden)")
        #expect(shown.contains("Patient/p2 (17)"), "\(shown)")
    }

    @Test func theShellHandsItsKeyOn() throws {
        defer { remove() }
        let lines = folder.appending(path: "lines").path
        let text = "Patient diagnosis == 'bronchitis'\nPatient\nshow Patient/p2\nquery Patient --key-file '\(key)'\n"
        try Data(text.utf8).write(to: URL(filePath: lines))
        let shown = try Tool.shell("$strata shell '\(store)' --key-file '\(key)' < '\(lines)'")
        #expect(shown.output.components(separatedBy: "bronchitis").count == 5, "\(shown)")
    }

    @Test(.enabled(if: InstalledSQLite.isExpected, "SQLite is not installed."))
    func aFileOfCoreDataHasTheValuesOrIsRefused() throws {
        defer { remove() }
        let file = folder.appending(path: "Clinic.sqlite").path
        let refused = try Tool.run(["export", store, "--form", "coredata", file])
        #expect(refused.exitCode == 1 && refused.error.contains("which was not given"), "\(refused)")
        #expect(!FileManager.default.fileExists(atPath: file))
        try run("export", store, "--form", "coredata", file, "--key-file", key)
        #expect(try Data(contentsOf: URL(filePath: file)).range(of: Data("bronchitis".utf8)) != nil)
    }

    @Test func modelsAndStoresSayWhatIsEncrypted() throws {
        defer { remove() }
        #expect(try run("model", "show", store).contains("encrypted"))
        #expect(try run("model", "show", store, "--json").contains("\"encrypted\" : true"))
        let inspected = try run("inspect", store)
        #expect(inspected.contains("Patient.number, Patient.diagnosis"), "\(inspected)")
        let model = EncryptedStore.model.replacing("\"YES\"/></userInfo>", with: "\"NO\"/></userInfo>")
        let plain = try EncryptedStore.write("Plain", model, in: folder)
        let sentence = "Patient.diagnosis is no longer encrypted; the migration needs the key."
        #expect(try run("model", "diff", store, plain).contains(sentence))
        #expect(try Tool.run(["migrate", store, "--model", plain, "--plan"]).output.contains(sentence))
        #expect(try run("model", "diff", plain, store).contains("Patient.number is now encrypted"))
    }

    @Test func keysAreListedAndRotated() throws {
        defer { remove() }
        let new = try EncryptedStore.makeKey("new.key", in: folder)
        let before = try run("keys", "list", store, "--key-file", key, "--key-file", new)
        #expect(before.contains("2 values") && before.contains("nothing in this store is under it"), "\(before)")
        let missing = try Tool.run(["keys", "rotate", store, "--new-key-file", new])
        #expect(missing.exitCode == 2 && missing.error.contains("--key-file"), "\(missing)")
        let wrong = try EncryptedStore.makeKey("wrong.key", in: folder)
        let refused = try Tool.run(["keys", "rotate", store, "--key-file", wrong, "--new-key-file", new])
        #expect(refused.exitCode == 1 && refused.error.contains("is encrypted under the key"), "\(refused)")
        #expect(
            try run("keys", "rotate", store, "--key-file", key, "--new-key-file", new).contains("encrypted 2 values"))
        #expect(
            try run("keys", "rotate", store, "--key-file", key, "--new-key-file", new, "--json").contains(
                "\"values\" : 0"))
        #expect(try run("show", store, "Patient/p2", "--key-file", new).contains("bronchitis"))
        #expect(try Tool.run(["show", store, "Patient/p2", "--key-file", key]).error.contains("Open it with that key"))
        let after = try run("keys", "list", store, "--json")
        #expect(after.contains("\"needed\" : true") && after.contains("\"file\" : null"), "\(after)")
        let log = try run("log", store, "--key-file", new, "--key-file", key)
        #expect(log.contains("influenza") && !log.contains("(encrypted)"), "\(log)")
        #expect(try !run("diff", store, "t5", "--key-file", new, "--key-file", key).contains("Patient"))
        #expect(try Tool.run(["verify", store]).exitCode == 0)
    }
}
