import StrataGraph
import StrataModel
import Testing

// Contexts that move on without a save, and children that save to their parents.

extension PartnerScenarioTests {
    // MARK: Moving on without a save

    @Test(arguments: 0..<4) func afterMovingOnBothEndsSayTheSame(way: Int) throws {
        try give("2", to: "a", mine)
        _ = try cards(mine)
        try give("2", to: "c", theirs)
        try theirs.save()
        switch way {
        case 0: mine.refreshAllObjects()
        case 1: try mine.mergeChanges(from: try #require(try container.transactions().last).number)
        case 2: mine.automaticallyMergesChangesFromParent = true
        default: mine.refresh(try object("2", mine), mergeChanges: true)
        }
        #expect(try cards(mine) == ["2": "a"])
        mine.mergePolicy = .mergeByPropertyStoreTrump
        try mine.save()
        // Who merged the card by hand has decided for it.
        #expect(try saved() == (way == 3 ? ["2": "a"] : ["1": "a", "2": "c"]))
    }

    @Test func aDroppedObjectTakesItsLinkAlong() throws {
        try give("2", to: "a", mine)
        mine.refresh(try object("2", mine), mergeChanges: false)
        #expect(try cards(mine) == ["1": "a"])
        try mine.save()
        #expect(try saved() == ["1": "a"])
    }

    /// The link that had to make room while mine was shown stands again when mine is undone.
    @Test func whatMineHadDisplacedComesBackWhenItIsUndone() throws {
        mine.undoManager = ObjectUndoManager()
        try give("2", to: "b", mine)
        mine.processPendingChanges()
        try give("2", to: "c", theirs)
        try theirs.save()
        mine.refreshAllObjects()
        #expect(try cards(mine) == ["1": "a", "2": "b"])
        try mine.undoManager?.undo()
        #expect(try cards(mine) == ["1": "a", "2": "c"])
        try mine.undoManager?.redo()
        #expect(try cards(mine) == ["1": "a", "2": "b"])
        try mine.undoManager?.undo()
        #expect(try cards(mine)["2"] != "b")
        try mine.save()
        #expect(try saved()["2"] != "b")
    }

    @Test(arguments: [false, true]) func whatWasShownOnlyForMineComesBackAtTheSave(isCut: Bool) throws {
        try give("2", to: "b", mine)
        try give("2", to: "c", theirs)
        try theirs.save()
        mine.refreshAllObjects()
        try give(nil, to: "b", mine)
        try object("a", mine).setValue("A", forKey: "name")
        #expect(try cards(mine) == ["1": "A", "2": "c"])
        if isCut { try give(nil, to: "c", mine) }
        mine.mergePolicy = .mergeByPropertyObjectTrump
        try mine.save()
        #expect(try saved() == (isCut ? ["1": "A"] : ["1": "A", "2": "c"]))
    }

    @Test func undoAfterAMergedSaveLeavesBothEndsAlike() throws {
        mine.undoManager = ObjectUndoManager()
        mine.mergePolicy = .mergeByPropertyObjectTrump
        try give("2", to: "a", mine)
        try give("2", to: "c", theirs)
        try give("1", to: "b", theirs)
        try theirs.save()
        try mine.save()
        // Card 1 is in conflict too: here it was given up, there given to b.
        #expect(try saved() == ["2": "a"])
        try mine.undoManager?.undo()
        _ = try cards(mine)
        try mine.save()
        _ = try saved()
    }

    // MARK: Children

    @Test(arguments: [
        (MergePolicy.mergeByPropertyStoreTrump, ["1": "a", "2": "c"]), (.mergeByPropertyObjectTrump, ["2": "a"]),
        (.overwrite, ["2": "a"]), (.rollback, ["1": "a", "2": "c"]),
    ])
    func aChildSettlesLinksWithItsParent(policy: MergePolicy, left: [String: String]) throws {
        let child = try mine.newChildContext()
        child.mergePolicy = policy
        try give("2", to: "a", child)
        try give("2", to: "c", mine)
        try child.save()
        #expect(try cards(child) == left)
        #expect(try cards(mine) == left)
        try mine.save()
        #expect(try saved() == left)
        #expect(try lastConflicts().contains { $0.conflict.objectID == ids["2"] })
    }

    @Test func aChildThatLooksAgainShowsItsOwnLinks() throws {
        let child = try mine.newChildContext()
        try give("2", to: "a", child)
        try give("2", to: "c", mine)
        child.refreshAllObjects()
        #expect(try cards(child) == ["2": "a"])
        child.mergePolicy = .mergeByPropertyStoreTrump
        try child.save()
        #expect(try cards(mine) == ["1": "a", "2": "c"])
    }

    @Test func aResolverOfAChildMayGiveItsOwnValues() throws {
        let b = try #require(ids["b"])
        let child = try mine.newChildContext()
        child.mergePolicy = .custom { conflict, _ in
            conflict.properties.map(\.name) == ["name"]
                ? .values(["name": .string("both")]) : .values(["holder": .objectID(b)])
        }
        try object("c", child).setValue("child", forKey: "name")
        try object("c", mine).setValue("parent", forKey: "name")
        try give("2", to: "a", child)
        try give("2", to: "c", mine)
        try child.save()
        #expect(try object("c", mine).value(forKey: "name") as? String == "both")
        #expect(try cards(mine) == ["1": "a", "2": "b"])
    }
}
