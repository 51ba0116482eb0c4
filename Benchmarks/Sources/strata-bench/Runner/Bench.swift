import Foundation

/// Measures the lines of the table: peers take turns in every round, and must give the same answers.
final class Bench {
    let size: Int
    /// Only lines with this in their names are measured.
    let filter: String
    let rounds: Int
    /// How often the same workloads have run over the same stores before.
    let turn: Int
    private(set) var report: SizeReport

    init(size: Int, filter: String, rounds: Int, turn: Int = 0) {
        self.turn = turn
        self.size = size
        self.filter = filter.lowercased()
        self.rounds = rounds
        report = SizeReport(movies: size)
    }

    func isWanted(_ name: LineName) -> Bool { filter.isEmpty || name.rawValue.lowercased().contains(filter) }

    /// Random numbers, different in each turn.
    func random(seed: UInt64) -> Random { Random(seed: seed &+ UInt64(turn) &* 1_000_003) }

    /// Times rounds, after one that warms up and does not count.
    ///
    /// - Parameters:
    ///   - operations: how many operations a round has.
    ///   - warmsUp: false if a round is so long that its beginning does not matter.
    func compare(
        _ name: LineName, operations: Int, rounds: Int? = nil, warmsUp: Bool = true, _ contenders: [Contender],
        note: @escaping ([Peer: [Double]]) -> String? = { _ in nil }
    ) throws {
        let contest = Contest(name: name, operations: operations, contenders: contenders, note: note)
        try compareInTurns([contest], rounds: rounds, warmsUp: warmsUp)
    }

    /// Times several lines in turns, round by round, so that their times can be compared.
    func compareInTurns(_ contests: [Contest], rounds: Int? = nil, warmsUp: Bool = true) throws {
        let wanted = contests.filter { isWanted($0.name) }
        let rounds = rounds ?? self.rounds
        var times: [LineName: [Peer: [Double]]] = [:]
        for round in (warmsUp ? 0 : 1)...rounds {
            for contest in wanted {
                for (peer, time) in try run(contest, round) where round > 0 {
                    times[contest.name, default: [:]][peer, default: []].append(time)
                }
            }
        }
        for contest in wanted {
            let own = times[contest.name] ?? [:]
            add(
                contest.name, operations: contest.operations, rounds: rounds, contest.contenders.map(\.peer), own,
                note: contest.note(own))
        }
    }

    /// - Returns: how long each took for one operation, in nanoseconds.
    private func run(_ contest: Contest, _ round: Int) throws -> [Peer: Double] {
        var times: [Peer: Double] = [:]
        var answers: [(peer: Peer, answer: Int)] = []
        // Another peer begins each round, so that no peer always finds the same caches.
        for index in contest.contenders.indices {
            let contender = contest.contenders[(index + round) % contest.contenders.count]
            try contender.prepare(round)
            var answer = 0
            let time = try nanoseconds { answer = try contender.run(round) }
            times[contender.peer] = time / Double(contest.operations)
            answers.append((contender.peer, answer))
        }
        try Self.compare(answers, contest.name.rawValue)
        return times
    }

    /// - Throws: if two peers give different answers.
    static func compare<Answer: Equatable>(_ answers: [(peer: Peer, answer: Answer)], _ what: String) throws {
        guard let first = answers.first else { return }
        for other in answers where other.answer != first.answer {
            throw BenchError(
                "\(what): \(first.peer.rawValue) answers \(first.answer), \(other.peer.rawValue) \(other.answer).")
        }
    }

    /// Adds a line of times for one operation.
    ///
    /// - Parameter isWhole: whether the rounds are parts of one workload, whose mean counts.
    func add(
        _ name: LineName, operations: Int, rounds: Int, _ peers: [Peer], _ times: [Peer: [Double]],
        isWhole: Bool = false, memory: [Peer: Int] = [:], note: String? = nil
    ) {
        guard isWanted(name) else { return }
        func spread(_ values: [Double], _ whole: Double) -> Spread {
            isWhole ? Spread(whole: whole, parts: values) : Spread(values)
        }
        func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }
        let strata = times[.strata] ?? []
        let figures = peers.compactMap { peer -> Figure? in
            guard let own = times[peer], !own.isEmpty else { return nil }
            let ratios = zip(strata, own).map { $0 / $1 }
            let ratio = peer == .strata || ratios.isEmpty ? nil : spread(ratios, mean(strata) / mean(own))
            return Figure(peer: peer, time: spread(own, mean(own)), ratio: ratio, memoryBytes: memory[peer])
        }
        report.lines.append(Line(name: name, operations: operations, rounds: rounds, figures: figures, note: note))
        let all = figures.map { "\($0.peer.rawValue) \(Quantity.time($0.time.median))" }.joined(separator: ", ")
        FileHandle.standardError.write(Data("\(size) \(name.rawValue): \(all)\n".utf8))
    }

    func add(_ file: FileSize) { report.files.append(file) }

    func judge() { report.bars = Bar.all.compactMap { $0.result(report) } }
}

/// Runs a body and returns how long it took, in nanoseconds.
func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    let duration = ContinuousClock.now - start
    return Double(duration.components.seconds) * 1e9 + Double(duration.components.attoseconds) / 1e9
}

/// The median of several rounds.
func median(_ rounds: Int, _ body: (Int) throws -> Double) rethrows -> Double {
    var values: [Double] = []
    for round in 0..<rounds { values.append(try body(round)) }
    return values.sorted()[values.count / 2]
}
