import StrataModel

/// The difference between two lists of results, by indexes in the whole lists.
struct ResultsChange: Sendable {
    struct Move: Sendable {
        let id: ObjectID
        let old: Int
        let new: Int
    }

    struct Item: Sendable {
        let id: ObjectID
        let index: Int
    }

    let before: ResultsState
    let after: ResultsState
    /// Sorted by their old index.
    var deletions: [Item] = []
    /// Sorted by their new index, as are the moves and updates.
    var insertions: [Item] = []
    var moves: [Move] = []
    var updates: [Move] = []
    var deletedSections: [Int] = []
    var insertedSections: [Int] = []

    var isEmpty: Bool {
        deletions.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty && deletedSections.isEmpty
            && insertedSections.isEmpty
    }
}

/// A list of results and its sections.
struct ResultsState: Sendable {
    var list = IdentifierList()
    var sections = SectionList()
}

/// Makes the difference between two lists of results from what is known of single objects.
///
/// Objects that stay keep their relative order. All others are removed and inserted again: `removed` has their old
/// indexes, `placed` their new positions in the new order, as numbers of staying objects before them.
struct ChangeBuilder {
    struct Placed {
        let id: ObjectID
        /// The number of staying objects before it.
        let gap: Int
        let section: String
        /// Its old index; nil for a new object.
        let old: Int?
    }

    let before: ResultsState
    let isSectioned: Bool
    /// Sorted by their old index.
    let removed: [ResultsChange.Item]
    let placed: [Placed]
    /// The objects whose values have changed.
    let updated: Set<ObjectID>
    /// The updated objects that stay, with their old indexes.
    let stayingUpdates: [ResultsChange.Item]

    func build() -> ResultsChange {
        let list = before.list.applying(
            removing: removed.map(\.index), inserting: placed.map { .init(gap: $0.gap, id: $0.id) })
        var walk = SectionWalk(before.sections, removed.map(\.index), placed, isSectioned)
        walk.run()
        var change = ResultsChange(before: before, after: ResultsState(list: list, sections: walk.sections))
        change.deletedSections = walk.deletedSections
        change.insertedSections = walk.labels.indices.filter { walk.labels[$0] == nil }
        let placedIDs = Set(placed.map(\.id))
        change.deletions = removed.filter { !placedIDs.contains($0.id) }
        let still = unmoved(walk)
        for (number, object) in placed.enumerated() {
            let new = object.gap + number
            if let old = object.old {
                let move = ResultsChange.Move(id: object.id, old: old, new: new)
                if !still.contains(number) {
                    change.moves.append(move)
                } else if updated.contains(object.id) {
                    change.updates.append(move)
                }
            } else {
                change.insertions.append(.init(id: object.id, index: new))
            }
        }
        for object in stayingUpdates {
            let staying = object.index - removedCount(before: object.index)
            let new = staying + placed.partitionPoint { $0.gap <= staying }
            change.updates.append(.init(id: object.id, old: object.index, new: new))
        }
        change.updates.sort { $0.new < $1.new }
        return change
    }

    /// Indexes in `placed` of objects that have not moved: they are between the same staying objects, in the same
    /// section, and in the same relative order.
    private func unmoved(_ walk: SectionWalk) -> Set<Int> {
        var still: Set<Int> = []
        var group: [(number: Int, old: Int)] = []
        var gap = -1
        func close() { still.formUnion(Self.longestAscending(group)) }
        for (number, object) in placed.enumerated() {
            if object.gap != gap {
                close()
                group = []
                gap = object.gap
            }
            guard let old = object.old, old - removedCount(before: old) == object.gap,
                walk.labels[walk.sectionOfPlaced[number]] == before.sections.section(of: old)
            else { continue }
            group.append((number, old))
        }
        close()
        return still
    }

    /// The numbers of the longest subsequence whose old indexes ascend.
    static func longestAscending(_ group: [(number: Int, old: Int)]) -> [Int] {
        guard group.count > 1 else { return group.map(\.number) }
        var tails: [Int] = []
        var previous = [Int](repeating: -1, count: group.count)
        for index in group.indices {
            let length = tails.partitionPoint { group[$0].old < group[index].old }
            if length > 0 { previous[index] = tails[length - 1] }
            if length == tails.count { tails.append(index) } else { tails[length] = index }
        }
        var found: [Int] = []
        var next = tails.last ?? -1
        while next >= 0 {
            found.append(group[next].number)
            next = previous[next]
        }
        return found
    }

    private func removedCount(before index: Int) -> Int { removed.partitionPoint { $0.index < index } }
}

/// Makes the sections of the new list. Runs of staying objects keep their section. Placed objects join a neighbouring
/// section of the same name, or begin a new one.
struct SectionWalk {
    private let old: SectionList
    private let removed: [Int]
    private let placed: [ChangeBuilder.Placed]
    private let isSectioned: Bool
    private(set) var sections = SectionList()
    /// The old index of each section of the new list; nil for a new section.
    private(set) var labels: [Int?] = []
    private(set) var sectionOfPlaced: [Int] = []
    private(set) var deletedSections: [Int] = []
    private var count = 0

    init(_ old: SectionList, _ removed: [Int], _ placed: [ChangeBuilder.Placed], _ isSectioned: Bool) {
        self.old = old
        self.removed = removed
        self.placed = placed
        self.isSectioned = isSectioned
    }

    mutating func run() {
        guard isSectioned else {
            sections = SectionList(single: (old.ends.last ?? 0) - removed.count + placed.count)
            labels = [old.count == 0 ? nil : 0]
            sectionOfPlaced = placed.map { _ in 0 }
            return
        }
        var emptied: [String: Int] = [:]
        var removal = 0
        var next = 0
        var stayed = 0
        for section in 0..<old.count {
            let range = old.range(section)
            let first = removal
            while removal < removed.count, removed[removal] < range.upperBound { removal += 1 }
            let staying = range.count - (removal - first)
            guard staying > 0 else {
                emptied[old.names[section]] = section
                continue
            }
            while next < placed.count, placed[next].gap <= stayed { place(&next) }
            join(old.names[section], section, 0)
            var inside = 0
            while next < placed.count, placed[next].gap < stayed + staying {
                inside += 1
                sectionOfPlaced.append(sections.count - 1)
                next += 1
            }
            join(old.names[section], section, staying + inside)
            stayed += staying
        }
        while next < placed.count { place(&next) }
        adopt(emptied)
        let kept = Set(labels.compactMap { $0 })
        deletedSections = (0..<old.count).filter { !kept.contains($0) }
    }

    private mutating func place(_ next: inout Int) {
        let name = placed[next].section
        if sections.names.last != name { begin(name, nil) }
        extend(1)
        sectionOfPlaced.append(sections.count - 1)
        next += 1
    }

    private mutating func join(_ name: String, _ label: Int, _ number: Int) {
        if sections.names.last == name, labels[labels.count - 1] ?? label == label {
            // Placed objects before the run may have begun the section already.
            labels[labels.count - 1] = label
        } else {
            begin(name, label)
        }
        extend(number)
    }

    private mutating func begin(_ name: String, _ label: Int?) {
        sections.names.append(name)
        sections.ends.append(count)
        labels.append(label)
    }

    private mutating func extend(_ number: Int) {
        count += number
        sections.ends[sections.ends.count - 1] = count
    }

    /// Treats a section that lost all its objects and got others as the same section, if its neighbours allow that
    /// order.
    private mutating func adopt(_ emptied: [String: Int]) {
        guard !emptied.isEmpty else { return }
        var next = [Int](repeating: .max, count: labels.count)
        var bound = Int.max
        for index in labels.indices.reversed() {
            next[index] = bound
            if let label = labels[index] { bound = label }
        }
        var last = -1
        for index in labels.indices {
            if let label = labels[index] {
                last = label
            } else if let label = emptied[sections.names[index]], label > last, label < next[index] {
                labels[index] = label
                last = label
            }
        }
    }
}
