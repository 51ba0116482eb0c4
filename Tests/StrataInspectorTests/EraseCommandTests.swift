import Foundation
import StrataModel
import Testing

/// `strata erase`, and what other commands say afterwards.
@Suite struct EraseCommandTests {
    private let store: FilmStore

    init() throws { store = try FilmStore() }

    private func holds(_ text: String, in path: String) throws -> Bool {
        try Data(contentsOf: URL(filePath: path + "/data.mdb")).range(of: Data(text.utf8)) != nil
    }

    /// The title and the reference of the first film.
    private func film() throws -> (title: String, reference: String) {
        let text = try Tool.run("query", store.path, "Film", "--limit", "1", "--json").output
        let rows = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
        let title = try #require(rows.first?["title"] as? String)
        let listed = try Tool.run("log", store.path, "--json").output.split(separator: "\n")
        let line = try #require(listed.first { $0.contains("\"inserted\"") && $0.contains(title) })
        let event = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        return (title, try #require(event["object"] as? String))
    }

    @Test func anErasedObjectIsGoneFromTheStoreAndFromItsPast() throws {
        let film = try film()
        #expect(try holds(film.title, in: store.path))
        #expect(
            try Tool.run(
                "update", store.path, film.reference, "title=\(film.title)!", "--reason", "\(film.title) is wrong"
            ).exitCode == 0)
        let backup = store.path + ".backup"
        defer { try? FileManager.default.removeItem(atPath: backup) }
        #expect(try Tool.run("backup", store.path, backup).exitCode == 0)
        let plan = try Tool.run("erase", store.path, film.reference, "--dry-run")
        #expect(plan.exitCode == 0 && plan.output.contains("would erase 1 object in "), "\(plan)")
        #expect(try holds(film.title, in: store.path))
        let unknown = try Tool.run("erase", store.path, "Film/p99999")
        #expect(unknown.exitCode == 1 && unknown.error.contains("There is no Film/p99999"), "\(unknown)")
        let erased = try Tool.run("erase", store.path, film.reference, "--author", "desk", "--reason", "asked for it")
        #expect(erased.exitCode == 0 && erased.output.hasPrefix("\(film.reference)\nerased 1 object"), "\(erased)")
        #expect(try !holds(film.title, in: store.path))
        let verified = try Tool.run("verify", store.path)
        #expect(verified.exitCode == 0 && verified.output.contains("by desk: 1 object, "), "\(verified)")
        #expect(verified.output.contains(": asked for it\n"))
        #expect(try Tool.run("doctor", store.path).exitCode == 0)
        let log = try Tool.run("log", store.path, "--json").output
        #expect(log.contains("\"erased\":true") && !log.contains(film.title))
        let told = try Tool.run("log", store.path).output
        #expect(told.contains("values were erased") && told.contains("because: asked for it"), "\(told)")
        #expect(told.contains("erased \(film.reference)\n"), "\(told)")
        #expect(try Tool.run("verify", store.path, "--json").output.contains("asked for it"))
        // A restored backup has forgotten it as well.
        let list = store.path + ".erasures"
        let restored = store.path + ".restored"
        defer { for path in [list, restored] { try? FileManager.default.removeItem(atPath: path) } }
        #expect(try Tool.run("erase", store.path, "--list", list).output == "1 erasure written to \(list)\n")
        #expect(try Tool.run("restore", backup, restored, "--erasures", list).exitCode == 0)
        #expect(try holds(film.title, in: backup) && !holds(film.title, in: restored))
        #expect(try Tool.run("verify", restored).output.contains(": asked for it\n"))
        #expect(try Tool.run("erase", restored).exitCode == 0)
    }

    @Test func whatCannotBeErasedIsRefused() throws {
        let film = try film()
        let unknown = try Tool.run("erase", store.path, film.reference, "--values-only", "titel")
        #expect(unknown.exitCode == 2 && unknown.error.contains("did you mean title?"), "\(unknown)")
        #expect(try Tool.run("erase", store.path, "Film").exitCode == 2)
        #expect(try Tool.run("erase", store.path, "--dry-run").exitCode == 2)
        #expect(try holds(film.title, in: store.path))
    }

    private static func model(_ entities: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            <entity name="Person" representedClassName="Person" syncable="YES">
                <attribute name="name" attributeType="String"/>
            </entity>
            \(entities)
        </model>
        """
    }

    @Test(arguments: [true, false]) func objectsOfARemovedEntityCanBeErased(isTruncated: Bool) throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            component: "former-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "Shop.strata").path
        let order =
            "<entity name=\"Order\"><attribute name=\"customer\" optional=\"YES\" attributeType=\"String\"/></entity>"
        let first = try EncryptedStore.write("First", Self.model(order), in: folder)
        let second = try EncryptedStore.write("Second", Self.model(""), in: folder)
        func run(_ words: String...) throws {
            let result = try Tool.run(words)
            #expect(result.exitCode == 0, "\(words): \(result)")
        }
        try run("create", path, "--model", first)
        for _ in 0..<2 { try run("insert", path, "Order", "customer=SecretName") }
        try run("insert", path, "Person", "name=Ann")
        try run("delete", path, "Order/p2")
        try run("migrate", path, "--model", second)
        if isTruncated { try run("history", "trim", path, "--before", "now", "--force") }
        #expect(try holds("SecretName", in: path))
        let plan = try Tool.run("erase", path, "Order/p1", "--values-only", "customer", "--dry-run")
        #expect(plan.exitCode == 0 && plan.output.contains("would erase 1 object in "), "\(plan)")
        let erased = try Tool.run("erase", path, "Order/p1", "Order/p2", "--reason", "asked for it")
        #expect(erased.exitCode == 0 && erased.output.contains("Order/p1\nOrder/p2\n"), "\(erased)")
        #expect(erased.output.contains(", 1 object deleted now"), "\(erased)")
        #expect(try !holds("SecretName", in: path))
        try run("verify", path)
        try run("doctor", path)
        let told = try Tool.run("show", path, "Order/p1")
        #expect(told.exitCode == 1 && told.error.contains("deleted"), "\(told)")
        try run("log", path)
        try run("migrate", path, "--model", first, "--allow-downgrade")
        let orders = try Tool.run("query", path, "Order", "--json")
        #expect(orders.output.trimmingCharacters(in: .whitespacesAndNewlines) == "[]", "\(orders)")
        try run("verify", path)
        let unknown = try Tool.run("erase", path, "Ordre/p1")
        #expect(unknown.exitCode == 2 && unknown.error.contains("no entity 'Ordre'"), "\(unknown)")
    }

    /// A list that goes to a pipe or a device leaves it what it is.
    @Test func aListMayGoToAPipe() throws {
        #expect(try Tool.run("erase", store.path, film().reference, "--reason", "asked for it").exitCode == 0)
        let pipe = store.path + ".pipe"
        defer { try? FileManager.default.removeItem(atPath: pipe) }
        let result = try Tool.shell(
            "mkfifo '\(pipe)'; timeout 20 grep -c 'asked for it' < '\(pipe)' & $strata erase '\(store.path)' --list '\(pipe)' > /dev/null; "
                + "wait; test -p '\(pipe)' && echo pipe; $strata erase '\(store.path)' --list /dev/stdout | grep -c 'asked for it'"
        )
        #expect(result.output == "1\npipe\n1\n", "\(result)")
    }
}
