import Foundation
import StrataModel
import StrataStore
import Testing

@Suite struct CommandTests {
    let store: ToolStore
    private let bytes: Data

    init() throws {
        store = try ToolStore()
        bytes = try Data(contentsOf: store.directory.appending(component: "data.mdb"))
    }

    private func expectUntouched() throws {
        #expect(try Data(contentsOf: store.directory.appending(component: "data.mdb")) == bytes)
    }

    private var tie: String { "BowTie/p\(store.red.row)" }
    private var other: String { "BowTie/p\(store.blue.row)" }

    @Test func logListsEveryChangeBeforeAndAfter() throws {
        let result = try Tool.run("log", store.path)
        #expect(
            result
                == .init(
                    output: """
                        1  2026-01-01T00:00:01.000Z  strata  modelInstalled  -          model version 1
                        2  2026-01-01T00:00:02.000Z  ann     inserted        Drawer/p3  label: "top"
                        3  2026-01-01T00:00:03.000Z  ann     inserted        BowTie/p1  name: "Red", rating: 4.5, photo: <2.0 KiB>, drawer: Drawer/p3
                        4  2026-01-01T00:00:03.000Z  ann     inserted        BowTie/p2  name: "Blue\\n\\u{1b}[2J"
                        5  2026-01-01T00:00:04.000Z  bob     updated         BowTie/p1  rating: 4.5 -> 5
                                                                                        lastWorn: nil -> 2023-11-14T22:13:20.000Z
                        6  2026-01-01T00:00:05.000Z  bob     deleted         BowTie/p2  name: "Blue\\n\\u{1b}[2J"

                        """, error: "", exitCode: 0))
        try expectUntouched()
    }

    @Test(arguments: [
        (["--entity", "Drawer"], [2]), (["--object", "BowTie/p1"], [3, 5]), (["--kind", "updated"], [5]),
        (["--author", "ann"], [2, 3, 4]), (["--property", "lastWorn", "--kind", "updated"], [5]),
        (["--since", "3", "--until", "4"], [3, 4]), (["--since", "t3", "--until", "t3"], [3, 4]),
        (["--since", "2026-01-01T00:00:04Z"], [5, 6]), (["--until", "2026-01-01T00:00:02Z"], [1, 2]),
        (["--reverse"], [6, 5, 4, 3, 2, 1]), (["--reverse", "--limit", "2"], [6, 5]), (["--limit", "2"], [1, 2]),
        (["--since", "7"], []), (["--reverse", "--since", "4", "--until", "5"], [5, 4, 3]),
        (["--until", "99"], [1, 2, 3, 4, 5, 6]),
    ])
    func logIsFiltered(filter: [String], expected: [Int]) throws {
        let result = try Tool.shell("$strata log '\(store.path)' --json \(filter.joined(separator: " "))")
        #expect(result.exitCode == 0)
        let eventNumbers = result.output.split(separator: "\n").map { line -> Int in
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return object?["eventNumber"] as? Int ?? -1
        }
        #expect(eventNumbers == expected, "\(filter)")
    }

    @Test func logAsJSONIsOneObjectALine() throws {
        let result = try Tool.run("log", store.path, "--json", "--kind", "updated")
        #expect(
            result.output == """
                {"author":"bob","changes":{"lastWorn":{"after":"2023-11-14T22:13:20.000Z","before":null},"rating":{"after":5,\
                "before":4.5}},"event":"updated","eventNumber":5,"object":"BowTie/p1","time":"2026-01-01T00:00:04.000Z",\
                "transaction":4}

                """)
        try expectUntouched()
    }

    @Test func showTellsAnObjectNowAndAsItWas() throws {
        let identifier = try JSONDecoder().decode(
            Inspected.self, from: Data(try Tool.run("inspect", store.path, "--json").output.utf8)
        ).store
        #expect(
            try Tool.run("show", store.path, tie)
                == .init(
                    output: """
                        BowTie/p1
                          strata://\(identifier)/BowTie/p1
                          as of event 6, last changed by event 5

                          name      "Red"
                          rating    5
                          lastWorn  2023-11-14T22:13:20.000Z
                          photo     <2.0 KiB>
                          drawer    Drawer/p3

                        """, error: "", exitCode: 0))
        for name in ["BowTie/1", "bowtie/p1", "strata://\(identifier)/BowTie/p1"] {
            let past = try Tool.run("show", store.path, name, "--at", "2026-01-01T00:00:03Z")
            #expect(
                past.output == """
                    BowTie/p1
                      strata://\(identifier)/BowTie/p1
                      as of event 4, last changed by event 3

                      name      "Red"
                      rating    4.5
                      lastWorn  nil
                      photo     <2.0 KiB>
                      drawer    Drawer/p3

                    """)
        }
        let drawer = try Tool.run("show", store.path, "Drawer/p3", "--history")
        #expect(
            drawer.output == """
                Drawer/p3
                  strata://\(identifier)/Drawer/p3
                  as of event 6, last changed by event 2

                  label  "top"
                  ties   1 member: BowTie/p1

                2  2026-01-01T00:00:02.000Z  ann  inserted  Drawer/p3  label: "top"

                """)
        try expectUntouched()
    }

    @Test func anObjectThatIsNotThereIsAProblemAndSaysWhy() throws {
        #expect(
            try Tool.run("show", store.path, other)
                == .init(
                    output: "",
                    error:
                        "strata: There is no BowTie/p2 at event number 6: it was deleted by event 6; --at t4 shows it before.\n",
                    exitCode: 1))
        for moment in ["4", "t4"] { #expect(try Tool.run("show", store.path, other, "--at", moment).exitCode == 0) }
        #expect(
            try Tool.run("show", store.path, tie, "--at", "2")
                == .init(
                    output: "", error: "strata: There is no BowTie/p1 at event number 2: it was inserted by event 3.\n",
                    exitCode: 1))
        #expect(
            try Tool.run("show", store.path, "BowTie/p99").error
                == "strata: There is no BowTie/p99 at event number 6: the log knows of no such object.\n")
    }

    @Test func verifyFindsASoundStoreSound() throws {
        for (arguments, depth) in [
            ([], "; a replay of the log gives the same views, byte for byte"), (["--quick"], " (a quick look)"),
        ] {
            let result = try Tool.run(["verify", store.path] + arguments)
            #expect(result.exitCode == 0 && result.error.isEmpty, "\(result)")
            let lines = result.output.split(separator: "\n")
            #expect(lines.first ?? "" == "sound: 5 transactions, 6 events, 2 objects\(depth)")
            #expect(
                lines.last?.wholeMatch(of: /read \d+ pages \(\d+\.\d KiB\), \d+ records in \d+\.\d{3} s/) != nil,
                "\(result)")
            #expect(lines.count == 2)
        }
        try expectUntouched()
    }

    @Test func verifyNamesDamageAndRebuildRepairsIt() throws {
        try store.damageARow()
        let damaged = try Tool.run("verify", store.path)
        #expect(damaged.exitCode == 1)
        #expect(damaged.output.hasPrefix("page: page "))
        #expect(
            damaged.output.contains(": it is not the page that was written\nrow: BowTie/p1: wrong checksum of a row"))
        let rebuilt = try Tool.run("rebuild", store.path)
        #expect(rebuilt.exitCode == 1)
        #expect(rebuilt.output.hasSuffix("the views have changed\n"))
        #expect(try Tool.run("verify", store.path).exitCode == 0)
        let again = try Tool.run("rebuild", store.path)
        #expect(again.exitCode == 0)
        #expect(again.output.hasSuffix("the views are unchanged, byte for byte\n"))
        #expect(again.output.split(separator: "\n").count == 11)
    }

    /// Whatever page of the file is lost, verify ends with an answer and not with a crash.
    @Test func verifySurvivesEveryLostPage() throws {
        let file = store.directory.appending(component: "data.mdb")
        var found = 0
        for page in stride(from: 2, to: bytes.count / 4096, by: 1) {
            var damaged = bytes
            damaged.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Data(count: 4096))
            try damaged.write(to: file)
            let result = try Tool.run("verify", store.path)
            #expect([0, 1].contains(result.exitCode), "page \(page): \(result)")
            found += result.exitCode == 1 ? 1 : 0
        }
        #expect(found > 5)
        try bytes.write(to: file)
        #expect(try Tool.run("verify", store.path).exitCode == 0)
    }

    private struct Inspected: Decodable {
        struct Log: Decodable {
            let events: Int
            let transactions: Int
        }
        struct Entity: Decodable, Equatable {
            let name: String
            let objects: Int
        }
        struct File: Decodable {
            let path: String
        }
        let store: String
        let log: Log
        let entities: [Entity]
        let files: [File]
    }

    @Test func inspectSaysWhereEveryFileIs() throws {
        let text = try Tool.run("inspect", store.path)
        #expect(text.exitCode == 0)
        #expect(text.output.contains("  \(store.path.dropLast(store.path.hasSuffix("/") ? 1 : 0))/data.mdb"))
        let json = try Tool.run("inspect", store.path, "--json")
        let inspected = try JSONDecoder().decode(Inspected.self, from: Data(json.output.utf8))
        #expect(inspected.log.events == 6)
        #expect(inspected.entities == [.init(name: "BowTie", objects: 1), .init(name: "Drawer", objects: 1)])
        #expect(
            inspected.files.map { URL(filePath: $0.path).lastPathComponent }
                == ["data.mdb", "pages.sums", "lock.mdb", "writer.lock", "blobs"])
        try expectUntouched()
    }

    /// A process that was killed while it had the store open, beside one that still has.
    @Test func inspectTellsStaleReadersFromOthers() throws {
        let result = try Tool.shell(
            """
            $strata log '\(store.path)' --follow > /dev/null & live=$!
            $strata log '\(store.path)' --follow > /dev/null & dead=$!
            until [ "$($strata inspect '\(store.path)' | grep -c '^  process')" = 2 ]; do sleep 0.05; done
            kill -9 $dead; wait $dead 2> /dev/null
            $strata inspect '\(store.path)' | grep '^  process' | sed "s/$live/LIVE/; s/$dead/DEAD/" | sort
            $strata inspect '\(store.path)' --json | grep -c '"stale" : true'
            kill $live
            """)
        #expect(
            result.output == "  process DEAD  stale: its process has ended\n  process LIVE  idle\n1\n", "\(result)")
        try expectUntouched()
    }

    @Test func backupMakesAVerifiedCopy() throws {
        let target = store.path + ".backup"
        defer { try? FileManager.default.removeItem(atPath: target) }
        let result = try Tool.run("backup", store.path, target)
        #expect(
            result
                == .init(
                    output: "\(target): 6 events, 2 objects, 0 large values (0 bytes), verified\n", error: "",
                    exitCode: 0))
        #expect(try Tool.run("log", target).output == Tool.run("log", store.path).output)
        #expect(try Tool.run("backup", store.path, target).exitCode == 1)
        try expectUntouched()
    }

    @Test func badUsageIsToldInOneLineWithExitCodeTwo() throws {
        let cases: [([String], String)] = [
            (["show", store.path, "Shoe/p1"], "strata: The store has no entity 'Shoe'. It has BowTie, Drawer.\n"),
            (
                ["show", store.path, tie, "--at", "noon"],
                "strata: 'noon' is not a moment. Write an event number (1200), a transaction (t12), a tag, a date (2026-11-21 or "
                    + "2026-11-21T10:00:00Z), or '2 hours ago'.\n"
            ),
            (["show", store.path, tie, "--at", "77"], "strata: The log ends at 6; there is no event 77 yet.\n"),
            (
                ["show", store.path, "nonsense"],
                "strata: 'nonsense' names no object. Write BowTie/p12, BowTie/12, or strata://<store>/BowTie/p12.\n"
            ),
        ]
        for (arguments, error) in cases {
            let quoted = arguments.map { "'\($0)'" }.joined(separator: " ").replacingOccurrences(
                of: "''", with: "'\"'\"'")
            let result = try Tool.shell("$strata \(quoted)")
            #expect(result == .init(output: error, error: "", exitCode: 2), "\(arguments)")
        }
        for arguments in [["log"], ["log", store.path, "--kind", "eaten"]] {
            let result = try Tool.shell("$strata \(arguments.joined(separator: " "))")
            #expect(result.exitCode == 2, "\(arguments)")
            #expect(result.output.hasPrefix("Error: "), "\(result.output)")
        }
        #expect(try Tool.run("--help").exitCode == 0)
    }

    @Test func theVersionNamesTheFormatAndLMDBs() throws {
        let result = try Tool.run("--version")
        #expect(result.exitCode == 0 && result.error.isEmpty)
        #expect(result.output.contains(/^strata \d+\.\d+\.\d+, store format 1, LMDB 0\.9\.\d+\n$/), "\(result.output)")
    }

    @Test func aMissingStoreIsNotMade() throws {
        let path = store.path + ".none"
        #expect(
            try Tool.run("log", path)
                == .init(
                    output: "", error: "strata: There is no store at \(path).\n", exitCode: 1))
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try Tool.run("rebuild", path).exitCode == 1)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func aClosedPipeEndsItQuietly() throws {
        let result = try Tool.shell("$strata log '\(store.path)' | true; echo ${PIPESTATUS[0]}")
        #expect(result.output == "0\n")
    }

    @Test func noColourGoesIntoAFile() throws {
        #expect(!(try Tool.run("inspect", store.path).output.contains("\u{1B}")))
    }
}
