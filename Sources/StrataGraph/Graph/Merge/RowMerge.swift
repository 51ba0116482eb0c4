// Merging two sides of one object. `RowMerge` decides; `RowMerge+Sides` makes its slots from rows or changes;
// `ManagedObjectContext+Resolving` and `+ApplyingChanges` carry the decision out. One-to-ones are settled link by link
// afterwards (`PartnerMerge`), members of other to-manys one by one (`ManagedObjectContext.settlePairs`).

/// Merges one object that two sides changed: a three-way merge of its row, by values and without I/O.
///
/// Base is the row as this side had read it, theirs the row now, mine the row here. A slot that only one side changed
/// is that side's. It answers two questions, and no other code does: which slots are in conflict (`conflict`), and what
/// the merge does with the object once the policy has answered (`outcome(of:)`). `RowMergeTests` has every case in a
/// table.
struct RowMerge {
    /// The kinds of slots.
    enum Kind {
        case attribute
        /// The target of a to-one.
        case link
        /// The position of the object among the members of an ordered relationship: a move never conflicts, mine
        /// stands.
        case position
        /// A value that the store computes from others: no side's change.
        case derived
    }

    struct Slot {
        let number: Int
        let kind: Kind
        /// Whether theirs differs from the base.
        let isChangedByThem: Bool
        /// Whether mine differs from the base.
        let isChangedHere: Bool
        /// Whether both sides hold the same.
        let isAgreed: Bool
    }

    /// Whether two sides that gave an attribute the same value are in conflict.
    enum Agreement {
        /// A conflict: two sides that each add one to a counter would else add one together.
        case conflicts
        /// No conflict: this side only restores an earlier value.
        case merges
    }

    /// The slots in conflict, by the kind of conflict.
    enum Conflict: Equatable {
        /// Both sides changed these slots.
        case changes([Int])
        /// They deleted the object, and I changed these slots.
        case deletedByThem([Int])
        /// I delete the object, and they changed these slots.
        case deletedHere([Int])
    }

    /// The result of the merge for this context's object.
    enum Outcome: Equatable {
        /// Nothing: the save, or the change, fails.
        case fails
        /// Theirs, with mine in these slots.
        case merges(keeping: [Int])
        /// Theirs alone; my changes are dropped.
        case takesTheirs
        /// It is deleted.
        case deleted
        /// My deletion is taken back, and the object is as theirs.
        case comesBack
        /// They deleted it, and it is made again as mine.
        case madeAgain
    }

    var slots: [Slot] = []
    var isDeletedByThem = false
    var isDeletedHere = false
    /// Whether they wrote the row without changing a value.
    var isRewritten = false
    var agreement = Agreement.conflicts

    // MARK: Is it in conflict?

    /// Whether a slot is in conflict where neither side deletes the object.
    func isInConflict(_ slot: Slot) -> Bool {
        guard slot.isChangedByThem, slot.isChangedHere else { return false }
        return switch slot.kind {
        case .attribute: !slot.isAgreed || agreement == .conflicts
        // A link that both made is one link.
        case .link: !slot.isAgreed
        case .position, .derived: false
        }
    }

    /// The conflict that the policy has to decide; nil where the two sides merge by themselves.
    var conflict: Conflict? {
        switch (isDeletedByThem, isDeletedHere) {
        case (true, true): return nil
        case (true, false): return .deletedByThem(meaningful.filter(\.isChangedHere).map(\.number))
        case (false, true):
            // Their changes would be lost with the object; moves and derived values are no loss.
            let lost = meaningful.filter(\.isChangedByThem).map(\.number)
            return lost.isEmpty && !isRewritten ? nil : .deletedHere(lost)
        case (false, false):
            let contested = slots.filter(isInConflict).map(\.number)
            return contested.isEmpty ? nil : .changes(contested)
        }
    }

    /// The slots that a user gave values to.
    private var meaningful: [Slot] { slots.filter { $0.kind == .attribute || $0.kind == .link } }

    // MARK: The outcome

    /// - Parameter resolution: the policy's answer to `conflict`; ignored where there is no conflict.
    func outcome(of resolution: MergeResolution) -> Outcome {
        switch conflict {
        case nil: return isDeletedHere ? .deleted : .merges(keeping: mine)
        case .deletedByThem?:
            return switch resolution {
            case .fail: .fails
            case .theirs, .allTheirs: .deleted
            case .mine, .allMine, .values: .madeAgain
            }
        case .deletedHere?:
            return switch resolution {
            case .fail: .fails
            case .mine, .allMine: .deleted
            case .theirs, .allTheirs, .values: .comesBack
            }
        case .changes(let contested)?:
            return switch resolution {
            case .fail: .fails
            case .mine: .merges(keeping: mine)
            case .theirs, .values: .merges(keeping: mine.filter { !contested.contains($0) })
            case .allMine: .merges(keeping: slots.filter { $0.kind != .derived }.map(\.number))
            case .allTheirs: .takesTheirs
            }
        }
    }

    /// The slots that I changed.
    private var mine: [Int] { slots.filter { $0.isChangedHere && $0.kind != .derived }.map(\.number) }

    /// The slots whose values one side loses by the resolution: those in conflict, and where a whole object wins also
    /// those that only the losing side changed.
    func overruled(by resolution: MergeResolution) -> [Int] {
        guard case .changes(let contested)? = conflict else {
            return switch conflict {
            case .deletedByThem(let slots)?, .deletedHere(let slots)?, .changes(let slots)?: slots
            case nil: []
            }
        }
        let lost: [Slot] =
            switch resolution {
            case .allMine: meaningful.filter { !$0.isAgreed }
            case .allTheirs: meaningful.filter { $0.isChangedHere && !$0.isAgreed }
            case .fail, .mine, .theirs, .values: []
            }
        return Set(contested).union(lost.map(\.number)).sorted()
    }
}
