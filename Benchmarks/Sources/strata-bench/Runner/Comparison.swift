import Foundation

/// The times of two builds, taken in turns, and their ratios.
struct Comparison {
    /// A benchmark whose JSON has Strata's own times.
    enum Benchmark: String, CaseIterable {
        case run, queries, oo1, oo7

        static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
    }

    /// What one process of either build measures.
    struct Part {
        let benchmark: Benchmark
        /// The size of the stores, where lines have one.
        let movies: Int?
        let arguments: [String]

        init(_ benchmark: Benchmark, movies: Int? = nil, _ arguments: [String]) {
            self.benchmark = benchmark
            self.movies = movies
            self.arguments = arguments
        }
    }

    /// A line of the table, with the nanoseconds of an operation in each turn.
    private struct Line {
        let part: Int
        let name: String
        var old: [Double] = []
        var new: [Double] = []

        /// The ratios of the turns; of an even number the median is between the middle two.
        var ratio: Spread {
            let ratios = zip(new, old).map { $0 / $1 }.sorted()
            let median = (ratios[(ratios.count - 1) / 2] + ratios[ratios.count / 2]) / 2
            return Spread(whole: median, parts: ratios)
        }
    }

    private let old: URL
    private let new: URL
    private let mark: Double
    private var parts: [Part] = []
    private var lines: [Line] = []
    /// Turns so far: each begins with the build that came last in the turn before.
    private var turnCount = 0

    init(old: URL, new: URL, mark: Double) {
        self.old = old
        self.new = new
        self.mark = mark
    }

    /// Runs a part of the benchmarks on both builds, turn by turn, and adds what they measure.
    mutating func measure(_ part: Part, turns: Int) throws {
        let index = index(of: part) ?? parts.count
        if index == parts.count { parts.append(part) }
        for _ in 0..<turns {
            let oldComesFirst = turnCount % 2 == 0
            turnCount += 1
            let first = try Self.times(part, oldComesFirst ? old : new)
            let second = try Self.times(part, oldComesFirst ? new : old)
            for (name, time) in first {
                guard let other = second.first(where: { $0.name == name })?.time else { continue }
                let line = lines.firstIndex { $0.part == index && $0.name == name } ?? lines.count
                if line == lines.count { lines.append(Line(part: index, name: name)) }
                lines[line].old.append(oldComesFirst ? time : other)
                lines[line].new.append(oldComesFirst ? other : time)
            }
        }
        for line in lines where line.part == index {
            FileHandle.standardError.write(Data("\(title(line)): \(Quantity.ratio(line.ratio))\n".utf8))
        }
    }

    /// Whether a line of the part is above the mark.
    func isMarked(_ part: Part) -> Bool {
        lines.contains { $0.part == index(of: part) && $0.ratio.median > mark }
    }

    var table: String {
        var table = TextTable(["", "movies", "old", "new", "new / old", "turns", ""])
        for line in lines {
            let movies = parts[line.part].movies.map(Quantity.count) ?? ""
            table.add([
                line.name, movies, Quantity.time(Spread(line.old).median), Quantity.time(Spread(line.new).median),
                Quantity.ratio(line.ratio), "\(line.old.count)", line.ratio.median > mark ? "**slower**" : "",
            ])
        }
        return table.text(.markdown)
    }

    /// How many lines are above the mark.
    var summary: String {
        let slower = lines.filter { $0.ratio.median > mark }.count
        let percent = String(format: "%.0f", (mark - 1) * 100)
        return
            "\(slower) of \(lines.count) lines slower by more than \(percent) %; ratios are medians of the turns, with "
            + "the middle half of them."
    }

    private func index(of part: Part) -> Int? { parts.firstIndex { $0.arguments == part.arguments } }

    private func title(_ line: Line) -> String {
        (parts[line.part].movies.map { "\($0) " } ?? "") + line.name
    }
}

// MARK: - What a build prints

extension Comparison {
    /// Strata's nanoseconds for an operation, by the names of lines.
    private static func times(_ part: Part, _ program: URL) throws -> [(name: String, time: Double)] {
        switch part.benchmark {
        case .run:
            let report: RunOutput = try ChildProgram.run(part.arguments, of: program)
            return report.sizes.flatMap(\.lines).compactMap { line in
                line.figures.first { $0.peer == Peer.strata.rawValue }.map { (line.name, $0.time.median) }
            }
        case .queries:
            let results: [String: [QueryOutput]] = try ChildProgram.run(part.arguments, of: program)
            return results.values.flatMap { $0 }.map { ($0.query, $0.strata) }
        case .oo1:
            let report: CatalogOutput = try ChildProgram.run(part.arguments, of: program)
            return report.results.flatMap {
                [("OO1 \($0.measure), cold", $0.strataCold), ("OO1 \($0.measure), warm", $0.strataWarm)]
            }
        case .oo7:
            let report: DesignOutput = try ChildProgram.run(part.arguments, of: program)
            return report.results.flatMap {
                [("OO7 \($0.operation), cold", $0.strataCold), ("OO7 \($0.operation), hot", $0.strataHot)]
            }
        }
    }

    // Only what is needed of each report: the other build may be older, with lines of other names.

    private struct RunOutput: Decodable {
        struct Size: Decodable { let lines: [Line] }
        struct Line: Decodable {
            let name: String
            let figures: [Figure]
        }
        struct Figure: Decodable {
            let peer: String
            let time: Time
        }
        struct Time: Decodable { let median: Double }
        let sizes: [Size]
    }

    private struct QueryOutput: Decodable {
        let query: String
        let strata: Double
    }

    private struct CatalogOutput: Decodable {
        struct Result: Decodable {
            let measure: String
            let strataCold, strataWarm: Double
        }
        let results: [Result]
    }

    private struct DesignOutput: Decodable {
        struct Result: Decodable {
            let operation: String
            let strataCold, strataHot: Double
        }
        let results: [Result]
    }
}
