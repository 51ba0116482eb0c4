/// A figure that the project wants to reach, by medians of one run; all bars of the benchmarks are in this file.
struct Bar {
    enum Measure {
        /// Strata's time divided by a peer's.
        case ratio(LineName, Peer)
        /// Strata's nanoseconds for an operation.
        case time(LineName)
        /// Strata's memory.
        case memory(LineName)
        /// Operations a second.
        case rate(LineName)
        /// How many times the rate of another line.
        case speedUp(LineName, over: LineName)
        /// The size of Strata's file divided by that of a peer's.
        case file(Peer)
    }

    let measure: Measure
    let reach: Double
    let aim: Double?
    /// Stores of fewer movies are not judged: a small archive is read in no time.
    let leastSize: Int

    private init(_ measure: Measure, reach: Double, aim: Double? = nil, from leastSize: Int = 0) {
        self.measure = measure
        self.reach = reach
        self.aim = aim
        self.leastSize = leastSize
    }

    static let all: [Bar] = [
        Bar(.ratio(.insertObjects, .lmdb), reach: 1.6, aim: 1.0),
        Bar(.ratio(.insertObjects, .sqlite), reach: 0.85),
        Bar(.ratio(.insertObjects, .grdb), reach: 0.4),
        Bar(.ratio(.insertBatch, .lmdb), reach: 1.3, aim: 0.8),
        Bar(.ratio(.insertBatch, .sqlite), reach: 0.6),
        Bar(.ratio(.commit, .lmdb), reach: 1.4, aim: 1.1),
        Bar(.speedUp(.commitOfEight, over: .commit), reach: 3, aim: 6),
        Bar(.ratio(.fault, .lmdb), reach: 2.0, aim: 1.4),
        Bar(.ratio(.fault, .sqlite), reach: 1.0),
        Bar(.ratio(.fault, .grdb), reach: 0.1),
        Bar(.ratio(.membersCold, .lmdb), reach: 2.0, aim: 1.4),
        Bar(.ratio(.membersCold, .sqlite), reach: 1.0),
        Bar(.time(.membersHot), reach: 40, aim: 15),
        Bar(.time(.hop), reach: 40, aim: 15),
        Bar(.time(.scalar), reach: 5, aim: 1),
        Bar(.time(.text), reach: 20, aim: 12),
        Bar(.time(.set), reach: 5, aim: 2),
        Bar(.ratio(.range, .lmdb), reach: 2.0, aim: 1.4),
        Bar(.ratio(.range, .sqlite), reach: 1.0),
        Bar(.ratio(.count, .sqlite), reach: 1.5, aim: 0.8),
        Bar(.ratio(.update, .sqlite), reach: 0.8, aim: 0.5),
        Bar(.ratio(.update, .grdb), reach: 0.2),
        Bar(.time(.coldOpen), reach: 20e6, aim: 5e6),
        Bar(.memory(.coldOpen), reach: 20e6, aim: 8e6),
        Bar(.ratio(.coldOpen, .propertyList), reach: 0.01, aim: 0.001, from: 1_000_000),
        Bar(.ratio(.coldOpen, .json), reach: 0.01, aim: 0.001, from: 1_000_000),
        Bar(.rate(.rebuild), reach: 250_000, aim: 500_000),
        Bar(.file(.sqlite), reach: 4, aim: 2.5),
    ]

    /// The cost of an operation in the largest store divided by that in the smallest.
    static let growth = (reach: 2.0, aim: 1.5)

    /// Strata's time divided by SQLite's in every hot traversal of OO7 small.
    static let traversal = (reach: 1.0, aim: 0.1)

    /// Strata's time divided by SQLite's, if both have the same index, and if both scan.
    static let query = (indexed: 1.0, scan: 1.5)

    /// The result; nil if it was not measured.
    func result(_ report: SizeReport) -> BarResult? {
        guard report.movies >= leastSize else { return nil }
        switch measure {
        case .ratio(let name, let peer):
            guard let ratio = report.line(name)?.figure(peer)?.ratio else { return nil }
            return atMost(name.rawValue, ratio.median) { "\(Quantity.ratio($0)) x \(peer.rawValue)" }
        case .time(let name):
            guard let time = report.line(name)?.strata?.time else { return nil }
            return atMost(name.rawValue, time.median, Quantity.time)
        case .memory(let name):
            guard let bytes = report.line(name)?.strata?.memoryBytes else { return nil }
            return atMost("\(name.rawValue): memory", Double(bytes)) { Quantity.bytes(Int($0)) }
        case .rate(let name):
            guard let time = report.line(name)?.strata?.time else { return nil }
            return atLeast(name.rawValue, 1e9 / time.median) { "\(Quantity.count(Int($0))) a second" }
        case .speedUp(let name, let slower):
            guard let fast = report.line(name)?.strata?.time, let slow = report.line(slower)?.strata?.time
            else { return nil }
            return atLeast(name.rawValue, slow.median / fast.median) { "\(Quantity.ratio($0)) x the rate of one" }
        case .file(let peer):
            guard let own = report.files.first(where: { $0.what == Peer.strata.rawValue }),
                let other = report.files.first(where: { $0.what == peer.rawValue && $0.moment == own.moment })
            else { return nil }
            return atMost("file \(own.moment)", Double(own.bytes) / Double(other.bytes)) {
                "\(Quantity.ratio($0)) x \(peer.rawValue)"
            }
        }
    }

    private func atMost(_ name: String, _ value: Double, _ text: (Double) -> String) -> BarResult {
        result(name, value, text, isReached: value <= reach)
    }

    private func atLeast(_ name: String, _ value: Double, _ text: (Double) -> String) -> BarResult {
        result(name, value, text, isReached: value >= reach)
    }

    private func result(
        _ name: String, _ value: Double, _ text: (Double) -> String, isReached: Bool
    ) -> BarResult {
        BarResult(
            name: name, reach: text(reach), aim: aim.map(text), value: value, text: text(value), isReached: isReached)
    }
}
