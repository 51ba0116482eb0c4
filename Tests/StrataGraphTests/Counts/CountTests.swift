import Foundation
import StrataTestSupport
import Testing

/// What fixed work takes, counted and not timed: it has to stay below the table of `CountThreshold`.
@Suite struct CountTests {
    @Test func fixedWorkTakesNoMoreThanTheTableAllows() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "strata-counts-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: directory) }
        // Tables of the standard library grow with luck unless they hash the same in every process.
        let result = try BuiltProgram("count-child").run(
            [directory.path(percentEncoded: false)], environment: ["SWIFT_DETERMINISTIC_HASHING": "1"])
        try #require(result.exitCode == 0, "\(result.error)")
        let counts = try JSONDecoder().decode([String: Double].self, from: Data(result.output.utf8))
        // Nothing is counted where calls of the system do not go through the shim.
        guard !counts.isEmpty else { return }
        for (name, measured) in counts.sorted(by: { $0.key < $1.key }) {
            let threshold = try #require(CountThreshold.all[name], "No threshold for '\(name)', measured \(measured)")
            #expect(
                threshold.allows(measured),
                "\(name): measured \(measured), \(threshold.isExact ? "expected" : "allowed") \(threshold.allowed)")
        }
        for name in CountThreshold.all.keys.sorted() where counts[name] == nil {
            Issue.record("'\(name)' was not measured.")
        }
    }
}
