import ArgumentParser
import Foundation

@main
struct StrataBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "strata-bench", abstract: "Times Strata beside bare LMDB, and beside SQLite, in one run each.",
        subcommands: [
            Run.self, QueriesCommand.self, FormatsCommand.self, ContextsCommand.self, CatalogCommand.self,
            DesignCommand.self, ColdOpen.self,
        ],
        defaultSubcommand: Run.self)
}

struct Run: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Runs every workload and prints the table.")

    @Option(help: "Movies to insert; rounded down to tens of thousands.")
    var size = 1_000_000

    @Option(help: "Where the stores are made; they are removed afterwards.")
    var directory = FileManager.default.temporaryDirectory.path(percentEncoded: false)

    @Flag(help: "Writes the measurements as JSON instead of the table.")
    var json = false

    func validate() throws {
        guard size >= 10_000 else { throw ValidationError("--size must be at least 10000.") }
    }

    func run() throws {
        let place = URL(filePath: directory, directoryHint: .isDirectory)
            .appending(path: "strata-bench-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(
            at: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: place) }
        let results = try Workloads(size: size, directory: place).run()
        guard json else { return Table.print(results, size: size) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        FileHandle.standardOutput.write(try encoder.encode(results))
        print()
    }
}
