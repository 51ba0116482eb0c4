import LMDB
import StrataModel

/// The objects that one part of a full-text query finds, and how often a phrase occurs in each.
final class TextMatches {
    let set: TextGroupSet
    private let counts: Counts
    /// The index of the group that was looked for last.
    private var index = 0

    private enum Counts {
        case none
        case word(TextWordList)
        /// The index at which the counts of each group begin, and a count for each object.
        case list([Int], [UInt32])
    }

    init(_ set: TextGroupSet) {
        self.set = set
        counts = .none
    }

    init(_ word: TextWordList) {
        set = word.matches
        counts = .word(word)
    }

    init(_ set: TextGroupSet, starts: [Int], _ counts: [UInt32]) {
        self.set = set
        self.counts = .list(starts, counts)
    }

    /// Moves to a group; groups come in order. False if it has no objects there.
    @inline(__always)
    func move(to group: UInt64) -> Bool {
        while index < set.groups.count, set.groups[index] < group { index += 1 }
        return index < set.groups.count && set.groups[index] == group
    }

    /// The number of times that the phrase occurs in an object of the current group; 0 if the object does not match.
    @inline(__always)
    func count(_ member: UInt8) -> Int {
        guard set.bits[index].contains(member) else { return 0 }
        switch counts {
        case .none: return 0
        case .word(let list): return list.frequency(index, member)
        case .list(let starts, let counts): return Int(counts[starts[index] + set.bits[index].rank(of: member)])
        }
    }

    @inline(__always)
    func contains(_ member: UInt8) -> Bool { set.bits[index].contains(member) }
}

/// Makes a `TextMatches`, group by group.
struct TextDocsBuilder {
    private var set = TextGroupSet()
    private var starts: [Int] = []
    private var counts: [UInt32] = []

    /// Adds the objects of a group, which come in order with their counts.
    mutating func append(_ group: UInt64, _ members: GroupBits, _ counts: [UInt32]) {
        if members.isEmpty { return }
        set.append(group, members)
        starts.append(self.counts.count)
        self.counts += counts
    }

    func finish() -> TextMatches { TextMatches(set, starts: starts, counts) }
}
