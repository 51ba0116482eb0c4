import Foundation
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

@testable import StrataShipping

/// Shippers and standbys that are killed, beside a process that saves.
@Suite struct ShipperKillTests {
    private static func start(_ program: String, _ arguments: [String]) throws -> Process {
        let process = Process()
        process.executableURL = BuiltProgram(program).url
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    private func kill(_ process: Process) {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    @Test(arguments: RandomTesting.seeds(unlessAsked: [1, 2])) func killsLoseNothing(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let folder = FileManager.default.temporaryDirectory.appending(component: "kills-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func path(_ name: String) -> String { folder.appending(component: name).path(percentEncoded: false) }
        let writer = try Self.start("graph-child", [path("notes.strata"), "ann", "400"])
        defer { kill(writer) }
        while !FileManager.default.fileExists(atPath: path("notes.strata/data.mdb")) { usleep(1000) }
        let shipping = [
            "ship", path("notes.strata"), path("target"), "--follow", "--keep", "2", "--snapshot-interval", "1",
        ]
        for round in 0..<15 {
            let shipper = try Self.start("strata", shipping + (round % 4 == 1 ? ["--snapshot"] : []))
            let standby = try Self.start("strata", ["standby", path("target"), path("standby.strata"), "--follow"])
            usleep(UInt32.random(in: 1000...250_000, using: &generator))
            kill(shipper)
            usleep(UInt32.random(in: 1000...100_000, using: &generator))
            kill(standby)
        }
        writer.waitUntilExit()
        let tool = BuiltProgram("strata")
        let shipped = try tool.run(["ship", path("notes.strata"), path("target")])
        #expect(shipped.exitCode == 0, "seed \(seed): \(shipped)")
        for words in [
            ["restore", path("target"), path("restored.strata")], ["standby", path("target"), path("standby.strata")],
            ["verify", path("standby.strata")], ["verify", path("restored.strata")],
        ] {
            let result = try tool.run(words)
            #expect(result.exitCode == 0, "seed \(seed): \(words) \(result)")
        }
        for name in ["restored.strata", "standby.strata"] {
            #expect(try tool.run(["count", path(name), "Note"]).output == "400\n", "seed \(seed): \(name)")
        }
    }

    /// What was saved a second ago is at the target when the machine is lost.
    @Test func aSaveIsAtTheTargetWithinASecond() throws {
        let library = try FilmLibrary()
        try library.insertFilms(1)
        let target = library.directoryTarget()
        let shipper = try Self.start(
            "strata", ["ship", library.store.path, library.url("target").path(percentEncoded: false), "--follow"])
        defer { kill(shipper) }
        func shippedEnd() throws -> TransactionNumber { try TargetCatalog.list(target, library.store.lineage).end }
        while try shippedEnd() < (try library.store.logPosition().transaction) { usleep(10_000) }
        var longest = Duration.zero
        for number in 0..<5 {
            try library.insertFilm("film \(number)")
            let saved = ContinuousClock.now
            let end = try library.store.logPosition().transaction
            while try shippedEnd() < end, ContinuousClock.now - saved < .seconds(20) { usleep(5000) }
            longest = max(longest, ContinuousClock.now - saved)
        }
        // A machine that is busy with other tests is given more time.
        #expect(longest < .seconds(10), "\(longest)")
    }
}
