import StrataGraph
import StrataModel
import Testing

// Objects at the ends of a link that are of one kind, of a subentity, deleted, or restored.

extension PartnerScenarioTests {
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

    /// One context deletes a person and another gives that person a card. Until the first one saves, it shows the card
    /// without a person.
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
