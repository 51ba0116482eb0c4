import StrataModel

/// What has changed between two lists of results, by place in the whole list.
struct ResultsChange: Sendable {
    struct Move: Sendable {
        let id: ObjectID
        let old: Int
        let new: Int
    }
    struct Place: Sendable {
        let id: ObjectID
        let place: Int
    }

    let before: ResultsState
    let after: ResultsState
    /// By old place, ascending.
    var deletions: [Place] = []
    /// By new place, ascending, as are those below.
    var insertions: [Place] = []
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

/// Puts a change together from what was found out about single objects.
///
/// Objects that stay keep their order among each other. All others are taken out and put in again: `removed` says from
/// where, `placed` to where, in the new order, counted in objects that stay.
struct ChangeBuilder {
    struct Placed {
        let id: ObjectID
        /// How many staying objects stand before it.
        let gap: Int
        let section: String
        /// Where it stood; nil for one that was not there.
        let old: Int?
    }

    let before: ResultsState
    let isSectioned: Bool
    /// By old place, ascending.
    let removed: [ResultsChange.Place]
    let placed: [Placed]
    /// Objects whose values are others.
    let updated: Set<ObjectID>
    /// Those of them that stay, and where they stood.
    let stayingUpdates: [ResultsChange.Place]

    func build() -> ResultsChange {
        let list = before.list.applying(
            removing: removed.map(\.place), inserting: placed.map { .init(gap: $0.gap, id: $0.id) })
        var walk = SectionWalk(before.sections, removed.map(\.place), placed, isSectioned)
        walk.run()
        var change = ResultsChange(before: before, after: ResultsState(list: list, sections: walk.sections))
        change.deletedSections = walk.deletedSections
        change.insertedSections = walk.labels.indices.filter { walk.labels[$0] == nil }
        let placedIDs = Set(placed.map(\.id))
        change.deletions = removed.filter { !placedIDs.contains($0.id) }
        let still = stillStanding(walk)
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
                change.insertions.append(.init(id: object.id, place: new))
            }
        }
        for object in stayingUpdates {
            let staying = object.place - removedCount(before: object.place)
            let new = staying + placed.partitionPoint { $0.gap > staying }
            change.updates.append(.init(id: object.id, old: object.place, new: new))
        }
        change.updates.sort { $0.new < $1.new }
        return change
    }

    /// Places in `placed` of objects that ended where they were, as far as those that stay can tell: in the same gap and
    /// section, and in order among each other.
    private func stillStanding(_ walk: SectionWalk) -> Set<Int> {
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

    static func longestAscending(_ group: [(number: Int, old: Int)]) -> [Int] {
        guard group.count > 1 else { return group.map(\.number) }
        var tails: [Int] = []
        var previous = [Int](repeating: -1, count: group.count)
        for index in group.indices {
            let length = tails.partitionPoint { group[$0].old >= group[index].old }
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

    private func removedCount(before place: Int) -> Int { removed.partitionPoint { $0.place >= place } }
}

/// Makes the new sections: runs of staying objects keep their section, placed ones join a neighbour of the same name or
/// begin a section.
struct SectionWalk {
    private let old: SectionList
    private let removed: [Int]
    private let placed: [ChangeBuilder.Placed]
    private let isSectioned: Bool
    private(set) var sections = SectionList()
    /// For each new section the old one that it is; nil for one that is new.
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
            // Placed objects before the run may have begun the section.
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

    /// A section that lost all its objects and got others is the same one, if it still stands between the same others.
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
