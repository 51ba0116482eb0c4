import Foundation
import Testing

/// `make demo-large` over the excerpt of Debian's package index.
@Suite struct LargeDemoTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardizedFileURL

    @Test func theDemoImportsAsksAndExplains() throws {
        let store = FileManager.default.temporaryDirectory.appending(component: "debian-\(UUID().uuidString).strata")
            .path(percentEncoded: false)
        defer { try? FileManager.default.removeItem(atPath: store) }
        let root = Self.root.path(percentEncoded: false)
        let result = try Tool.shell(
            "STRATA_INDEX='\(root)/Fixtures/Debian/Packages.gz' '\(root)/Scripts/demo-large.sh' \"$strata\" '\(store)' 2>&1"
        )
        #expect(result.exitCode == 0, "\(result)")
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(lines.contains { $0.hasPrefix("139 records: 139 inserted, ") }, "\(result)")
        // Each question has its answer and its plan; the sixth has the answers of then and now.
        for number in 1...6 { #expect(lines.contains { $0.contains("\(number). ") }, "question \(number)") }
        #expect(lines.count { $0.hasPrefix("    objects of ") } == 6)
        let depending = try #require(lines.firstIndex { $0.hasPrefix("from.name") })
        let count = lines[(depending + 1)...].prefix { !$0.hasSuffix(" rows") }.count
        #expect(count > 0 && lines[depending + 1 + count] == "\(count) rows")
        let states = lines.filter { $0.hasPrefix("liblmdb0  0.") }
            .map { $0.split(separator: " ").last.map(String.init) }
        #expect(states == ["0", "\(count)"])
        #expect(try Tool.run("verify", store).exitCode == 0)
    }
}
