import Foundation
import StrataTestSupport
import Testing

/// An example program with a store of the test's own, which goes with it.
final class ExampleRun {
    let directory: URL
    private let story: String

    init(_ story: String) {
        self.story = story
        directory = FileManager.default.temporaryDirectory.appending(component: "\(story)-\(UUID().uuidString).strata")
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    var path: String { directory.path(percentEncoded: false) }

    static func fixtures(_ story: String) -> URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/\(story)", directoryHint: .isDirectory)
    }

    /// Runs the program once and holds it to a good end.
    ///
    /// - Returns: the lines below each step's title, by its number, without the indentation.
    func tell(_ arguments: String...) throws -> [Int: [String]] { try tell(arguments) }

    func tell(_ arguments: [String]) throws -> [Int: [String]] {
        let fixtures = Self.fixtures(story).path(percentEncoded: false)
        let result = try BuiltProgram("\(story)Story")
            .run(["--store", path, "--fixtures", fixtures] + arguments, environment: ["TZ": "America/New_York"])
        #expect(result.exitCode == 0 && result.error == "", "\(result)")
        #expect(result.output.contains(path))
        var steps: [Int: [String]] = [:]
        var step = 0
        for line in result.output.split(separator: "\n", omittingEmptySubsequences: false) {
            if let match = line.prefixMatch(of: /(\d+)\. .+/) {
                step = Int(match.output.1) ?? 0
                continue
            }
            if line.isEmpty { continue }
            steps[step, default: []].append(line.trimmingCharacters(in: .whitespaces))
        }
        return steps
    }

    /// Runs the `strata` tool on the store.
    func strata(_ command: String, _ arguments: String...) throws -> BuiltProgram.Result {
        try BuiltProgram("strata").run([command, path] + arguments)
    }
}
