import ArgumentParser
import Foundation

/// `strata-bench run`, the default command.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs Strata beside bare LMDB, SQLite, GRDB and archives, and judges the bars.")

    @OptionGroup var options: MovieOptions

    @Option(
        help: "The peers to measure beside Strata, with commas between them, or none: \(Peer.others).",
        transform: Set.init(option:))
    var peers = Set(Peer.allCases)

    @Option(help: "How often each line is measured, after once to warm up.")
    var rounds = 7

    @OptionGroup var durability: StrataDurability

    /// In the order in which they run: the first fills the stores, the last but two closes them.
    static var workloads: [any Workload.Type] {
        [
            BulkInsert.self, RandomFaults.self, ColdMembers.self, HotReads.self, Hops.self, IndexedRanges.self,
            UnindexedCounts.self, Commits.self, Updates.self, Cascades.self, WholeStore.self, ColdOpen.self,
            History.self,
        ]
    }

    func validate() throws {
        guard rounds >= 1 else { throw ValidationError("--rounds must be at least 1.") }
    }

    func run() throws {
        var report = Report(machine: Machine())
        try WorkingFolder.inside(options.directory) { folder in
            for size in options.size.sorted() { report.sizes.append(try measure(size, folder)) }
        }
        guard try !options.write(report) else { return }
        print(ReportText(report: report, style: options.style).text, terminator: "")
    }

    private func measure(_ size: Int, _ folder: URL) throws -> SizeReport {
        let bench = Bench(size: size, filter: options.filter, rounds: rounds)
        let stores = try MovieStores(
            Movies(count: size), peers, in: folder.appending(path: "movies-\(size)", directoryHint: .isDirectory),
            durability: durability.value)
        for workload in Self.workloads {
            // The first workload fills the stores for all others.
            guard workload == BulkInsert.self || workload.lines.contains(where: bench.isWanted) else { continue }
            try workload.run(stores, bench)
            if let moment = workload.momentOfFiles { try FileSizes.measure(moment, stores, bench) }
        }
        try stores.remove()
        bench.judge()
        return bench.report
    }
}
