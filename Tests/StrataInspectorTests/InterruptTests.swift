import Foundation
import Testing

/// Whenever a command is ended, by Ctrl-C or worse, the store is sound, and nothing half made has anybody's name.
@Suite struct InterruptTests {
    private let store: FilmStore

    init() throws { store = try FilmStore() }

    private func expectSound(_ path: String) throws {
        let result = try Tool.run("verify", path)
        #expect(result.exitCode == 0, "\(result)")
    }

    /// What stands beside the store, hidden or not, and in it.
    private func names() throws -> [String] {
        let parent = store.directory.deletingLastPathComponent()
        let own = store.directory.lastPathComponent
        return try FileManager.default.contentsOfDirectory(atPath: parent.path(percentEncoded: false))
            .filter { $0.contains(own) }.sorted()
            + FileManager.default.contentsOfDirectory(atPath: store.path).sorted()
    }

    private func film(_ number: Int) -> String {
        #"{"title": "Film \#(number)", "year": 2000, "studio": "Ghibli", "genres": ["drama", "genre \#(number % 7)"]}"#
    }

    private func films(_ count: Int) throws -> String {
        let path = store.path + "/many.ndjson"
        try Data((1...count).map(film).joined(separator: "\n").utf8).write(to: URL(filePath: path))
        return path
    }

    private static let mapping = [
        "--map", "studio=studio.name", "--map", "genres=genres.label", "--missing", "create", "--rows", "250",
    ]

    /// At every line of progress that the command tells.
    @Test(arguments: [
        ["backup", "STORE", "STORE.new"], ["replay", "STORE", "--into", "STORE.new"], ["compact", "STORE"],
        ["restore", "STORE", "STORE.new"], ["export", "STORE", "Film", "STORE.new"],
        ["doctor", "STORE", "--into", "STORE.new"],
    ])
    func whatIsInterruptedLeavesNothing(words: [String]) throws {
        let arguments = words.map { $0.replacing("STORE", with: store.path) }
        // An export of a few objects would be over before the signal comes.
        if words[0] == "export" { _ = try Tool.run(["import", store.path, "Film", try films(2500)] + Self.mapping) }
        let before = try names()
        let whole = try Tool.run(arguments, sending: SIGINT) { _ in false }
        #expect(whole.exitCode == 0 && !whole.lines.isEmpty, "\(whole)")
        try? FileManager.default.removeItem(atPath: store.path + ".new")
        let phases = whole.lines.map { String($0.prefix { $0 != ":" }) }
        var ended = 0
        for (number, phase) in phases.enumerated() where phases.firstIndex(of: phase) == number {
            for signal in [SIGINT, SIGTERM, SIGHUP] {
                let result = try Tool.run(arguments, sending: signal) { $0.hasPrefix(phase) }
                #expect([0, 128 + signal].contains(result.exitCode), "\(phase): \(result)")
                if result.exitCode != 0 {
                    ended += 1
                    #expect(result.lines.contains { $0.hasPrefix("strata: interrupted; ") }, "\(phase): \(result)")
                }
                // What was whole when the signal came stays, and is told.
                if FileManager.default.fileExists(atPath: store.path + ".new"), words[0] != "export" {
                    try expectSound(store.path + ".new")
                    #expect(result.lines.contains { $0.contains("is whole") } || result.exitCode == 0, "\(result)")
                }
                try? FileManager.default.removeItem(atPath: store.path + ".new")
                let after = try names()
                #expect(after == before, "\(phase): \(result)")
            }
        }
        #expect(ended > 0)
        try expectSound(store.path)
    }

    /// What could not be taken away is by the next run.
    @Test func whatWasKilledIsSweptByTheNext() throws {
        let before = try names()
        for words in [["backup", store.path, store.path + ".new"], ["compact", store.path]] {
            var killed = try Tool.run(words, sending: SIGKILL) { $0.hasPrefix("replaying") }
            // Beside other tests the signal may come when all is done.
            for _ in 0..<20 where killed.exitCode == 0 {
                try? FileManager.default.removeItem(atPath: store.path + ".new")
                killed = try Tool.run(words, sending: SIGKILL) { $0.hasPrefix("replaying") }
            }
            #expect(killed.exitCode == -SIGKILL)
            #expect(try names() != before)
            #expect(!FileManager.default.fileExists(atPath: store.path + ".new"))
            try expectSound(store.path)
            #expect(try Tool.run(words).exitCode == 0)
            try? FileManager.default.removeItem(atPath: store.path + ".new")
            let after = try names()
            #expect(after == before)
        }
        try expectSound(store.path)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGKILL])
    func aRebuildGoesOnWhereItWasEnded(signal: Int32) throws {
        _ = try Tool.run(["import", store.path, "Film", try films(1500)] + Self.mapping)
        let log = try Tool.run("log", store.path, "--json").output
        let whole = try Tool.run(["rebuild", store.path, "--step", "60"], sending: signal) { _ in false }
        #expect(whole.exitCode == 0)
        let replaying = whole.lines.filter { $0.hasPrefix("replaying") }
        // A step begins where the one before ended.
        #expect(replaying.count > 4 && Set(replaying.map { $0.prefix { $0 != "(" } }).count == replaying.count)
        var halves = 0
        for step in [1, replaying.count / 2, replaying.count - 1] {
            var count = 0
            let ended = try Tool.run(["rebuild", store.path, "--step", "60"], sending: signal) {
                count += $0.hasPrefix("replaying") ? 1 : 0
                return count == step
            }
            #expect([0, signal == SIGKILL ? -signal : 128 + signal].contains(ended.exitCode), "\(ended)")
            let found = try Tool.run("verify", store.path)
            if found.exitCode != 0 {
                halves += 1
                #expect(found.output.isEmpty && found.exitCode == 1)
                #expect(found.error.hasPrefix("strata: The views of the store are being rebuilt: "))
                #expect(
                    found.error.hasSuffix(
                        "If no rebuild is running, opening the store for writing finishes it. (\(store.path))\n"))
            }
            // Any command that writes finishes it.
            let next =
                step == 1
                ? try Tool.run("insert", store.path, "Genre", "label=x\(signal)")
                : try Tool.run("rebuild", store.path, "--step", "60")
            #expect(next.exitCode == 0, "\(next)")
            if found.exitCode != 0, step > 1 {
                // Once: what was begun is finished, and not done again.
                #expect(next.output.contains("finished an earlier rebuild"), "\(next)")
            }
            try expectSound(store.path)
        }
        #expect(halves > 0)
        #expect(try Tool.run("log", store.path, "--json").output.hasPrefix(log))
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGKILL])
    func anImportThatIsEndedAndResumedIsAnUnbrokenOne(signal: Int32) throws {
        let other = try FilmStore()
        let file = try films(4000)
        let whole = try Tool.run(["import", other.path, "Film", file] + Self.mapping)
        #expect(whole.exitCode == 0)
        var isDone = false
        var endings = 0
        for step in 1...40 where !isDone {
            var count = 0
            let result = try Tool.run(
                ["import", store.path, "Film", file, "--resume"] + Self.mapping, sending: signal
            ) { _ in
                count += 1
                return count > step % 3
            }
            isDone = result.exitCode == 0
            if !isDone {
                endings += 1
                #expect(result.exitCode == (signal == SIGKILL ? -signal : 128 + signal), "\(result)")
            }
            try expectSound(store.path)
            if signal == SIGKILL, step > 6 { break }
        }
        #expect(endings > 1)
        #expect(try Tool.run(["import", store.path, "Film", file, "--resume"] + Self.mapping).exitCode == 0)
        for (entity, columns) in [
            ("Film", "title,year,rating,studio.name,genres.label"), ("Studio", "name,country"), ("Genre", "label"),
        ] {
            func rows(_ path: String) throws -> [Substring] {
                try Tool.run("export", path, entity, "--columns", columns, "--form", "csv").output
                    .split(separator: "\n").sorted()
            }
            #expect(try rows(store.path) == rows(other.path), "\(entity)")
        }
        try expectSound(store.path)
    }
}
