import StrataGraph
import StrataModel
import Testing

/// What becomes of a one-to-one that two contexts, or a child and its parent, gave to different objects.
@Suite(.verifiesStores) struct PartnerScenarioTests {
    let container: PersistentContainer
    let mine: ManagedObjectContext
    let theirs: ManagedObjectContext
    private let ids: [String: ObjectID]

    /// Beings a, b, c and a robot r; cards 1 and 2; a has card 1.
    init() throws {
        container = try PartnerModel.container()
        let context = container.newBackgroundContext()
        var objects: [String: ManagedObject] = [:]
        for (name, entity) in [
            ("a", "Being"), ("b", "Being"), ("c", "Being"), ("r", "Robot"), ("1", "Card"), ("2", "Card"),
        ] {
            let object = try context.insertNewObject(forEntityName: entity)
            try object.setValue(name, forKey: "name")
            objects[name] = object
        }
        try objects["a"]?.setValue(objects["1"], forKey: "card")
        try context.save()
        ids = objects.mapValues(\.objectID)
        mine = container.newBackgroundContext()
        theirs = container.newBackgroundContext()
    }

    private func object(_ name: String, _ context: ManagedObjectContext) throws -> ManagedObject {
        try context.existingObject(with: try #require(ids[name]))
    }

    private func give(_ card: String?, to being: String, _ context: ManagedObjectContext) throws {
        try object(being, context).setValue(try card.map { try object($0, context) }, forKey: "card")
    }

    private func marry(_ one: String, _ other: String, _ context: ManagedObjectContext) throws {
        try object(one, context).setValue(try object(other, context), forKey: "spouse")
    }

    /// Who has which card, told alike by both ends.
    private func cards(_ context: ManagedObjectContext, sourceLocation: SourceLocation = #_sourceLocation) throws
        -> [String: String]
    {
        let problem = try PartnerModel.disagreement(context)
        #expect(problem == nil, sourceLocation: sourceLocation)
        var cards: [String: String] = [:]
        for card in try context.fetch(FetchRequest<ManagedObject>(entityName: "Card")) {
            guard let holder = try card.value(forKey: "holder") as? ManagedObject else { continue }
            cards[try card.value(forKey: "name") as? String ?? ""] = try holder.value(forKey: "name") as? String
        }
        return cards
    }

    private func saved(sourceLocation: SourceLocation = #_sourceLocation) throws -> [String: String] {
        let saved = try cards(container.newBackgroundContext(), sourceLocation: sourceLocation)
        #expect(try cards(mine, sourceLocation: sourceLocation) == saved, sourceLocation: sourceLocation)
        return saved
    }

    private func lastConflicts() throws -> [ConflictRecord] {
        try #require(try container.transactions().last).conflicts
    }

    // MARK: The link is the unit

    /// b loses card 2 to c, and has card 1 back, which the store never took from it.
    @Test(arguments: [MergePolicy.mergeByPropertyStoreTrump, .rollback])
    func whoLosesALinkHasTheOneBackThatItWasExchangedFor(policy: MergePolicy) throws {
        mine.mergePolicy = policy
        try give("2", to: "a", mine)
        try give("2", to: "c", theirs)
        try theirs.save()
        try mine.save()
        #expect(try saved() == ["1": "a", "2": "c"])
    }

    @Test func whoLosesALinkHasNothingBackThatOthersGaveAway() throws {
        mine.mergePolicy = .mergeByPropertyStoreTrump
        try give("2", to: "a", mine)
        try give("2", to: "c", theirs)
        try give("1", to: "b", theirs)
        try theirs.save()
        try mine.save()
        #expect(try saved() == ["1": "b", "2": "c"])
    }

    @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite])
    func whereMineWinTheirsAreLeftWithout(policy: MergePolicy) throws {
        mine.mergePolicy = policy
        try give("2", to: "a", mine)
        try give("2", to: "c", theirs)
        try theirs.save()
        try mine.save()
        #expect(try saved() == ["2": "a"])
        let conflicts = try lastConflicts()
        let card = try #require(conflicts.first { $0.conflict.objectID == ids["2"] })
        #expect(card.winner == .mine && card.conflict.properties.map(\.name) == ["holder"])
        // c is told too, which only they changed.
        let loser = try #require(conflicts.first { $0.conflict.objectID == ids["c"] })
        let property = try #require(loser.conflict.properties.first), two = try #require(ids["2"])
        #expect(loser.winner == .mine || loser.winner == .values)
        #expect(property.name == "card" && property.theirs == .objectID(two) && property.mine == .null)
    }

    @Test func theRecordTellsOfBothEndsOfALinkThatFell() throws {
        mine.mergePolicy = .mergeByPropertyStoreTrump
        try give("2", to: "b", mine)
        try give("2", to: "c", theirs)
        try theirs.save()
        try object("a", mine).setValue("A", forKey: "name")
        try mine.save()
        let conflicts = try lastConflicts()
        #expect(Set(conflicts.map(\.conflict.objectID)) == Set(["2", "b"].compactMap { ids[$0] }))
        #expect(conflicts.allSatisfy { $0.winner == .theirs })
    }

    @Test func anErrorLeavesEveryLinkAsItWasHere() throws {
        try give("2", to: "a", mine)
        try give("2", to: "c", theirs)
        try theirs.save()
        let error = #expect(throws: StrataError.self) { try mine.save() }
        #expect(error?.code == .merge && error?.context.conflicts.map(\.objectID) == [ids["2"]].compactMap { $0 })
        #expect(try cards(mine) == ["2": "a"])
        mine.rollback()
        mine.refreshAllObjects()
        #expect(try saved() == ["1": "a", "2": "c"])
    }

    /// The resolver's own link is made at both ends, whoever is in the way.
    @Test func aResolverMayGiveTheLinkToAThird() throws {
        let b = try #require(ids["b"])
        mine.mergePolicy = .custom { conflict, _ in .values(["holder": .objectID(b)]) }
        try give("2", to: "a", mine)
        try give("2", to: "c", theirs)
        try theirs.save()
        try mine.save()
        #expect(try saved() == ["1": "a", "2": "b"])
    }

    /// All that the whole-object policies overrule is told, not only what both changed.
    @Test func wholeObjectsTellWhatOneSideAloneHadChanged() throws {
        for (policy, lost) in [(MergePolicy.overwrite, "card"), (.rollback, "room")] {
            mine.refreshAllObjects()
            theirs.refreshAllObjects()
            mine.mergePolicy = policy
            try object("b", mine).setValue("mine \(policy.name)", forKey: "name")
            let house = try mine.insertNewObject(forEntityName: "House")
            try object("b", mine).setValue(house, forKey: "room")
            try object("b", theirs).setValue("theirs", forKey: "name")
            try give("2", to: "b", theirs)
            try theirs.save()
            try mine.save()
            let record = try #require(try lastConflicts().first { $0.conflict.objectID == ids["b"] })
            #expect(record.conflict.properties.map(\.name).contains(lost), "\(policy.name): \(record)")
            _ = try saved()
            try give(nil, to: "b", theirs)
            try theirs.save()
        }
    }

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

    // MARK: Spouses, subentities, deletions

    @Test(arguments: [
        (MergePolicy.mergeByPropertyStoreTrump, [nil, "c", "b"]), (.mergeByPropertyObjectTrump, ["b", "a", nil]),
    ])
    func aRelationshipThatIsItsOwnInverseHasOneLinkForTwo(policy: MergePolicy, left: [String?]) throws {
        mine.mergePolicy = policy
        // a and b marry here, b and c there.
        try marry("a", "b", mine)
        try marry("b", "c", theirs)
        try theirs.save()
        try mine.save()
        for context in [mine, container.newBackgroundContext()] {
            #expect(try PartnerModel.disagreement(context) == nil)
            let spouses = try ["a", "b", "c"].map { name in
                try (object(name, context).value(forKey: "spouse") as? ManagedObject)?.value(forKey: "name") as? String
            }
            #expect(spouses == left)
        }
    }

    @Test func aSubentityHasTheLinksOfItsParent() throws {
        mine.mergePolicy = .mergeByPropertyStoreTrump
        try give("1", to: "r", mine)
        try give("1", to: "b", theirs)
        try theirs.save()
        try mine.save()
        #expect(try saved() == ["1": "b"])
        try marry("r", "a", theirs)
        try marry("r", "b", mine)
        try theirs.save()
        try mine.save()
        _ = try saved()
        #expect(try object("r", mine).value(forKey: "spouse") as? ManagedObject === object("a", mine))
    }

    /// They delete the card that a gives its own up for.
    @Test(arguments: [MergePolicy.mergeByPropertyStoreTrump, .rollback])
    func aLinkToWhatIsGoneLeavesTheOneBefore(policy: MergePolicy) throws {
        mine.mergePolicy = policy
        try give("2", to: "a", mine)
        theirs.delete(try object("2", theirs))
        try theirs.save()
        try mine.save()
        #expect(try saved() == ["1": "a"])
    }

    @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite])
    func whatIsMadeAgainKeepsItsLink(policy: MergePolicy) throws {
        mine.mergePolicy = policy
        try give("2", to: "a", mine)
        theirs.delete(try object("2", theirs))
        try theirs.save()
        try mine.save()
        #expect(try saved() == ["2": "a"])
    }

    @Test func aDeletionThatIsTakenBackGivesThePartnerBack() throws {
        mine.mergePolicy = .mergeByPropertyStoreTrump
        mine.delete(try object("1", mine))
        #expect(try cards(mine) == [:])
        try object("1", theirs).setValue("one", forKey: "name")
        try theirs.save()
        try mine.save()
        #expect(try saved() == ["one": "a"])
    }

    @Test func aDeletionThatStandsLeavesNobodyWithWhatIsGone() throws {
        mine.mergePolicy = .mergeByPropertyObjectTrump
        mine.delete(try object("1", mine))
        try give("1", to: "b", theirs)
        try theirs.save()
        try mine.save()
        #expect(try saved() == [:])
        #expect(try object("b", mine).value(forKey: "card") == nil)
    }

    /// They give a card to whom I delete: it shows nobody until the save settles whether he is there.
    @Test(arguments: [(MergePolicy.mergeByPropertyStoreTrump, ["2": "b"]), (.mergeByPropertyObjectTrump, [:])])
    func nobodyIsShownWhoseDeletionIsPending(policy: MergePolicy, left: [String: String]) throws {
        mine.mergePolicy = policy
        mine.delete(try object("b", mine))
        try give("2", to: "b", theirs)
        try theirs.save()
        mine.refreshAllObjects()
        #expect(try cards(mine) == ["1": "a"])
        try mine.save()
        #expect(try saved() == left.merging(["1": "a"]) { $1 })
    }

    /// A to-one with a to-many at its other end has one slot: both ends say what the policy decides about it.
    @Test func aMemberThatBothMovedIsInOneList() throws {
        let houses = try (0..<2).map { _ in try theirs.insertNewObject(forEntityName: "House") }
        try theirs.save()
        mine.refreshAllObjects()
        for policy in [MergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump] {
            mine.mergePolicy = policy
            let being = try object("a", mine)
            try being.setValue(try mine.existingObject(with: houses[0].objectID), forKey: "room")
            try object("a", theirs).setValue(houses[1], forKey: "room")
            try theirs.save()
            mine.refreshAllObjects()
            try mine.save()
            let winner = policy.rawValue == 1 ? 1 : 0
            for context in [mine, container.newBackgroundContext()] {
                for (index, house) in houses.enumerated() {
                    let guests =
                        try context.existingObject(with: house.objectID).value(forKey: "guests") as? [ManagedObject]
                    #expect(guests?.map(\.objectID) == (index == winner ? [being.objectID] : []))
                }
            }
            theirs.refreshAllObjects()
            try object("a", theirs).setValue(nil, forKey: "room")
            try theirs.save()
            mine.refreshAllObjects()
        }
    }

    /// One that comes back has its partner again, and the partner has it.
    @Test func whatIsRestoredAloneIsLinkedAtBothEnds() throws {
        let then = try container.head()
        let one = try #require(ids["1"])
        theirs.delete(try object("1", theirs))
        try theirs.save()
        theirs.refreshAllObjects()
        try theirs.restore(one, at: then)
        #expect(try cards(theirs) == ["1": "a"])
        try theirs.save()
        mine.refreshAllObjects()
        mine.delete(try object("1", mine))
        try mine.restore(one, at: then)
        #expect(try cards(mine) == ["1": "a"])
        try mine.save()
        #expect(try saved() == ["1": "a"])
    }
}
