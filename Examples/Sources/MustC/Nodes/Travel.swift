/// What is known of three nodes and the changes that travel between them: what each output shows.
struct Travel {
    struct Node {
        enum Condition: String { case starting, up, killed }

        let name: String
        var process: Int32 = 0
        var condition = Condition.starting
        /// The state that its list shows.
        var event: UInt64 = 0
        /// Once it was started again: the changes that it had missed, and when its list showed them after its start.
        var catchUp: (missed: Int, milliseconds: Double)?
    }

    struct Change {
        let sentence: String
        let node: Int
        /// The nodes that were up.
        let others: [Int]
        var transaction: UInt64 = 0
        var event: UInt64 = .max
        var begin: UInt64 = 0
        var saved: Double?
        /// When each node's list showed it, in milliseconds after the save began.
        var shown: [Int: Double] = [:]

        /// Whether every node that was up when it was saved shows it.
        var hasTravelled: Bool { saved != nil && others.allSatisfy { shown[$0] != nil } }
    }

    var nodes = ["A", "B", "C"].map { Node(name: $0) }
    var changes: [Change] = []
    /// How many changes there will be.
    let total: Int

    init(total: Int) { self.total = total }

    static func milliseconds(from begin: UInt64, to end: UInt64) -> Double {
        end < begin ? 0 : Double(end - begin) / 1_000_000
    }

    mutating func noteSave(_ transaction: UInt64, _ event: UInt64, from begin: UInt64, to end: UInt64) {
        guard let last = changes.indices.last else { return }
        changes[last].transaction = transaction
        changes[last].event = event
        changes[last].begin = begin
        changes[last].saved = Self.milliseconds(from: begin, to: end)
        nodes[changes[last].node].event = event
    }

    /// Notes that a node's list shows the state at an event.
    mutating func noteList(of node: Int, at event: UInt64, _ time: UInt64) {
        nodes[node].event = max(nodes[node].event, event)
        for index in changes.indices {
            let change = changes[index]
            guard change.event <= event, change.node != node, change.shown[node] == nil else { continue }
            changes[index].shown[node] = Self.milliseconds(from: change.begin, to: time)
        }
    }

    /// The times after which nodes that were up showed what others had saved, in order.
    var times: [Double] {
        changes.flatMap { change in change.others.compactMap { change.shown[$0] } }.sorted()
    }

    func time(atShare share: Double) -> Double {
        let times = times
        return times.isEmpty ? 0 : times[min(times.count - 1, Int(Double(times.count) * share))]
    }
}
