import Foundation

/// A run of three nodes.
final class ThreeNodesRun {
    private let root: URL
    private let log: String
    private let pause: TimeInterval
    private let plan: [MovieChange]
    private let inbox = NodeInbox()
    private var processes: [NodeProcess?] = [nil, nil, nil]
    private var travel: Travel
    private var output: any TravelOutput
    /// Everything that each node shows, at the end.
    private var endings: [Int: (movies: [String], transaction: UInt64)] = [:]

    /// The node that is killed and started again.
    private let victim = 1
    /// How long one step may take.
    private static let limit: TimeInterval = 20

    /// Why a run has failed.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    init(
        _ root: URL, log: String, fixtures: String, changes: Int, pause: TimeInterval, output: any TravelOutput
    ) {
        self.root = root
        self.log = log
        self.pause = pause
        self.output = output
        plan = MovieChange.plan(changes, fixtures: fixtures)
        travel = Travel(total: changes)
    }

    func run() throws {
        try start(0)
        try wait(for: "A to open its store") { $0.nodes[0].condition == .up }
        for node in 1...2 { try start(node) }
        try wait(for: "B and C to open their stores") { $0.nodes.allSatisfy { $0.condition == .up } }
        let (death, birth) = (plan.count / 3, plan.count * 2 / 3)
        for (number, change) in plan.enumerated() {
            if number == death { killVictim() }
            if number == birth { try start(victim) }
            let up = travel.nodes.indices.filter { travel.nodes[$0].condition == .up }
            try make(change, on: up[number % up.count], others: up)
            try follow(until: Date(timeIntervalSinceNow: pause))
        }
        let last = travel.changes.last?.event ?? 0
        try wait(for: "all nodes to show the last change") { $0.nodes.allSatisfy { $0.event >= last } }
        try end()
    }

    private func make(_ change: MovieChange, on node: Int, others: [Int]) throws {
        travel.changes.append(
            .init(sentence: change.sentence, node: node, others: others.filter { $0 != node }))
        output.show(travel)
        try processes[node]?.order(.change(change))
        try wait(for: "every node to show that \(change.sentence)") { $0.changes.last?.hasTravelled == true }
    }

    private func end() throws {
        for process in processes { try process?.order(.tell) }
        let end = Date(timeIntervalSinceNow: Self.limit)
        while endings.count < processes.count { try takeNext(until: end, for: "the nodes to tell what they show") }
        for process in processes { try process?.end() }
        let isSame = endings.values.allSatisfy { $0 == endings[0] ?? ([], 0) }
        guard isSame else { throw Failure(description: "The nodes differ at the end: \(endings)") }
        try output.end(TravelResult(travel, killed: victim, movies: endings[0]?.movies ?? [], isSame: isSame))
    }

    // MARK: Nodes

    private func start(_ node: Int) throws {
        let name = travel.nodes[node].name
        let process = try NodeProcess(
            node, named: name, store: root.appending(path: "\(name).strata"), log: log, reportingTo: inbox)
        processes[node] = process
        travel.nodes[node].process = process.number
        travel.nodes[node].condition = .starting
        started[node] = NodeReport.now
        output.show(travel)
    }

    /// When each node was started.
    private var started: [Int: UInt64] = [:]

    private func killVictim() {
        processes[victim]?.kill()
        processes[victim] = nil
        travel.nodes[victim].condition = .killed
        output.say("\(travel.nodes[victim].name) was killed (SIGKILL)")
        output.show(travel)
    }

    // MARK: Reports

    /// Takes reports until something is so.
    private func wait(for what: String, _ isSo: (Travel) -> Bool) throws {
        let end = Date(timeIntervalSinceNow: Self.limit)
        while !isSo(travel) { try takeNext(until: end, for: what) }
    }

    /// Takes reports for a while.
    private func follow(until end: Date) throws {
        while let entry = inbox.next(until: end) { try take(entry) }
    }

    private func takeNext(until end: Date, for what: String) throws {
        guard let entry = inbox.next(until: end) else {
            throw Failure(description: "After \(Int(Self.limit)) seconds there is still nothing of this: \(what).")
        }
        try take(entry)
    }

    private func take(_ entry: NodeInbox.Entry) throws {
        // A node that was killed may have reported before.
        guard entry.process == processes[entry.node]?.number else { return }
        let name = travel.nodes[entry.node].name
        switch entry.report {
        case .ready(let event, let time): noteReady(entry.node, event, time)
        case .saved(let transaction, let event, let begin, let end):
            travel.noteSave(transaction, event, from: begin, to: end)
            // The others may have shown it before the save had returned.
            for (node, report) in early { travel.noteList(of: node, at: report.event, report.time) }
            early = []
        case .shows(let event, let time):
            if travel.changes.last?.saved == nil { early.append((entry.node, (event, time))) }
            travel.noteList(of: entry.node, at: event, time)
        case .all(let movies, let transaction): endings[entry.node] = (movies, transaction)
        case .failed(let reason): throw Failure(description: "Node \(name) has failed: \(reason)")
        case nil: throw Failure(description: "Node \(name) has ended.")
        }
        output.show(travel)
    }

    /// What lists showed while a save was under way.
    private var early: [(node: Int, report: (event: UInt64, time: UInt64))] = []

    private func noteReady(_ node: Int, _ event: UInt64, _ time: UInt64) {
        let missed = travel.changes.count { $0.event <= event && $0.node != node && $0.shown[node] == nil }
        travel.nodes[node].condition = .up
        travel.noteList(of: node, at: event, time)
        guard node == victim, missed > 0 else { return }
        let milliseconds = Travel.milliseconds(from: started[node] ?? time, to: time)
        travel.nodes[node].catchUp = (missed, milliseconds)
        output.say(
            "\(travel.nodes[node].name) was started again and had the \(missed) changes that it missed after "
                + TravelText.time(milliseconds))
    }
}

extension MovieChange {
    private static let titles = [
        "Dune", "Heidi", "Paddington", "Spirited Away", "Paper Moon", "The Kid", "Mary Poppins", "Kes", "Amélie",
        "Chicken Run",
    ]
    private static let members = ["Anna", "Ben", "Cleo"]

    /// So many changes: the family first, then movies that are added, given away and deleted.
    static func plan(_ count: Int, fixtures: String) -> [MovieChange] {
        var plan: [MovieChange] = [.plant(fixtures: fixtures)]
        var added: [String] = []
        while plan.count < count {
            let member = members[plan.count % members.count]
            switch plan.count % 4 {
            case 1, 3:
                let (round, number) = added.count.quotientAndRemainder(dividingBy: titles.count)
                added.append(titles[number] + (round == 0 ? "" : " \(round + 1)"))
                plan.append(.add(added[added.count - 1], member: member))
            case 2: plan.append(.give(added[added.count - 1], member: member))
            default: plan.append(.delete(added[added.count - 2]))
            }
        }
        return plan
    }
}
