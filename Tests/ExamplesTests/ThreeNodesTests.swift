import Foundation
import StrataTestSupport
import Testing

/// MustC as three processes with one log in PostgreSQL. `make test-shared` starts the server.
@Suite(.enabled(if: StoryServer.address != nil, "make test-shared starts the PostgreSQL that this test needs."))
struct ThreeNodesTests {
    private func run(_ arguments: String...) throws -> BuiltProgram.Result {
        let fixtures = ExampleRun.fixtures("MustC").path(percentEncoded: false)
        return try BuiltProgram("MustCStory").run(
            ["three-nodes", "--database", try #require(StoryServer.address), "--fixtures", fixtures] + arguments,
            limit: .seconds(120))
    }

    private struct Result: Decodable {
        struct Change: Decodable {
            var change: String
            var savedOn: String
            var transaction: UInt64
            var savedInMilliseconds: Double
            var shownAfterMilliseconds: [String: Double]
        }

        var changes: [Change]
        var killedNode: String
        var missedChanges: Int
        var medianMilliseconds: Double
        var slowestMilliseconds: Double
        var movies: [String]
        var isSame: Bool
    }

    @Test func eachChangeReachesTheOthersAndTheOneThatWasKilled() throws {
        let ended = try run("--json", "--changes", "15", "--pause", "20")
        #expect(ended.exitCode == 0 && ended.error == "", "\(ended)")
        let result = try JSONDecoder().decode(Result.self, from: Data(ended.output.utf8))
        #expect(result.changes.count == 15 && result.isSame)
        #expect(Set(result.changes.map(\.savedOn)) == ["A", "B", "C"])
        #expect(result.changes.map(\.transaction) == result.changes.map(\.transaction).sorted())
        // Everyone has everything that others saved, in the end also the node that was away.
        for change in result.changes {
            #expect(Set(change.shownAfterMilliseconds.keys) == Set(["A", "B", "C"]).subtracting([change.savedOn]))
        }
        #expect(result.killedNode == "B" && result.missedChanges >= 5)
        #expect(result.changes[5..<10].allSatisfy { $0.savedOn != "B" })
        #expect(0 < result.medianMilliseconds && result.medianMilliseconds <= result.slowestMilliseconds)
        #expect(result.movies.contains("Momo (Anna)"))
    }

    @Test func withoutATerminalItPrintsALineForEachChange() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "three-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let ended = try run("--changes", "9", "--pause", "0", "--stores", folder.path(percentEncoded: false))
        #expect(ended.exitCode == 0 && ended.error == "", "\(ended)")
        let lines = ended.output.split(separator: "\n")
        #expect(lines.count { $0.contains(/^t[0-9]+\s/) } == 9)
        #expect(lines.contains { $0.contains("B was killed") } && lines.contains { $0.contains("away") })
        #expect(!ended.output.contains("\u{1B}"))
        #expect(lines.last?.hasPrefix("All three nodes show the same") == true)
        // The stores that stay are copies of one log, and say who saved what.
        for name in ["A", "B", "C"] {
            let store = folder.appending(path: "\(name).strata").path(percentEncoded: false)
            #expect(try BuiltProgram("strata").run(["verify", store]).exitCode == 0)
            let log = try BuiltProgram("strata").run(["log", store]).output
            #expect(log.contains("A") && log.contains("C"))
        }
    }

    @Test func aRunNeedsADatabase() throws {
        let ended = try BuiltProgram("MustCStory").run(
            ["three-nodes", "--database", "postgresql:///none?host=/nowhere"], limit: .seconds(60))
        #expect(ended.exitCode == 1 && ended.error.contains("postgresql:///none"))
    }
}
