import Foundation
import LMDB
import StrataModel
import Testing

@testable import StrataStore

/// `strata top`, and looks at the pages alone.
@Suite struct TopCommandTests {
    @Test func eachLookIsPrintedAndNothingIsWritten() throws {
        let store = try ToolStore()
        let file = store.directory.appending(component: "data.mdb")
        let before = try Data(contentsOf: file)
        let looks = try Tool.run("top", store.path, "--count", "2", "--interval", "0.01")
        #expect(looks.exitCode == 0, "\(looks)")
        #expect(looks.output.components(separatedBy: "\ntransactions ").count == 3, "\(looks)")
        #expect(looks.output.contains("0.0/s"), "\(looks)")
        let json = try Tool.run("top", store.path, "--count", "3", "--interval", "0.01", "--json")
        let lines = try json.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(lines.count == 3)
        #expect(lines[0]["transactionsPerSecond"] is NSNull)
        #expect(lines[1]["transactionsPerSecond"] as? Double == 0)
        let sizes = try #require(lines[2]["bytes"] as? [String: Int])
        #expect(sizes["file"] == before.count)
        #expect((sizes["log"] ?? 0) + (sizes["views"] ?? 0) + (sizes["free"] ?? 0) <= before.count)
        #expect(try Data(contentsOf: file) == before)
    }

    private static func pageOfObjects(_ directory: URL) throws -> UInt64 {
        let store = try Store.open(.directory(directory), model: nil)
        defer { store.close() }
        let transaction = try store.file.environment.beginWrite()
        defer { transaction.abort() }
        return try #require(try transaction.pagesOf([store.file.tables.objects]).first)
    }

    @Test(arguments: [["--count", "0"], ["--interval", "0"], ["--interval", "nan"]]) func wrongOptionsAreRefused(
        options: [String]
    ) throws {
        #expect(try Tool.run(["top", try ToolStore().path] + options).exitCode == 2)
    }

    @Test func subscriptionsAndRatesAreSeen() throws {
        let store = try ToolStore()
        let open = try Store.open(.directory(store.directory), model: nil)
        defer { open.close() }
        try open.acknowledge(.init(rawValue: 1), by: "mailer")
        let usage = try open.usage()
        #expect(usage.subscriptionLags == ["mailer": Int(usage.transaction.rawValue) - 1])
        #expect(usage.processIDs.contains(ProcessInfo.processInfo.processIdentifier))
        let looks = try Tool.run("top", store.path, "--count", "1")
        #expect(looks.output.contains("transactions behind: mailer"), "\(looks)")
    }

    @Test func pagesAloneAreCompared() throws {
        let store = try ToolStore()
        let sound = try Tool.run("verify", store.path, "--pages", "--pace", "1000")
        #expect(sound.exitCode == 0 && sound.output.contains("compared with their checksums"), "\(sound)")
        let file = store.directory.appending(component: "data.mdb")
        var bytes = try Data(contentsOf: file)
        let page = try Self.pageOfObjects(store.directory)
        bytes[Int(page) * 4096 + 2000] ^= 4
        try bytes.write(to: file)
        let damaged = try Tool.run("verify", store.path, "--pages")
        #expect(damaged.exitCode == 1 && damaged.output.contains("page: page \(page): "), "\(damaged)")
        #expect(try Tool.run("verify", store.path, "--pages", "--quick").exitCode == 2)
        #expect(try Tool.run("verify", store.path, "--pace", "1").exitCode == 2)
        #expect(try Tool.run("verify", store.path, "--pages", "--pace", "-1").exitCode == 2)
    }
}
