import Foundation
import StrataInspector
import StrataPostgres
import StrataTestSupport
import Testing

/// The tool and Studio on a log in PostgreSQL, by its address. `make test-shared` starts the server.
@Suite(.enabled(if: StoryServer.address != nil, "make test-shared starts the PostgreSQL that this test needs."))
struct SharedToolTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "shared-tool-\(UUID().uuidString)")

    private func strata(_ arguments: [String]) throws -> BuiltProgram.Result {
        try BuiltProgram("strata").run(arguments)
    }

    private func path(_ name: String) -> String { folder.appending(path: name).path(percentEncoded: false) }

    /// A log with what the story MustC saves, and the store that has saved it.
    private func told() throws -> (log: String, run: ExampleRun) {
        _ = try StoryServer.tables.get()
        let log = "\(try #require(StoryServer.address))#tool-\(UUID().uuidString)"
        let run = ExampleRun("MustC")
        _ = try run.tell(["--log", log])
        return (log, run)
    }

    @Test func commandsSayTheSameOfALogAndOfAStoreWithIt() throws {
        let (log, run) = try told()
        for words in [
            ["log"], ["log", "--json"], ["count", "Movie"], ["query", "Movie", "--json"],
            ["query", "Movie", "--at", "t3", "--json"], ["timeline"],
        ] {
            func result(_ place: String) throws -> BuiltProgram.Result {
                try strata([words[0], place] + words.dropFirst())
            }
            let (own, shared) = (try result(run.path), try result(log))
            #expect(own.exitCode == 0 && own.output == shared.output && !own.output.isEmpty, "\(words): \(shared)")
        }
        #expect(try strata(["verify", log]).exitCode == 0)
        #expect(try strata(["inspect", log]).output.contains("Movie"))
    }

    @Test func aLogIsReplayedAndShipped() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (log, run) = try told()
        let replayed = try strata(["replay", log, "--to", "t3", "--into", path("then")])
        #expect(replayed.exitCode == 0, "\(replayed)")
        let then = try strata(["query", path("then"), "Movie", "--json"])
        let past = try run.strata("query", "Movie", "--at", "t3", "--json")
        #expect(then.output == past.output && then.exitCode == 0)
        let shipped = try strata(["ship", log, path("target")])
        #expect(shipped.exitCode == 0, "\(shipped)")
        let restored = try strata(["restore", path("target"), path("restored")])
        #expect(restored.exitCode == 0, "\(restored)")
        #expect(try strata(["log", path("restored")]).output == run.strata("log").output)
    }

    @Test func studioShowsALog() async throws {
        let (log, run) = try told()
        let studio = try Studio(paths: [log, run.path])
        defer { studio.close() }
        #expect(studio.names[0].hasPrefix("tool-"))
        var pages: [NSDictionary] = []
        for name in studio.names {
            let answer = await studio.answer(StudioAddress(path: [name, "timeline"]))
            #expect(answer.status == 200)
            pages.append(try #require(try JSONSerialization.jsonObject(with: answer.body) as? NSDictionary))
        }
        #expect(pages[0] == pages[1] && pages[0]["parts"] != nil)
        let stores = await studio.answer(StudioAddress(path: []))
        #expect(String(decoding: stores.body, as: UTF8.self).contains("postgresql:"))
    }

    /// A log of a store with one encrypted value, the key's file, and another key's.
    private func encrypted() throws -> (log: String, key: String, other: String) {
        _ = try StoryServer.tables.get()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (model, key, other) = (folder.appending(path: "Clinic.xcdatamodel"), path("key"), path("other"))
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        let contents = """
            <?xml version="1.0" encoding="UTF-8"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0"><entity name="Patient">
            <attribute name="diagnosis" optional="YES" attributeType="String"><userInfo>
            <entry key="strata.encrypted" value="YES"/></userInfo></attribute></entity></model>
            """
        try Data(contents.utf8).write(to: model.appending(path: "contents"))
        try Data(repeating: 1, count: 32).write(to: URL(filePath: key))
        try Data(repeating: 2, count: 32).write(to: URL(filePath: other))
        let log = "\(try #require(StoryServer.address))#tool-\(UUID().uuidString)"
        for words in [
            ["create", path("clinic"), "--model", model.path(percentEncoded: false)],
            ["insert", path("clinic"), "Patient", "diagnosis=bronchitis", "--key-file", key],
            ["shared", "fill", path("clinic"), log],
        ] {
            let result = try strata(words)
            #expect(result.exitCode == 0, "\(words): \(result)")
        }
        return (log, key, other)
    }

    @Test func encryptedValuesOfALogAreReadWithTheKeyAndNothingIsAppended() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (log, key, other) = try encrypted()
        let before = try strata(["log", log, "--json"]).output
        func query(_ keys: String...) throws -> BuiltProgram.Result {
            try strata(
                ["query", log, "Patient", "--where", "diagnosis = 'bronchitis'"] + keys.flatMap { ["--key-file", $0] })
        }
        #expect(try query(key).output.contains("bronchitis") && query(other, key).output.contains("bronchitis"))
        let wrong = try query(other)
        #expect(wrong.exitCode == 1 && wrong.error.contains("Open it with that key"), "\(wrong)")
        for keys in [[key], [other, key]] {
            let studio = try Studio(paths: [log], keyFiles: keys)
            defer { studio.close() }
            let page = await studio.answer(StudioAddress(path: [studio.names[0], "objects", "Patient"]))
            #expect(page.status == 200 && String(decoding: page.body, as: UTF8.self).contains("bronchitis"))
        }
        #expect(throws: (any Error).self) { try Studio(paths: [log], keyFiles: [other]) }
        #expect(try strata(["log", log, "--json"]).output == before)
    }
}
