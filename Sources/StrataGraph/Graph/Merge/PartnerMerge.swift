import StrataModel

// A one-to-one is a set of links, each of two objects, and no object has two. A link has a slot in either row. A merge
// of rows decides slot by slot, so whole links are settled here: three sets of links (base, theirs, mine) and the
// policy's answers about rows in conflict give one set. The rule is in ARCHITECTURE.md, "Merging: start here".

/// One end of a one-to-one: a to-one slot of an object.
struct LinkEnd: Hashable, Comparable {
    let object: ObjectID
    let property: PropertyID
    /// The number of the slot at the other end.
    let inverse: PropertyID

    /// The end at the object that this one leads to.
    func partner(_ target: ObjectID) -> LinkEnd { LinkEnd(object: target, property: inverse, inverse: property) }

    static func < (left: LinkEnd, right: LinkEnd) -> Bool {
        (left.object, left.property) < (right.object, right.property)
    }
}

/// Settles the one-to-ones that a merge may touch.
struct PartnerMerge {
    enum Word {
        case mine, theirs
    }

    /// The targets of an end in the three states; nil ids for none.
    struct End {
        var base = ObjectID(rawValue: 0)
        var theirs = ObjectID(rawValue: 0)
        var mine = ObjectID(rawValue: 0)
        /// Whether this side changed it.
        var isChanged = false
        /// The side that the policy chose for the end; nil where it was not asked.
        var word: Word?
        /// Whether the object does not exist after the merge.
        var isGone = false
        /// Whether the delete rule leaves a partner's link to the deleted object.
        var leavesPartner = false

        /// Whether both sides gave it other targets.
        var isContested: Bool { isChanged && theirs != base && theirs != mine }
    }

    /// The treatment of a link that others made to an object that this context deletes.
    enum Deletions {
        /// It is not shown.
        case cut
        /// The delete rule decides when the deletion is saved.
        case ruled
    }

    private struct Link: Hashable {
        let ends: [LinkEnd]

        init(_ first: LinkEnd, _ second: LinkEnd) { ends = first < second ? [first, second] : [second, first] }
    }

    private enum Standing: Int {
        case insisted, plain, fallen
    }

    private(set) var ends: [LinkEnd: End]
    private let deletions: Deletions

    init(_ ends: [LinkEnd: End], deletions: Deletions = .ruled) {
        self.ends = ends
        self.deletions = deletions
        // A conflict that the policy was not asked about yet is shown as it is here.
        for (end, state) in ends where state.isContested && state.word == nil { self.ends[end]?.word = .mine }
    }

    /// Returns the target of each end whose object exists, 0 for none. No two ends lead to the same object, and each
    /// partner leads back. But a slot of theirs that nothing leads back to, as the delete rule `noAction` leaves one,
    /// stays as it is.
    func settled() -> [LinkEnd: ObjectID] {
        let theirs = links(\.theirs) { _ in true }
        let mine = links(\.mine) { $0.isChanged || $0.word == .mine }
        let madeHere = mine.subtracting(theirs)
        let claimed = Set(madeHere.flatMap(\.ends))
        var partners: [LinkEnd: ObjectID] = [:]
        func take(_ links: Set<Link>, _ wanted: Standing, _ word: Word) {
            let links = links.filter { standing($0, word) == wanted }
            for link in links.sorted(by: { $0.ends[0] < $1.ends[0] })
            where link.ends.allSatisfy({ partners[$0] == nil && !isGone($0) }) {
                partners[link.ends[0]] = link.ends[1].object
                partners[link.ends[1]] = link.ends[0].object
            }
        }
        take(theirs, .insisted, .theirs)
        take(madeHere, .insisted, .mine)
        take(madeHere, .plain, .mine)
        take(theirs.filter { !isCut($0, claimed) }, .plain, .theirs)
        let concerned = Set(theirs.filter { !isLeftToDeleteRules($0) }.flatMap(\.ends))
        return Dictionary(
            uniqueKeysWithValues: ends.compactMap { end, state in
                if state.isGone { return nil }
                let isSettled = state.isChanged || concerned.contains(end)
                return (end, partners[end] ?? (isSettled ? ObjectID(rawValue: 0) : state.theirs))
            })
    }

    /// Returns the ends of links that one side made and that were dropped, with the side that won; nil if neither did.
    func overruled(by settled: [LinkEnd: ObjectID]) -> [(end: LinkEnd, winner: Word?)] {
        settled.keys.sorted().compactMap { end in
            guard let state = ends[end], let now = settled[end] else { return nil }
            let lostTheirs = state.theirs != state.base && !state.theirs.isNil && state.theirs != now
            let lostMine = state.isChanged && !state.mine.isNil && state.mine != now
            guard lostTheirs || lostMine else { return nil }
            return (end, now == state.theirs ? .theirs : now == state.mine ? .mine : nil)
        }
    }

    // MARK: Links

    /// The links of one side, where both ends say the same.
    private func links(_ side: KeyPath<End, ObjectID>, where isWanted: (End) -> Bool) -> Set<Link> {
        var links: Set<Link> = []
        for (end, state) in ends where !state[keyPath: side].isNil && isWanted(state) {
            let partner = end.partner(state[keyPath: side])
            guard let other = ends[partner] else { continue }
            // A link of an object that is as it was here, whose partner they have linked elsewhere, is said by one end.
            guard other[keyPath: side] == end.object || side == \.mine && !other.isChanged else { continue }
            links.insert(Link(end, partner))
        }
        return links
    }

    /// Whether the policy has kept the link, or dropped it.
    private func standing(_ link: Link, _ side: Word) -> Standing {
        var standing = Standing.plain
        for (index, end) in link.ends.enumerated() {
            guard let state = ends[end], let word = state.word else { continue }
            if (word == .mine ? state.mine : state.theirs) != link.ends[1 - index].object { return .fallen }
            if word == side { standing = .insisted }
        }
        return standing
    }

    /// Whether this side has cut a link of theirs. A link that was cut only because an end was linked elsewhere counts
    /// as cut only if that other link stands.
    private func isCut(_ link: Link, _ claimed: Set<LinkEnd>) -> Bool {
        let isChanged = link.ends.indices.contains { index in
            guard let state = ends[link.ends[index]] else { return false }
            return state.isChanged && state.mine != link.ends[1 - index].object
        }
        return isChanged && claimed.isDisjoint(with: link.ends)
    }

    private func isLeftToDeleteRules(_ link: Link) -> Bool {
        guard link.ends.contains(where: isGone) else { return false }
        let leavesPartner = link.ends.contains { isGone($0) && ends[$0]?.leavesPartner ?? false }
        return deletions == .ruled || leavesPartner
    }

    private func isGone(_ end: LinkEnd) -> Bool { ends[end]?.isGone ?? true }
}
