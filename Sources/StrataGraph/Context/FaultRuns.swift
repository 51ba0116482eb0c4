import StrataModel

/// Lists of objects that somebody may be going through, fetched or members of a to-many, so that their faults are read
/// several at a time: a read transaction costs a tenth of a fault or more, and one serves all of them.
///
/// The first two faults of a list are read one by one; from the second in a row on, each is read together with those that
/// follow it, 8, 16, 32 and then 64. Who looks at one object, or only at ids, reads nothing more.
struct FaultRuns {
    private struct Run {
        let ids: [ObjectID]
        /// The place that is expected to be asked for.
        var next = 0
        /// How many will be read with it; 0 as long as nothing was asked for.
        var length = 0
        var isBegun = false
    }

    /// As many walks may be nested.
    private static let limit = 4
    /// How far behind the expected place an object is looked for: those between may be in memory already.
    private static let reach = 4
    private static let (shortest, longest) = (8, 64)
    private var runs: [Run] = []
    private var oldest = 0

    /// Somebody was given these objects, in this order.
    mutating func begin(_ ids: [ObjectID]) {
        guard ids.count > 2 else { return }
        if runs.count < Self.limit { return runs.append(Run(ids: ids)) }
        runs[oldest] = Run(ids: ids)
        oldest = (oldest + 1) % Self.limit
    }

    /// Forgets the lists.
    mutating func removeAll() {
        runs.removeAll()
        oldest = 0
    }

    /// What is likely to be asked for after `id`, whose fault fires.
    mutating func following(_ id: ObjectID) -> ArraySlice<ObjectID> {
        for index in runs.indices {
            let run = runs[index]
            var place = run.next
            let end = min(run.ids.count, place + Self.reach)
            while place < end, run.ids[place] != id { place += 1 }
            guard place < end else { continue }
            guard run.isBegun else {
                runs[index].isBegun = true
                runs[index].next = place + 1
                return []
            }
            let length = run.length == 0 ? Self.shortest : min(Self.longest, run.length * 2)
            let last = min(run.ids.count, place + 1 + length)
            runs[index].length = length
            runs[index].next = last
            return run.ids[place + 1..<last]
        }
        return []
    }
}
