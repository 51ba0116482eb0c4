import Foundation
import StrataCoreDataFixtures
import StrataStore
import Testing

@testable import StrataInspector

/// What every command prints with `--json`: one document, or one a line, that a strict reader takes, with the keys that
/// its help names and no others, whatever the store holds.
@Suite struct JSONShapeTests {
    private let store: AwkwardStore
    private let elsewhere: URL

    init() throws {
        store = try AwkwardStore()
        elsewhere = FileManager.default.temporaryDirectory.appending(component: "shapes-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: true)
    }

    private func new(_ name: String) -> String { elsewhere.appending(component: name).path(percentEncoded: false) }

    private func file(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: elsewhere.appending(component: name))
        return new(name)
    }

    // MARK: Commands that read

    @Test func commandsThatLookPrintWhatTheirHelpSays() throws {
        let path = store.path
        try check(
            "inspect", [Run(command: "inspect", arguments: [path])],
            rare: [
                "process", "active", "stale", "eventNumber", "transaction", "time", "truncated", "author", "reason",
            ])
        try check("count", [Run(command: "count", arguments: [path, "Ding"])])
        try check(
            "show",
            [
                Run(command: "show", arguments: [path, store.full, "--history"]),
                Run(command: "show", arguments: [path, store.bare, "--at", "t3"]),
                Run(command: "show", arguments: [path, "Kiste/p1"]),
            ], alsoFrom: ["log"])
        try check("stats", [Run(command: "stats", arguments: [path])])
        try check("top", [Run(command: "top", arguments: [path, "--count", "2", "--interval", "0.01"], isLines: true)])
        try check(
            "log",
            [
                Run(command: "log", arguments: [path], isLines: true),
                Run(command: "log", arguments: [path, "--reverse"], isLines: true),
            ],
            rare: [
                "position", "positionBefore", "moved", "erased", "thinned", "erasure", "objects", "properties",
                "reason",
            ])
        try check("blame", [Run(command: "blame", arguments: [path, store.full])])
        try check(
            "diff",
            [
                Run(command: "diff", arguments: [path, "t2"]), Run(command: "diff", arguments: [path, "t5", "t2"]),
                Run(command: "diff", arguments: [path, "t3", "t4"]),
            ], rare: ["moved"])
        try check("tag", [Run(command: "tag", arguments: [path])], rare: ["removed"])
        try check("subscriptions", [Run(command: "subscriptions", arguments: [path])], rare: ["dropped"])
        try check(
            "history trim",
            [
                Run(command: "history", arguments: ["trim", path, "--before", "t4", "--dry-run", "--force"]),
                Run(
                    command: "history",
                    arguments: ["trim", path, "--entity", "Ding", "--before", "t4", "--dry-run", "--force"]),
            ], rare: ["transaction", "time", "truncated", "author", "reason"])
        try check("timeline", [Run(command: "timeline", arguments: [path])])
        try check(
            "verify",
            [
                Run(command: "verify", arguments: [path]), Run(command: "verify", arguments: [path, "--quick"]),
                Run(command: "verify", arguments: [path, "--pages"]),
            ],
            rare: ["kind", "location", "message", "transaction", "time", "author", "reason", "entities", "through"])
        try check(
            "query",
            [
                Run(
                    command: "query",
                    arguments: [path, "Größe", "--explain", "--where", "date > %@", "--argument", "2020-01-01"])
            ], rare: ["note"])
        try check(
            "replay",
            [
                Run(command: "replay", arguments: [path, "--speed", "0"], isLines: true),
                Run(command: "replay", arguments: [path, "--to", "t4", "--into", new("then")]),
            ], alsoFrom: ["log"])
    }

    @Test func rowsAreDocumentsWhateverTheyHold() throws {
        let path = store.path
        for format in ["json", "ndjson"] {
            let rows = try documents(
                Run(
                    command: "query", arguments: [path, "Ding", "--format", format, "--sort", "naïve"],
                    isLines: format == "ndjson"))
            if format == "ndjson" { #expect(rows.count == 2) }
        }
        let whole = try documents(Run(command: "query", arguments: [path, "Größe", "--where", "i16 < 0"]))
        guard case .list(let rows) = whole[0], case .object(let row)? = rows.first else {
            Issue.record("\(whole)")
            return
        }
        #expect(row["naïve"] == .text(AwkwardStore.text))
        #expect(row["double"] == .text("-Infinity") && row["float"] == .text("Infinity"))
        #expect(row["decimal"] == .text("-12345678901234567890123456789.000000001"))
        #expect(row["i64"] == .number("\(Int64.min)") && row["flag"] == .boolean(true))
        #expect(row["date"] == .text("2023-11-14T22:13:20.123Z"))
        #expect(row["bytes"] == .object(["sizeInBytes": .number("4")]))
        #expect(row["maß"] == .object(["länge": .number("1.5"), "name": .text("\"x\"")]))
        let before = try documents(
            Run(
                command: "query", arguments: [path, "Größe", "--at", "t3", "--columns", "double", "--where", "i16 < 0"])
        )
        #expect(before == [.list([.object(["double": .text("NaN")])])])
        #expect(
            try documents(Run(command: "query", arguments: [path, "Größe", "--at", "0"])) == [.list([])])
        let twice = try Tool.run("query", path, "Tag", "--columns", "name, name", "--json")
        #expect(twice.exitCode == 2 && twice.output.isEmpty, "\(twice)")
    }

    @Test(arguments: ["json", "ndjson", "csv", "plist"])
    func exportsOfAnythingAreReadAgain(form: String) throws {
        let other = try AwkwardStore(isFilled: false)
        let file = new("dinge.\(form)")
        let columns = "naïve,i16,i32,i64,decimal,double,float,flag,date,uuid,url,bytes,blob,maß,kiste.name,tags.name"
        func text(_ path: String) throws -> String {
            try Tool.run("export", path, "Größe", "--columns", columns, "--sort", "i16").output
        }
        let before = try text(store.path)
        #expect(before.split(separator: "\n").count == 2)
        for line in before.split(separator: "\n") { _ = try JSONReader.value(String(line)) }
        #expect(try Tool.run("export", store.path, "Größe", file, "--columns", columns).exitCode == 0)
        // What parts the members is in one of their names.
        let imported = try Tool.run(
            "import", other.path, "Größe", file, "--missing", "create", "--list-separator", form == "csv" ? ";" : "|")
        #expect(imported.exitCode == 0, "\(imported)")
        #expect(try text(other.path) == before)
        #expect(try Tool.run("verify", other.path).exitCode == 0)
    }

    @Test func eventsAreDocumentsWhateverTheyHold() throws {
        let events = try documents(
            Run(command: "export", arguments: [store.path, "--form", "cloudevents"], isLines: true))
        #expect(events.count > 10)
        if InstalledSQLite.isExpected {
            let report = try documents(
                Run(command: "export", arguments: [store.path, "--form", "coredata", new("Export.sqlite")]))
            guard case .object(let members)? = report.first else { return #expect(Bool(false)) }
            #expect(Set(members.keys) == ["rows", "pairs", "notes"])
        }
        let (words, _) = try documented("export")
        #expect(
            words.isSuperset(
                of: ["type", "subject", "id", "data", "values", "changes", "relationship", "rows", "pairs", "notes"]))
    }

    // MARK: Commands that write

    private func checkImports(_ path: String) throws {
        let records = try file("in.ndjson", "{\"name\": \"\"}\n{\"name\": \"neu\"}\n")
        let coreData = new("Library.sqlite")
        let dangling = "INSERT INTO ZWORK (Z_PK, Z_ENT, ZTITLE, ZAUTHOR) VALUES (10, 5, 'Fit', 99)"
        try LibraryFile.fixture(moreRows: [dangling]).write(to: coreData)
        try check(
            "import",
            [
                Run(command: "import", arguments: [path, "Kiste", records, "--on-clash", "merge"]),
                Run(command: "import", arguments: ["--check", coreData], exitCode: 1),
                Run(command: "import", arguments: [coreData, "--into", new("Library.strata")]),
                Run(command: "import", arguments: ["--verify", coreData, new("Library.strata")]),
            ])
    }

    @Test func commandsThatChangePrintWhatTheirHelpSays() throws {
        let path = store.path
        let empty = Run(command: "delete", arguments: [path, "Klein", "--all"])
        try check("insert", [Run(command: "insert", arguments: [path, "Größe", "naïve=„x“", "kiste=Kiste/p1"])])
        try check("update", [Run(command: "update", arguments: [path, store.full, "double=nan", "--nil", "i16"])])
        try check("link", [Run(command: "link", arguments: [path, "Kiste/p1", "inhalt", store.bare])])
        try check("unlink", [Run(command: "unlink", arguments: [path, "Kiste/p1", "inhalt", store.bare])])
        try check("delete", [Run(command: "delete", arguments: [path, store.bare]), empty])
        let keeping = Run(command: "revert", arguments: [path, "t4", "--conflicts", "keep"])
        try check("revert", [Run(command: "revert", arguments: [path, "t5"]), keeping])
        if InstalledSQLite.isExpected { try checkImports(path) }
        try check("rebuild", [Run(command: "rebuild", arguments: [path])])
        try check(
            "erase",
            [
                Run(command: "erase", arguments: [path, "Kiste/p1", "--dry-run"]),
                Run(command: "erase", arguments: [path, "--list", new("erasures.json")]),
            ])
        try check(
            "upgrade",
            [
                Run(command: "upgrade", arguments: [path, "--dry-run", "--keep-newest", "0"]),
                Run(command: "upgrade", arguments: [path, "--keep-newest", "0"]),
            ])
        try check("compact", [Run(command: "compact", arguments: [path])])
        try check("backup", [Run(command: "backup", arguments: [path, new("backup")])])
        try check(
            "restore",
            [
                Run(command: "restore", arguments: [new("backup"), new("restored")]),
                Run(command: "restore", arguments: [new("backup"), new("restored"), "--replace"]),
            ])
        try check(
            "ship",
            [
                Run(command: "ship", arguments: [path, new("target")]),
                Run(command: "ship", arguments: [path, new("target"), "--snapshot"]),
            ], rare: ["error"])
        try check(
            "standby",
            [
                Run(command: "standby", arguments: [new("target"), new("standby")]),
                Run(command: "standby", arguments: [new("target"), new("standby"), "--promote"]),
            ], rare: ["error"])
        try check("restore", [Run(command: "restore", arguments: [new("target"), new("shipped"), "--to", "t3"])])
    }

    @Test func commandsAboutViewsPrintWhatTheirHelpSays() throws {
        let path = store.path
        let create = ["create", path, "Kisten", "--of", "Größe", "--key", "kiste", "--column", "n = count"]
        let ofFailures: Set<String> = ["event", "object", "reason", "attempts"]
        try check("views create", [Run(command: "views", arguments: create + ["--catching-up"])], rare: ofFailures)
        try check("views list", [Run(command: "views", arguments: ["list", path])], rare: ofFailures)
        try check("views show", [Run(command: "views", arguments: ["show", path, "Kisten"])], rare: ofFailures)
        try check("views rebuild", [Run(command: "views", arguments: ["rebuild", path, "Kisten"])])
        try check("views drop", [Run(command: "views", arguments: ["drop", path, "Kisten"])])
    }

    @Test func commandsAboutDamagePrintWhatTheirHelpSays() throws {
        let file = store.directory.appending(component: "data.mdb")
        let sound = try Data(contentsOf: file)
        var bytes = sound
        let reason = Data("all at once;".utf8)
        while let found = bytes.range(of: reason) { bytes[found.lowerBound] ^= 1 }
        try bytes.write(to: file)
        try check(
            "doctor",
            [
                Run(command: "doctor", arguments: [store.path], exitCode: 1),
                Run(command: "doctor", arguments: [store.path, "--into", new("saved")], exitCode: 1),
            ], rare: ["refusal", "view", "records", "first"])
        try check(
            "verify", [Run(command: "verify", arguments: [store.path], exitCode: 1)],
            rare: ["hasChecksums", "transaction", "time", "author", "reason", "entities", "through"])
        // Pages that are lost end the process that reads them; that, too, is told in the same shape.
        for page in 2..<min(sound.count / 4096, 60) {
            bytes = sound
            bytes.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Data(repeating: 0xA5, count: 4096))
            try bytes.write(to: file)
            for command in ["verify", "doctor"] {
                let result = try Tool.run(command, store.path, "--json")
                if result.output.isEmpty {
                    #expect(result.exitCode == 1 && result.error.hasPrefix("strata: "), "\(page): \(result)")
                } else {
                    #expect(throws: Never.self, "\(page): \(result)") { try JSONReader.value(result.output) }
                }
            }
        }
    }

    // MARK: Models

    @Test func commandsAboutModelsPrintWhatTheirHelpSays() throws {
        let model = new("M.xcdatamodel")
        try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
        let head = "<model usedWithCloudKit=\"YES\"><entity name=\"Ä\" representedClassName=\"Ae\" elementID=\"Alt\">"
        let attribute =
            "<attribute name=\"a\" attributeType=\"Double\" defaultValueString=\"1.5\" elementID=\"b\"/>"
            + "<attribute name=\"s\" optional=\"YES\" attributeType=\"String\" allowsCloudEncryption=\"YES\"/>"
            + "<attribute name=\"u\" optional=\"YES\" attributeType=\"String\" derived=\"YES\" "
            + "derivationExpression=\"uppercase:(s)\"/>"
        let tail = "</entity><configuration name=\"C\"><memberEntity name=\"Ä\"/></configuration></model>"
        _ = try file("M.xcdatamodel/contents", head + attribute + tail)
        let bad = new("Bad.xcdatamodel")
        try FileManager.default.createDirectory(atPath: bad, withIntermediateDirectories: true)
        _ = try file(
            "Bad.xcdatamodel/contents",
            head + attribute + attribute + "<relationship name=\"r\" destinationEntity=\"X\"/>" + tail)
        try check("create", [Run(command: "create", arguments: [new("made"), "--model", model])])
        try check(
            "model show",
            [Run(command: "model show", arguments: [model]), Run(command: "model show", arguments: [store.path])],
            rare: ["subject"])
        try check(
            "model check",
            [
                Run(command: "model check", arguments: [model]),
                Run(command: "model check", arguments: [bad], exitCode: 1),
            ])
        try check(
            "model diff",
            [
                Run(command: "model diff", arguments: [store.path, "--version", "1", "--other-version", "2"]),
                Run(command: "model diff", arguments: [store.path, model]),
            ])
        try check("model export", [Run(command: "model export", arguments: [store.path, new("E.xcdatamodeld")])])
        try check("generate", [Run(command: "generate", arguments: [store.path, "--out", new("code")])])
        let formats = try file("f.txt", "a > 1\n\na >\n\"ü\" == ß\n")
        try check("predicate", [Run(command: "predicate", arguments: [formats], exitCode: 1, isLines: true)])
    }

    @Test func keysPrintWhatTheirHelpSays() throws {
        let clinic = try EncryptedStore(in: elsewhere.appending(component: "clinic"))
        let files = ["--key-file", clinic.key]
        let keys = clinic.folder.appending(component: "keys", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: keys, withIntermediateDirectories: true)
        try check(
            "keys list",
            [
                Run(command: "keys list", arguments: [clinic.path] + files),
                Run(command: "keys list", arguments: [clinic.path] + files + ["--subject-keys", keys.path]),
            ])
        let subject = try SubjectKeyCommandTests()
        try check("keys destroy", [Run(command: "keys destroy", arguments: subject.destroying)])
        let new = ["--new-key-file", try EncryptedStore.makeKey("new.key", in: clinic.folder)]
        try check("keys rotate", [Run(command: "keys rotate", arguments: [clinic.path] + files + new)])
    }

    // MARK: Stores with nothing, and errors

    @Test func aStoreWithoutObjectsIsDocumentsToo() throws {
        let empty = try AwkwardStore(isFilled: false)
        for (command, arguments, isLines) in [
            ("inspect", [], false), ("query", ["Ding"], false), ("count", ["Ding", "--at", "0"], false),
            ("stats", [], false), ("stats", ["--since", "now"], false), ("log", ["--until", "0"], true),
            ("diff", ["0"], false), ("timeline", [], false), ("timeline", ["--author", "nobody"], false),
            ("replay", ["--speed", "0"], true), ("verify", [], false), ("doctor", [], false), ("rebuild", [], false),
            ("export", ["Ding"], false), ("model show", [], false), ("delete", ["Ding", "--all"], false),
        ] as [(String, [String], Bool)] {
            _ = try documents(Run(command: command, arguments: [empty.path] + arguments, isLines: isLines))
        }
        let none = try Tool.run("show", empty.path, "Größe/p1", "--json")
        #expect(none.exitCode == 1 && none.output.isEmpty && !none.error.isEmpty, "\(none)")
    }

    @Test func errorsComeOnStandardErrorAlone() throws {
        let path = store.path
        let cases: [([String], Int32)] = [
            (["inspect", path + "x"], 1), (["query", path, "Nothing"], 2),
            (["query", path, "Ding", "--where", "a >"], 2),
            (["query", path, "Ding", "--where", "nothing > 1"], 2),
            (["query", path, "Ding", "--columns", "nothing"], 2),
            (["query", path, "Ding", "--sort", "nothing"], 2), (["query", path, "Ding", "--format", "csv"], 2),
            (["count", path, "Ding", "--at", "noon"], 2), (["show", path, "Größe/p99"], 1), (["show", path, "x"], 2),
            (["blame", path, "Klein/p1"], 1), (["log", path, "--kind", "eaten"], 2),
            (["stats", path, "--since", "noon"], 2),
            (["diff", path, "noon"], 2), (["timeline", path, "--by", "year"], 2),
            (["replay", path, "--to", "noon"], 2),
            (["insert", path, "Größe", "i16=99999"], 2), (["insert", path, "Kiste", "name="], 1),
            (["insert", path, "Ding", "naïve=x"], 2), (["update", path, store.full, "naïve="], 1),
            (["delete", path, "Größe/p99"], 1), (["link", path, store.full, "nothing", "Tag/p1"], 2),
            (["unlink", path, store.full, "tags", "Tag/p99"], 1), (["revert", path, "t99"], 2),
            (["import", path, "Größe", path + "/none.csv"], 2), (["export", path, "Größe", path + "/none/x.csv"], 1),
            (["backup", path, path], 2), (["restore", path + "x", path], 1),
            (["ship", path + "x", new("target")], 1), (["ship", path, "s3:x"], 2),
            (["standby", new("z"), new("s")], 1),
            (["compact", path + "x"], 1),
            (["doctor", path + "x"], 1), (["verify", path + "x"], 1), (["rebuild", path + "x"], 1),
            (["create", path, "--model", path], 1), (["create", new("y"), "--model", new("z")], 1),
            (["model", "show", new("z")], 1), (["model", "check", new("z")], 1), (["model", "diff", path], 2),
            (["model", "export", path, new("x.txt")], 2), (["generate", new("z"), "--out", new("o")], 1),
            (["predicate", new("z")], 2),
        ]
        for (words, exitCode) in cases {
            let result = try Tool.run(words + ["--json"])
            #expect(result.exitCode == exitCode, "\(words): \(result)")
            #expect(result.output.isEmpty && !result.error.isEmpty, "\(words): \(result)")
        }
    }
}
