import StrataModel

/// Lists of objects that the app may be walking through, fetched or members of a to-many. Their faults are read several
/// at a time: a read transaction costs a tenth of a fault or more, and one serves all of them.
///
/// The first fault of a fetched list is read by itself; from the second in a row on, each is read together with those
/// that follow it, 8, 16, 32 and then 64. A walk through a to-many wants its members, so there the first is read with
/// 16 already. Reading one fetched object, or only ids, reads nothing more.
///
/// A list is kept until its end is read, four others were given out since, or the context is reset. Lists of more than
/// `longestList` ids, half a megabyte, are not kept: their faults are read one by one.
struct FaultRuns {
    private struct Run {
        var ids: [ObjectID]
        /// The index in `ids` that is expected to be asked for.
        var next: Int
        /// The number of faults that were read with the last one.
        var length: Int
        /// Whether the next fault is read with others.
        var isBegun: Bool

        /// The index of the object, if it is about to be asked for.
        func index(of id: ObjectID) -> Int? {
            let end = min(ids.count, next + FaultRuns.reach)
            var index = next
            while index < end {
                if ids[index] == id { return index }
                index += 1
            }
            return nil
        }

        /// The indices to read with the object at `index`.
        mutating func following(_ index: Int) -> Range<Int> {
            guard isBegun else {
                isBegun = true
                next = index + 1
                return next..<next
            }
            length = max(FaultRuns.shortest, min(FaultRuns.longest, length * 2))
            next = min(ids.count, index + 1 + length)
            return index + 1..<next
        }
    }

    static let longestList = 1 << 16
    /// The largest number of lists that are kept, and so of nested walks.
    private static var limit: Int { 4 }
    /// The number of ids after the expected one that are searched for an object: objects in between may be in memory
    /// already.
    private static var reach: Int { 4 }
    private static var shortest: Int { 8 }
    private static var longest: Int { 64 }
    /// At most `limit`; those that ended have no ids.
    private var runs: [Run] = []
    /// The index of the oldest when there are `limit`.
    private var oldest = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// Notes that the app got these objects, in this order.
    mutating func begin(_ ids: [ObjectID]) {
        if ids.count > 2 { keep(Run(ids: ids, next: 0, length: 0, isBegun: false)) }
    }

    /// The app walks through these members and meets the first fault at `index`.
    mutating func begin(_ members: [ObjectID], from index: Int) {
        if members.count - index > 1 { keep(Run(ids: members, next: index, length: Self.shortest, isBegun: true)) }
    }

    private mutating func keep(_ run: Run) {
        guard run.ids.count <= Self.longestList else { return }
        count += 1
        guard runs.count == Self.limit else { return runs.append(run) }
        if !runs[oldest].ids.isEmpty { count -= 1 }
        runs[oldest] = run
        oldest = (oldest + 1) % Self.limit
    }

    /// Forgets the lists.
    mutating func removeAll() { self = FaultRuns() }

    /// The ids that are likely to be asked for after `id`, whose fault fires.
    mutating func following(_ id: ObjectID) -> ArraySlice<ObjectID> {
        for run in runs.indices {
            guard let index = runs[run].index(of: id) else { continue }
            let range = runs[run].following(index)
            let ids = runs[run].ids
            if runs[run].next == ids.count {
                runs[run].ids = []
                count -= 1
            }
            return ids[range]
        }
        return []
    }
}
