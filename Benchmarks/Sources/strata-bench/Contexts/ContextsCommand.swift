import ArgumentParser
import Foundation

/// `strata-bench contexts`: the cost of long-lived contexts that idle, lag behind, merge, and save at once.
struct ContextsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contexts", abstract: "Times contexts that idle, lag behind, merge, and save at once.")

    @Option(help: "Movies in the store whose commits a context lags behind.")
    var size = 1_000_000

    @Option(help: "Commits while the context is idle.")
    var commits = 100_000

    @Option(help: "Seconds of durable saves, by one writer and then by eight.")
    var seconds = 3.0

    @Option(help: "Runs only these: growth, merging, following, results, writers, behind.")
    var only: [String] = []

    @Option(help: "Where the stores are made; they are removed afterwards.")
    var directory = FileManager.default.temporaryDirectory.path(percentEncoded: false)

    func run() throws { try WorkingFolder.inside(directory, run(in:)) }

    private func run(in folder: URL) throws {
        let workloads = ContextWorkloads(directory: folder)
        print("\nContexts that live long\n")
        func isWanted(_ name: String) -> Bool { only.isEmpty || only.contains(name) }
        if isWanted("growth") { try workloads.growth(commits: commits) }
        if isWanted("merging") { try workloads.merging() }
        if isWanted("following") { try workloads.following() }
        if isWanted("results") { try workloads.results() }
        if isWanted("writers") { try workloads.writers(seconds: seconds) }
        if isWanted("behind") { try workloads.behind(size: size) }
    }
}
