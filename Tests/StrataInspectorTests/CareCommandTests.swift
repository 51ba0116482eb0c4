import Foundation
import StrataGraph
import StrataModel
import Testing

@Suite struct CareCommandTests {
    private let store: FilmStore

    init() throws { store = try FilmStore() }

    private func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

    @Test func aBackupIntoAFolderThatIsMissingNamesTheFolder() throws {
        let result = try Tool.run("backup", store.path, "/nowhere/at/all/x")
        #expect(result.exitCode == 1 && result.output.isEmpty)
        #expect(
            result.error == "strata: The store failed during backup: No such file or directory. (/nowhere/at/all)\n")
    }

    @Test func restorePutsABackupInPlaceWithALineageOfItsOwn() throws {
        let backup = store.path + ".new"
        #expect(try Tool.run("backup", store.path, backup).exitCode == 0)
        #expect(try Tool.run("delete", store.path, "Film", "--all").exitCode == 0)
        let refused = try Tool.run("restore", backup, store.path)
        #expect(refused.exitCode == 1 && refused.error.contains("--replace"), "\(refused)")
        let kept = store.path + ".before-restore"
        #expect(
            try Tool.run("restore", backup, store.path, "--replace")
                == .init(
                    output: "\(store.path): 5 transactions, 15 events, 8 objects, 0 large values, verified\n"
                        + "the old store is now \(kept)\n", error: "", exitCode: 0))
        #expect(try Tool.run("count", store.path, "Film").output == "4\n")
        #expect(try Tool.run("count", kept, "Film").output == "0\n")
        #expect(try lineage(store.path) != lineage(backup))
        let made = try Tool.run("insert", store.path, "Genre", "label=war")
        let number = try #require(
            made.output.split(separator: "\n").first?.split(separator: "p").last.flatMap { Int($0) })
        #expect(number > 1 << 20, "ids of the store of then are not given again")
        #expect(try Tool.run("verify", store.path).exitCode == 0)
    }

    private func lineage(_ path: String) throws -> String {
        let text =
            try JSONSerialization.jsonObject(
                with: Data(try Tool.run("inspect", path, "--json").output.utf8)) as? [String: Any]
        return text?["lineage"] as? String ?? "none"
    }

    @Test func metadataAndTagsAreShownAndOutliveCompaction() throws {
        let container = PersistentContainer(name: "Films", model: try FilmStore.model(), at: .url(store.directory))
        try container.loadPersistentStores()
        try container.setMetadata(["catalogue": "2026-11", "page": 4], author: "eve")
        container.close()
        #expect(try Tool.run("compact", store.path).exitCode == 0)
        let text = try Tool.run("inspect", store.path).output
        #expect(text.contains("Metadata\n  catalogue  \"2026-11\"\n  page       4\n"), "\(text)")
        let json =
            try JSONSerialization.jsonObject(
                with: Data(try Tool.run("inspect", store.path, "--json").output.utf8)) as? [String: Any]
        #expect((json?["metadata"] as? [String: Any])?["catalogue"] as? String == "2026-11")
        let log = try Tool.run("log", store.path).output
        #expect(log.contains("metadata page: nil -> 4") && log.contains("tag first cut at event 13"), "\(log)")
    }

    @Test func compactGivesBackFreePagesAndKeepsTheHistory() throws {
        let log = try Tool.run("log", store.path).output
        let result = try Tool.run("compact", store.path, "--json")
        let sizes = try #require(
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        let before = try #require(sizes["before"] as? Int)
        let after = try #require(sizes["after"] as? Int)
        #expect(result.exitCode == 0 && after <= before, "\(result)")
        #expect(try Tool.run("log", store.path).output == log)
        #expect(try Tool.run("verify", store.path).exitCode == 0)
        #expect(try Tool.run("insert", store.path, "Genre", "label=war").exitCode == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: store.path)
        #expect(!names.contains { $0.contains("compact") }, "\(names)")
    }

    @Test func compactLeavesAStoreAloneThatIsInUse() throws {
        let result = try Tool.shell(
            """
            $strata log '\(store.path)' --follow > /dev/null & p=$!
            sleep 0.5
            $strata compact '\(store.path)'; echo $?
            kill -9 $p
            """)
        #expect(
            result.output.contains("Another process has the store open") && result.output.hasSuffix("1\n"), "\(result)")
        try store.expectUntouched()
        #expect(try Tool.run("verify", store.path).exitCode == 0)
    }

    @Test func doctorFindsASoundStoreSound() throws {
        #expect(
            try Tool.run("doctor", store.path)
                == .init(
                    output: """
                        the log is sound: 5 transactions, 15 events
                        the views are sound: a replay of the log gives the same

                        """, error: "", exitCode: 0))
        try store.expectUntouched()
    }

    @Test func doctorSavesWhatStandsBeforeAndBehindADamagedEvent() throws {
        // The update of Stalker is the only record where its date and rating stand side by side, besides its row.
        let file = store.directory.appending(component: "data.mdb")
        #expect(try store.flip(everywhere: Data("the first films".utf8)) > 0)
        let bytes = try Data(contentsOf: file)
        let new = store.path + ".new"
        let result = try Tool.run("doctor", store.path, "--into", new)
        #expect(result.exitCode == 1)
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(
            lines.first == "the log is sound through transaction 2, event 5 (2026-01-01T00:00:02.000Z)", "\(result)")
        #expect(lines.contains { $0.hasPrefix("transaction 3: transaction checksum") }, "\(result)")
        #expect(lines.contains("lost: 3 transactions, of which 2 can be named"), "\(result)")
        #expect(lines.last == "added from after the damage, without their history: 4 objects, 4 links", "\(result)")
        #expect(try Data(contentsOf: file) == bytes, "the damaged store is only read")
        #expect(try Tool.run("verify", new).exitCode == 0)
        #expect(
            try Tool.run(
                "query", new, "Film", "--columns", "title,rating,studio.name,genres.@count", "--sort", "year",
                "--format", "csv"
            ).output
                == """
                title,rating,studio.name,genres.@count
                Mirror,8,Mosfilm,1
                Stalker,9,Mosfilm,2
                "Totoro, ""Tonari no""\",,Ghibli,0
                Ponyo,7.6,Ghibli,1

                """)
    }

    /// A free list that names a page in use counts as damage everywhere, and nothing is written to the file.
    @Test func aPageThatIsFreeAndInUseIsTold() throws {
        let file = store.directory.appending(component: "data.mdb")
        var bytes = try Data(contentsOf: file)
        func number(_ offset: Int) -> UInt64 {
            bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
        }
        let newest = number(144) > number(4096 + 144) ? 0 : 4096
        let list = Int(number(newest + 80)) * 4096
        try #require(bytes[list + 10] == 2, "the free lists are on one leaf page")
        // The last list's first page becomes the root of the table of tables.
        let last = list + Int(bytes[list + 12]) + (Int(bytes[list + 13]) << 8) - 2
        let entry = list + Int(bytes[last]) + (Int(bytes[last + 1]) << 8)
        withUnsafeBytes(of: number(newest + 128)) { bytes.replaceSubrange(entry + 24..<entry + 32, with: $0) }
        try bytes.write(to: file)
        let verified = try Tool.run("verify", store.path)
        #expect(verified.exitCode == 1 && verified.output.hasPrefix("page: page "), "\(verified)")
        let examined = try Tool.run("doctor", store.path)
        #expect(examined.exitCode == 1 && examined.output.contains("do not write to this store"), "\(examined)")
        #expect(try Tool.run("backup", store.path, store.path + ".new").exitCode == 1)
        #expect(try Tool.run("rebuild", store.path).exitCode == 1)
        #expect(try Data(contentsOf: file) == bytes)
        #expect(try Tool.run("doctor", store.path, "--into", store.path + ".new").exitCode == 1)
        #expect(try Tool.run("verify", store.path + ".new").exitCode == 0)
    }

    /// Whatever page of the file is lost, the doctor ends with an answer, and what it writes is sound.
    @Test func doctorSurvivesEveryLostPage() throws {
        let file = store.directory.appending(component: "data.mdb")
        let bytes = try Data(contentsOf: file)
        let new = store.path + ".new"
        var written = 0
        for page in 2..<bytes.count / 4096 {
            var damaged = bytes
            damaged.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Data(count: 4096))
            try damaged.write(to: file)
            remove(new)
            let result = try Tool.run("doctor", store.path, "--into", new)
            #expect([0, 1].contains(result.exitCode), "page \(page): \(result)")
            // One page is never all.
            try #require(FileManager.default.fileExists(atPath: new), "page \(page): \(result)")
            written += 1
            #expect(try Tool.run("count", new, "Film").output == "4\n", "page \(page): \(result)")
            let verified = try Tool.run("verify", new)
            #expect(verified.exitCode == 0, "page \(page): \(result) \(verified)")
        }
        #expect(written > 5)
    }

    /// Trees begin on pages that may be gone, so the records of the log are looked for on every page that is left.
    @Test func doctorSearchesWhatIsLeftOfAFile() throws {
        let file = store.directory.appending(component: "data.mdb")
        let bytes = try Data(contentsOf: file)
        let new = store.path + ".new"
        var saved: [Int] = []
        for part in 1...9 {
            let left = bytes.prefix(bytes.count / 10 * part)
            try left.write(to: file)
            remove(new)
            let result = try Tool.run("doctor", store.path, "--into", new)
            #expect(try Data(contentsOf: file) == left, "the damaged store is only read")
            // Free pages at the end are missed by nobody.
            if result.exitCode == 0, result.output.contains("the views are sound") { continue }
            #expect(result.exitCode == 1, "\(part): \(result)")
            guard FileManager.default.fileExists(atPath: new) else {
                #expect((result.output + result.error).contains("truncated"), "\(part): \(result)")
                continue
            }
            #expect(result.output.contains("The pages that are left were searched for its log"), "\(part): \(result)")
            let verified = try Tool.run("verify", new)
            #expect(verified.exitCode == 0, "\(part): \(result) \(verified)")
            saved.append(try Tool.run("log", new, "--json").output.split(separator: "\n").count)
        }
        #expect(saved.last ?? 0 > 0 && saved == saved.sorted(), "\(saved)")
    }

    @Test func doctorNeedsNoneOfTheFirstPages() throws {
        let file = store.directory.appending(component: "data.mdb")
        var bytes = try Data(contentsOf: file)
        bytes.replaceSubrange(0..<8192, with: Data(count: 8192))
        try bytes.write(to: file)
        let new = store.path + ".new"
        let result = try Tool.run("doctor", store.path, "--into", new)
        #expect(
            result
                == .init(
                    output: """
                        the log is sound through transaction 5, event 15 (2026-01-01T00:00:05.000Z)
                        The file is not a store. The pages that are left were searched for its log, which may have gone \
                        on
                        \(new): 5 transactions, 15 events, 8 objects, 0 large values, verified
                        nothing from after the damage could be added

                        """, error: "", exitCode: 1))
        #expect(try Tool.run("verify", new).exitCode == 0)
    }

    @Test func completionsArePrograms() throws {
        for shell in ["bash", "zsh", "fish"] {
            let result = try Tool.run("completions", shell)
            #expect(result.exitCode == 0 && result.output.contains("timeline"))
        }
        #expect(try Tool.run("completions", "csh").exitCode == 2)
    }
}
