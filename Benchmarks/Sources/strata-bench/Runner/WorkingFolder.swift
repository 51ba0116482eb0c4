import ArgumentParser
import Foundation

/// Where a workload's stores are made, and how its report is written.
struct WorkingFolder: ParsableArguments {
    @Option(help: "Where the stores are made; they are removed afterwards.")
    var directory = FileManager.default.temporaryDirectory.path(percentEncoded: false)

    @Flag(help: "Writes the measurements as JSON instead of the table.")
    var json = false

    /// Runs a workload in a new folder, removes the folder, and prints the report.
    func run<Report: Encodable>(_ workload: (URL) throws -> Report, print table: (Report) -> Void) throws {
        let report = try Self.inside(directory, workload)
        guard json else { return table(report) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        FileHandle.standardOutput.write(try encoder.encode(report))
        print()
    }

    /// Runs `body` with a new folder, which it removes afterwards.
    static func inside<Result>(_ directory: String, _ body: (URL) throws -> Result) throws -> Result {
        let folder = URL(filePath: directory, directoryHint: .isDirectory)
            .appending(path: "strata-bench-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }
}
