import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

/// Both ends of a one-to-one say the same after every merge, whatever the policy decided for either row.
@Suite(.verifiesStores) struct OneToOneMergeTests: TwoContextSuite {
    let container: PersistentContainer
    let mine: ManagedObjectContext
    let theirs: ManagedObjectContext
    private let people: [ObjectID]
    private let passports: [ObjectID]

    /// Three people; the first has the first of two passports.
    init() throws {
        container = try makeContainer(graphEntities)
        let context = container.newBackgroundContext()
        let people = ["a", "b", "c"].map { name in
            let person = Person(context: context)
            person.name = name
            return person
        }
        let passports = ["1", "2"].map { number in
            let passport = Passport(context: context)
            passport.number = number
            return passport
        }
        people[0].passport = passports[0]
        try context.save()
        self.people = people.map(\.objectID)
        self.passports = passports.map(\.objectID)
        mine = container.newBackgroundContext()
        theirs = container.newBackgroundContext()
    }

    private func person(_ index: Int, _ context: ManagedObjectContext) throws -> Person {
        try context.existingObject(with: people[index], as: Person.self)
    }

    private func passport(_ index: Int, _ context: ManagedObjectContext) throws -> Passport {
        try context.existingObject(with: passports[index], as: Passport.self)
    }

    /// Who holds each passport, told alike by both ends, here and in the store.
    private func holders(sourceLocation: SourceLocation = #_sourceLocation) throws -> [String: String] {
        var holders: [[String: String]] = []
        for context in [mine, container.newBackgroundContext()] {
            var byPassport: [String: String] = [:], byPerson: [String: String] = [:]
            for passport in try context.fetch(FetchRequest<Passport>()) {
                if let holder = passport.holder { byPassport[passport.number] = holder.name }
            }
            for person in try context.fetch(FetchRequest<Person>()) {
                if let passport = person.passport {
                    #expect(byPerson[passport.number] == nil, sourceLocation: sourceLocation)
                    byPerson[passport.number] = person.name
                }
            }
            #expect(byPassport == byPerson, sourceLocation: sourceLocation)
            holders.append(byPassport)
        }
        #expect(holders[0] == holders[1], sourceLocation: sourceLocation)
        return holders[1]
    }

    @Test(arguments: [
        (MergePolicy.mergeByPropertyStoreTrump, "b"), (.mergeByPropertyObjectTrump, "c"), (.overwrite, "c"),
        (.rollback, "b"),
    ])
    func twoWhoTakeTheSamePassport(policy: MergePolicy, winner: String) throws {
        mine.mergePolicy = policy
        try person(1, theirs).passport = try passport(1, theirs)
        try person(2, mine).passport = try passport(1, mine)
        try theirs.save()
        try mine.save()
        #expect(try holders() == ["1": "a", "2": winner])
    }

    @Test(arguments: [
        (MergePolicy.mergeByPropertyStoreTrump, ["2": "a"]), (.mergeByPropertyObjectTrump, ["1": "b"]),
        (.overwrite, ["1": "b"]), (.rollback, ["2": "a"]),
    ])
    func aPassportIsHandedOnWhileItsHolderGetsAnother(policy: MergePolicy, left: [String: String]) throws {
        mine.mergePolicy = policy
        try person(0, theirs).passport = try passport(1, theirs)
        try person(1, mine).passport = try passport(0, mine)
        try theirs.save()
        try mine.save()
        #expect(try holders() == left)
    }

    /// The conflict is about a name; the whole object is as one side has it, its partner too.
    @Test func wholeObjectsTakeTheirPartnersWithThem() throws {
        for (policy, left) in [(MergePolicy.overwrite, [:]), (.rollback, ["2": "theirs"])] {
            let (person, theirPerson) = (try person(0, mine), try person(0, theirs))
            mine.refreshAllObjects()
            theirs.refreshAllObjects()
            mine.mergePolicy = policy
            theirPerson.name = "theirs"
            let word = "mine \(policy.name)"
            theirPerson.passport = try passport(1, theirs)
            person.name = word
            person.passport = nil
            try theirs.save()
            try mine.save()
            #expect(try holders() == left)
        }
    }

    @Test func whoIsMadeAgainHasHisPassportAgain() throws {
        mine.mergePolicy = .mergeByPropertyObjectTrump
        try person(0, mine).name = "again"
        theirs.delete(try person(0, theirs))
        try theirs.save()
        try mine.save()
        #expect(try holders() == ["1": "again"])
    }

    /// A resolver that decides the two rows differently cannot part them.
    @Test func decisionsThatDifferLeaveBothEndsAlike() throws {
        for isMineForPeople in [true, false] {
            mine.mergePolicy = .custom { conflict, _ in
                (conflict.entityName == "Person") == isMineForPeople ? .mine : .theirs
            }
            mine.refreshAllObjects()
            theirs.refreshAllObjects()
            try person(0, theirs).passport = try passport(1, theirs)
            let other = try person(0, mine).passport
            try person(0, mine).passport = nil
            try person(2, mine).passport = other ?? passport(0, mine)
            try theirs.save()
            try mine.save()
            _ = try holders()
        }
    }

    // MARK: At random

    private static let policies: [MergePolicy] = [
        .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback, .error,
        .custom { conflict, _ in conflict.entityName == "Person" ? .mine : .theirs },
        .custom { conflict, _ in conflict.entityName == "Person" ? .allTheirs : .allMine },
    ]

    private func change(_ context: ManagedObjectContext, _ random: inout SeededGenerator) throws {
        let people = try context.fetch(FetchRequest<Person>()).sorted { $0.objectID < $1.objectID }
        let passports = try context.fetch(FetchRequest<Passport>()).sorted { $0.objectID < $1.objectID }
        guard let person = people.randomElement(using: &random) else {
            Person(context: context).name = "new"
            return
        }
        switch Int.random(in: 0..<12, using: &random) {
        case 0...5: person.passport = passports.randomElement(using: &random)
        case 6: person.passport = nil
        case 7: passports.randomElement(using: &random)?.holder = person
        case 8: person.name = "n\(Int.random(in: 0..<100, using: &random))"
        case 9: context.delete(person)
        case 10:
            let new = Person(context: context)
            new.name = "new"
            new.passport = passports.randomElement(using: &random)
        default:
            let child = try context.newChildContext()
            child.mergePolicy = .mergeByPropertyObjectTrump
            try change(child, &random)
            try change(context, &random)
            try child.save()
        }
    }

    /// What the two ends say differently; nil when they agree.
    private func disagreement(_ context: ManagedObjectContext) throws -> String? {
        for passport in try context.fetch(FetchRequest<Passport>()) {
            if let holder = passport.holder, holder.passport != passport {
                return "\(passport.number) has \(holder.objectID), who has \(holder.passport?.number ?? "none")"
            }
        }
        for person in try context.fetch(FetchRequest<Person>()) {
            if let passport = person.passport, passport.holder != person {
                return "\(person.objectID) has \(passport.number), which has \(passport.holder?.objectID as Any)"
            }
        }
        return nil
    }

    @Test(arguments: RandomTesting.seeds) func endsAgreeAfterAnyMerge(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let contexts = [mine, theirs, container.newBackgroundContext()]
        var saves = 0, merges = 0
        for step in 0..<200 {
            let context = contexts[Int.random(in: 0..<3, using: &random)]
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where Int.random(in: 0..<4, using: &random) == 0: context.refreshAllObjects()
            case 0, 1:
                let policy = Int.random(in: 0..<Self.policies.count, using: &random)
                context.mergePolicy = Self.policies[policy]
                let isBehind = try container.head() != context.eventNumber
                do {
                    try context.save()
                } catch let error as StrataError {
                    #expect(error.code == .merge, "seed \(seed), step \(step): \(error)")
                    context.rollback()
                    context.refreshAllObjects()
                }
                (saves, merges) = (saves + 1, merges + (isBehind ? 1 : 0))
                for seen in [context, container.newBackgroundContext()] {
                    if let problem = try disagreement(seen) {
                        let place = seen === context ? "here" : "in the store"
                        Issue.record("seed \(seed), step \(step), policy \(policy), \(place): \(problem)")
                        return
                    }
                }
            default: try change(context, &random)
            }
        }
        #expect(saves > 20 && merges > 10)
    }
}
