import StrataGraph
import StrataModel
import Testing

/// What becomes of a one-to-one that two contexts, or a child and its parent, gave to different objects.
@Suite(.verifiesStores) struct PartnerScenarioTests {
    let container: PersistentContainer
    let mine: ManagedObjectContext
    let theirs: ManagedObjectContext
    let ids: [String: ObjectID]

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

    func object(_ name: String, _ context: ManagedObjectContext) throws -> ManagedObject {
        try context.existingObject(with: try #require(ids[name]))
    }

    func give(_ card: String?, to being: String, _ context: ManagedObjectContext) throws {
        try object(being, context).setValue(try card.map { try object($0, context) }, forKey: "card")
    }

    func marry(_ one: String, _ other: String, _ context: ManagedObjectContext) throws {
        try object(one, context).setValue(try object(other, context), forKey: "spouse")
    }

    /// Who has which card, told alike by both ends.
    func cards(_ context: ManagedObjectContext, sourceLocation: SourceLocation = #_sourceLocation) throws
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

    func saved(sourceLocation: SourceLocation = #_sourceLocation) throws -> [String: String] {
        let saved = try cards(container.newBackgroundContext(), sourceLocation: sourceLocation)
        #expect(try cards(mine, sourceLocation: sourceLocation) == saved, sourceLocation: sourceLocation)
        return saved
    }

    func lastConflicts() throws -> [ConflictRecord] {
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
}
