import ArgumentParser
import Foundation

/// `strata-bench growth`: what an operation costs in stores of several sizes, which take turns.
///
/// The speed of a shared machine differs more from hour to hour than operations do from size to size. So the times that
/// are compared are measured seconds apart.
struct GrowthCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "growth", abstract: "Measures what operations cost in stores of several sizes, in turns.")

    @OptionGroup var options: MovieOptions

    @Option(
        help: "The peers to measure beside Strata, with commas between them, or none: \(Peer.others).",
        transform: Set.init(option:))
    var peers: Set<Peer> = [.strata]

    @Option(help: "How often each size has its turn.")
    var turns = 3

    @Option(help: "How often each line is measured in a turn, after once to warm up.")
    var rounds = 3

    func validate() throws {
        guard rounds >= 1, turns >= 1 else { throw ValidationError("--rounds and --turns must be at least 1.") }
        guard options.size.count > 1 else { throw ValidationError("Growth needs two sizes at least.") }
        let bench = Bench(size: 0, filter: options.filter, rounds: rounds)
        guard LineName.allCases.contains(where: { $0.isPerOperation && bench.isWanted($0) }) else {
            throw ValidationError("No line that grows with a store has '\(options.filter)' in its name.")
        }
    }

    func run() throws {
        var report = GrowthReport(machine: Machine(), turns: [])
        try WorkingFolder.inside(options.directory) { report.turns = try measure($0) }
        guard try !options.write(report) else { return }
        let table = GrowthTable(turns: report.turns)?.text(options.style) ?? ""
        print([report.machine.text, table].joined(separator: "\n\n"))
    }

    private func measure(_ folder: URL) throws -> [[SizeReport]] {
        let sizes = options.size.sorted()
        var stores = try sizes.map { try makeStores($0, folder) }
        var reports = Array(repeating: sizes.map { SizeReport(movies: $0) }, count: turns)
        for workload in RunCommand.workloads {
            let wanted = Bench(size: 0, filter: options.filter, rounds: rounds)
            let isMeasured = workload.lines.contains { $0.isPerOperation && wanted.isWanted($0) }
            let fills = workload == BulkInsert.self
            guard isMeasured || fills else { continue }
            for turn in 0..<(isMeasured ? turns : 1) {
                for index in turn % 2 == 0 ? Array(sizes.indices) : sizes.indices.reversed() {
                    if fills, turn > 0 {
                        try stores[index].remove()
                        stores[index] = try makeStores(sizes[index], folder)
                    }
                    let bench = Bench(size: sizes[index], filter: options.filter, rounds: rounds, turn: turn)
                    try workload.run(stores[index], bench)
                    reports[turn][index].lines += bench.report.lines
                }
            }
        }
        for store in stores { try store.remove() }
        return reports
    }

    private func makeStores(_ size: Int, _ folder: URL) throws -> MovieStores {
        try MovieStores(
            Movies(count: size), peers, in: folder.appending(path: "movies-\(size)", directoryHint: .isDirectory))
    }
}

/// The JSON of `growth`: the sizes in ascending order, in each turn.
struct GrowthReport: Codable {
    let machine: Machine
    var turns: [[SizeReport]]
}
