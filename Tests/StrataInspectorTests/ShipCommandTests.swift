import Foundation
import StrataStore
import StrataTestSupport
import Testing

/// `strata ship`, `strata standby`, and `strata restore` from a target.
@Suite struct ShipCommandTests {
    private let store: ToolStore
    private let folder: URL

    init() throws {
        store = try ToolStore()
        folder = FileManager.default.temporaryDirectory.appending(component: "ship-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func path(_ name: String) -> String { folder.appending(component: name).path(percentEncoded: false) }

    @Test func whatIsShippedIsRestoredToAMoment() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let shipped = try Tool.run("ship", store.path, path("target"))
        #expect(shipped.exitCode == 0 && shipped.error.isEmpty, "\(shipped)")
        #expect(shipped.output.hasPrefix("\(path("target")): up to t5, 5 transactions shipped, "), "\(shipped)")
        #expect(try Tool.run("ship", store.path, path("target")).output == "\(path("target")): up to t5\n")
        let newest = try Tool.run("restore", path("target"), path("newest"))
        #expect(
            newest.output == "\(path("newest")): 5 transactions, 6 events, 2 objects, 0 large values, verified\n",
            "\(newest)")
        #expect(try Tool.run("count", path("newest"), "BowTie").output == "1\n")
        for moment in ["t3", "4"] {
            let result = try Tool.run("restore", path("target"), path(moment), "--to", moment)
            #expect(result.exitCode == 0, "\(moment): \(result)")
            #expect(try Tool.run("count", path(moment), "BowTie").output == "2\n", "\(moment)")
        }
        let beyond = try Tool.run("restore", path("target"), path("none"), "--to", "t9")
        #expect(beyond.exitCode == 1 && beyond.error.contains("ends with transaction 5"), "\(beyond)")
        let unknown = try Tool.run("restore", path("target"), path("none"), "--to", "noon")
        #expect(unknown.exitCode != 0 && unknown.error.contains("no tag 'noon'"), "\(unknown)")
        #expect(try Tool.run("restore", store.path, path("none"), "--to", "t3").exitCode == 2)
        #expect(try Tool.run("restore", path("target"), path("newest")).exitCode == 1)
        #expect(!FileManager.default.fileExists(atPath: path("none")))
    }

    /// The command begins in the middle of a rebuild in several commits.
    @Test func aShipWaitsForARebuild() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (ship, output, error) = (Process(), Pipe(), Pipe())
        ship.executableURL = Tool.program.url
        ship.arguments = ["ship", store.path, path("target")]
        ship.standardOutput = output
        ship.standardError = error
        // The rebuild reports its progress while this thread waits.
        nonisolated(unsafe) var notice = Data()
        let opened = try Store.open(.directory(store.directory), model: nil, options: StoreOptions())
        let limits = RebuildLimits(eventsInOneCommit: 0, bytesInOneCommit: 0, stepInBytes: 1)
        let report = try opened.rebuild(limits) { progress in
            guard progress.phase.hasPrefix("replaying"), notice.isEmpty else { return }
            do {
                try ship.run()
                notice = error.fileHandleForReading.availableData
            } catch {
                Issue.record("\(error)")
            }
        }
        opened.close()
        let text = String(decoding: notice, as: UTF8.self)
        try #require(text.hasPrefix("strata: The views of the store are being rebuilt: "), "\(text)")
        #expect(text.hasSuffix("finishes it. Waiting until the store can be read.\n"), "\(text)")
        let shipped = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        ship.waitUntilExit()
        #expect(report.isUnchanged && ship.terminationStatus == 0)
        #expect(shipped.hasPrefix("\(path("target")): up to t5, 5 transactions shipped, "), "\(shipped)")
    }

    @Test func aStandbyIsReadAndPromoted() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(try Tool.run("standby", path("target"), path("copy")).exitCode == 1)
        _ = try Tool.run("ship", store.path, path("target"), "--snapshot")
        let made = try Tool.run("standby", path("target"), path("copy"))
        #expect(made.output.hasPrefix("\(path("copy")): t5, saved 2026-01-01T00:00:0"), "\(made)")
        #expect(made.output.hasSuffix(", up to date\n"), "\(made)")
        let refused = try Tool.run("delete", path("copy"), "BowTie", "--all")
        #expect(refused.exitCode == 1 && refused.error.contains("strata standby --promote"), "\(refused)")
        #expect(try Tool.run("delete", store.path, "BowTie", "--all").exitCode == 0)
        _ = try Tool.run("ship", store.path, path("target"))
        #expect(try Tool.run("count", path("copy"), "BowTie").output == "1\n")
        let promoted = try Tool.run("standby", path("target"), path("copy"), "--promote")
        #expect(
            promoted.output.hasSuffix("1 transaction taken over, up to date, now a store of its own\n"), "\(promoted)")
        #expect(try Tool.run("count", path("copy"), "BowTie").output == "0\n")
        #expect(try Tool.run("insert", path("copy"), "Drawer", "label=new").exitCode == 0)
        #expect(try Tool.run("verify", path("copy")).exitCode == 0)
    }

    @Test func shippingThatFollowsEndsWithEverythingShipped() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let result = try Tool.shell(
            """
            "$strata" ship \(store.path) \(path("target")) --follow & shipper=$!
            while ! ls \(path("target"))/log/*/*.segment >/dev/null 2>&1; do sleep 0.05; done
            "$strata" insert \(store.path) Drawer label=new >/dev/null
            kill -TERM $shipper; wait $shipper; echo "code $?"
            "$strata" ship \(store.path) \(path("target"))
            """)
        #expect(result.output.contains("strata: interrupted; everything is shipped.\ncode 143\n"), "\(result)")
        #expect(result.output.hasSuffix("\(path("target")): up to t6\n"), "\(result)")
    }

    @Test func anAddressThatIsNoneIsWrongUsage() throws {
        let result = try Tool.run("ship", store.path, "s3://")
        #expect(result.exitCode == 2 && result.error.contains("is no address of a bucket"), "\(result)")
        #expect(try Tool.run("ship", store.path, path("target"), "--keep", "0").exitCode == 2)
        #expect(
            try Tool.run("standby", path("target"), path("copy"), "--follow", "--promote").exitCode == 2)
    }
}
