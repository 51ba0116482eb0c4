import Testing

@testable import StrataGraph

/// The decisions of `RowMerge` by themselves: every state of a slot, every deletion, and what each policy makes of it.
///
/// A case reads: what kind of slot it is, whether they and I changed it, whether both hold the same, and who deletes the
/// object. The columns are the five policies.
@Suite struct RowMergeTests {
    private struct Case: Sendable, CustomTestStringConvertible {
        var kind = RowMerge.Kind.attribute
        var theirs = false
        var mine = false
        var agreed = false
        var deleted = Deleted.byNone
        /// error, store trump, object trump, overwrite, rollback
        let outcomes: [RowMerge.Outcome]

        var testDescription: String {
            "\(kind)\(theirs ? ", they changed it" : "")\(mine ? ", I changed it" : "")\(agreed ? ", the same" : ""), "
                + "deleted \(deleted)"
        }
    }

    private enum Deleted { case byNone, byThem, here, byBoth }

    private static let resolutions: [MergeResolution] = [.fail, .theirs, .mine, .allMine, .allTheirs]
    private static let theirsStands = RowMerge.Outcome.merges(keeping: [])
    private static let mineStands = RowMerge.Outcome.merges(keeping: [0])

    private static func all(_ outcome: RowMerge.Outcome) -> [RowMerge.Outcome] { Array(repeating: outcome, count: 5) }

    /// error, store trump, object trump, overwrite, rollback
    private static let cases: [Case] = [
        // A slot that only one side changed is that side's.
        Case(kind: .attribute, theirs: true, outcomes: all(theirsStands)),
        Case(kind: .attribute, mine: true, outcomes: all(mineStands)),
        Case(kind: .link, theirs: true, outcomes: all(theirsStands)),
        Case(kind: .link, mine: true, outcomes: all(mineStands)),
        // Both changed it: the policy decides.
        Case(
            kind: .attribute, theirs: true, mine: true,
            outcomes: [.fails, theirsStands, mineStands, mineStands, .takesTheirs]),
        Case(
            kind: .link, theirs: true, mine: true,
            outcomes: [.fails, theirsStands, mineStands, mineStands, .takesTheirs]),
        // The same value twice is a conflict of an attribute, and one link.
        Case(
            kind: .attribute, theirs: true, mine: true, agreed: true,
            outcomes: [.fails, theirsStands, mineStands, mineStands, .takesTheirs]),
        Case(kind: .link, theirs: true, mine: true, agreed: true, outcomes: all(mineStands)),
        // A move never conflicts, and mine stands; what is derived is theirs.
        Case(kind: .position, theirs: true, mine: true, outcomes: all(mineStands)),
        Case(kind: .position, theirs: true, outcomes: all(theirsStands)),
        Case(kind: .derived, theirs: true, mine: true, outcomes: all(theirsStands)),
        // Deletion against change.
        Case(mine: true, deleted: .byThem, outcomes: [.fails, .deleted, .madeAgain, .madeAgain, .deleted]),
        Case(theirs: true, deleted: .here, outcomes: [.fails, .comesBack, .deleted, .deleted, .comesBack]),
        Case(
            kind: .link, theirs: true, deleted: .here, outcomes: [.fails, .comesBack, .deleted, .deleted, .comesBack]),
        Case(kind: .position, theirs: true, deleted: .here, outcomes: all(.deleted)),
        Case(kind: .derived, theirs: true, deleted: .here, outcomes: all(.deleted)),
        // Deletion against deletion, and against nothing.
        Case(deleted: .byBoth, outcomes: all(.deleted)),
        Case(deleted: .here, outcomes: all(.deleted)),
    ]

    @Test(arguments: cases) private func eachPolicyDecides(_ example: Case) {
        let slot = RowMerge.Slot(
            number: 0, kind: example.kind, isChangedByThem: example.theirs, isChangedHere: example.mine,
            isAgreed: example.agreed)
        let merge = RowMerge(
            slots: [slot], isDeletedByThem: example.deleted == .byThem || example.deleted == .byBoth,
            isDeletedHere: example.deleted == .here || example.deleted == .byBoth)
        #expect(Self.resolutions.map(merge.outcome) == example.outcomes)
        // A policy is asked exactly where the error policy fails.
        #expect((merge.conflict != nil) == (example.outcomes[0] == .fails))
    }

    /// Slots: 0 both changed, 1 only they, 2 only I, 3 neither, 4 derived, 5 a position that both changed.
    private static let wide = RowMerge(slots: [
        .init(number: 0, kind: .attribute, isChangedByThem: true, isChangedHere: true, isAgreed: false),
        .init(number: 1, kind: .attribute, isChangedByThem: true, isChangedHere: false, isAgreed: false),
        .init(number: 2, kind: .link, isChangedByThem: false, isChangedHere: true, isAgreed: false),
        .init(number: 3, kind: .attribute, isChangedByThem: false, isChangedHere: false, isAgreed: true),
        .init(number: 4, kind: .derived, isChangedByThem: true, isChangedHere: false, isAgreed: false),
        .init(number: 5, kind: .position, isChangedByThem: true, isChangedHere: true, isAgreed: false),
    ])

    @Test func aConflictInOneSlotLeavesTheOthersToTheirSides() {
        let merge = Self.wide
        #expect(merge.conflict == .changes([0]))
        #expect(merge.outcome(of: .mine) == .merges(keeping: [0, 2, 5]))
        #expect(merge.outcome(of: .theirs) == .merges(keeping: [2, 5]))
        #expect(merge.outcome(of: .values([:])) == .merges(keeping: [2, 5]))
        #expect(merge.outcome(of: .allMine) == .merges(keeping: [0, 1, 2, 3, 5]))
        #expect(merge.outcome(of: .allTheirs) == .takesTheirs)
    }

    @Test func whereAWholeObjectWinsTheRecordNamesAllThatIsLost() {
        #expect(Self.wide.overruled(by: .mine) == [0] && Self.wide.overruled(by: .theirs) == [0])
        #expect(Self.wide.overruled(by: .allMine) == [0, 1, 2] && Self.wide.overruled(by: .allTheirs) == [0, 2])
    }

    @Test func aStepBackIsNoConflictWithItself() {
        let slot = RowMerge.Slot(
            number: 0, kind: .attribute, isChangedByThem: true, isChangedHere: true, isAgreed: true)
        #expect(RowMerge(slots: [slot], agreement: .merges).conflict == nil)
        #expect(RowMerge(slots: [slot]).conflict == .changes([0]))
    }

    @Test func aDeletionConflictsWithARowThatWasWrittenAndHoldsWhatItHeld() {
        #expect(RowMerge(isDeletedHere: true, isRewritten: true).conflict == .deletedHere([]))
        #expect(RowMerge(isDeletedHere: true).conflict == nil)
    }
}
