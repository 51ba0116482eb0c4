import ArgumentParser
import Foundation

/// `strata-bench compare OLD NEW`: what Strata's own times are in one build by those in another.
///
/// Builds of two versions cannot run in one process, and a machine that others use differs more by the hour than two
/// versions do. So the builds run line by line in turns that lie seconds apart, and each turn gives one ratio.
struct CompareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Runs two builds of strata-bench in turns, and prints a Markdown table of their ratios.",
        discussion: """
            OLD and NEW are programs, such as .build/release/strata-bench of two checkouts. A line above the mark is \
            measured again, to tell a change from chance.
            """)

    @Argument(help: "The program of the build to compare with.")
    var old: String

    @Argument(help: "The program of the build that is judged.")
    var new: String

    @Option(help: "Numbers of movies, with commas between them.", transform: MovieOptions.sizes)
    var size = [10_000, 1_000_000]

    @Option(
        help: "Which benchmarks to run, with commas between them: \(Comparison.Benchmark.names).",
        transform: { text in
            try text.split(separator: ",").map { name in
                guard let benchmark = Comparison.Benchmark(rawValue: String(name)) else {
                    throw ValidationError("There is no benchmark '\(name)'; there are \(Comparison.Benchmark.names).")
                }
                return benchmark
            }
        })
    var benchmarks = Comparison.Benchmark.allCases

    @Option(help: "Measures only the lines of `run` and `queries` whose names contain this.")
    var filter = ""

    @Option(help: "How often each build has its turn with each line.")
    var turns = 5

    @Option(help: "How often `run` measures each line in a turn, after once to warm up.")
    var rounds = 3

    @Option(help: "The ratio above which a line is marked.")
    var mark = 1.03

    @Option(help: "How often a line above the mark gets all its turns again.")
    var repeats = 2

    @Option(help: "Where the stores are made; they are removed afterwards.")
    var directory = FileManager.default.temporaryDirectory.path(percentEncoded: false)

    func validate() throws {
        guard turns >= 1, rounds >= 1, repeats >= 0 else {
            throw ValidationError("--turns and --rounds must be at least 1, and --repeats at least 0.")
        }
        for program in [old, new] where !FileManager.default.isExecutableFile(atPath: program) {
            throw ValidationError("There is no program at \(program).")
        }
    }

    func run() throws {
        var comparison = Comparison(old: URL(filePath: old), new: URL(filePath: new), mark: mark)
        for part in parts {
            try comparison.measure(part, turns: turns)
            for _ in 0..<repeats where comparison.isMarked(part) { try comparison.measure(part, turns: turns) }
        }
        print("\(Machine().text)\n\n\(comparison.table)\n\n\(comparison.summary)")
    }

    private var parts: [Comparison.Part] {
        benchmarks.flatMap { benchmark -> [Comparison.Part] in
            switch benchmark {
            case .run:
                size.flatMap { size in
                    Self.filters(filter).map {
                        Comparison.Part(
                            benchmark, movies: size,
                            ["run", "--size", "\(size)", "--filter", $0, "--peers", "none", "--rounds", "\(rounds)"]
                                + ["--json", "-", "--directory", directory])
                    }
                }
            case .queries:
                size.map {
                    Comparison.Part(
                        benchmark, movies: $0,
                        ["queries", "--sizes", "\($0)", "--only", filter, "--json", "--directory", directory])
                }
            case .oo1, .oo7:
                [Comparison.Part(benchmark, [benchmark.rawValue, "--json", "--directory", directory])]
            }
        }
    }

    /// What to pass as `--filter`, one after the other, so that each wanted line is measured once.
    ///
    /// Each run fills stores anew, so lines of one workload that share a word are measured in one run.
    private static func filters(_ filter: String) -> [String] {
        let shared = ["insert", "hot", "durable", "per event", "commits behind", "per change"]
        let wanted = LineName.allCases.map(\.rawValue).filter {
            filter.isEmpty || $0.lowercased().contains(filter.lowercased())
        }
        guard filter.isEmpty else { return wanted.isEmpty ? [] : [filter] }
        let alone = wanted.filter { name in !shared.contains { name.contains($0) } }
        return shared + alone
    }
}
