import Foundation
import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

/// Two contexts over one store change, link, delete, save and fall behind each other at random, beside a plain model of
/// what a three-way merge gives under each policy.
@Suite(.verifiesStores) struct RandomMergeTests {
    static let policies: [(name: String, policy: MergePolicy)] = [
        ("error", .error), ("store trump", .mergeByPropertyStoreTrump), ("object trump", .mergeByPropertyObjectTrump),
    ]

    @Test(arguments: RandomTesting.seeds, [0, 1, 2])
    func twoContextsAgreeWithThePlainMerge(_ seed: UInt64, _ policy: Int) throws {
        let (name, mergePolicy) = Self.policies[policy]
        var run = try MergeRun(seed: seed, policy: mergePolicy)
        var steps: [String] = []
        for step in 0..<200 {
            steps.append(try run.step())
            if let problem = try run.difference() {
                let trace = steps.filter { $0 != "nothing" }.suffix(40).joined(separator: "\n")
                Issue.record("seed \(seed), \(name), step \(step): \(problem)\n\(trace)")
                return
            }
        }
    }
}

private struct PlainGraph: Equatable {
    struct Person: Equatable {
        var name: String
        var boss: ObjectID?
        /// Counts the committed changes of the row.
        var revision = 0

        func isSame(_ other: Person) -> Bool { name == other.name && boss == other.boss }
    }
    struct Pair: Hashable {
        let one: ObjectID
        let two: ObjectID

        init(_ one: ObjectID, _ two: ObjectID) {
            self.one = min(one, two)
            self.two = max(one, two)
        }
    }
    var persons: [ObjectID: Person] = [:]
    var friends: Set<Pair> = []

    mutating func remove(_ id: ObjectID) {
        persons[id] = nil
        for key in persons.keys where persons[key]?.boss == id { persons[key]?.boss = nil }
        friends = friends.filter { $0.one != id && $0.two != id }
    }
}

/// What a save makes of the head; nil when the error policy refuses it.
private struct PlainMerge {
    let base: PlainGraph
    var now: PlainGraph
    let head: PlainGraph
    let policy: MergePolicy
    /// The bosses that deletions have taken from others.
    let cuts: [ObjectID: ObjectID]
    var result: PlainGraph
    var hasConflict = false

    init(_ side: MergeRun.Side, head: PlainGraph, policy: MergePolicy) {
        (base, now, cuts) = (side.base, side.now, side.cuts)
        self.head = head
        self.policy = policy
        result = head
    }

    private var minesWins: Bool { policy.rawValue == 2 }

    mutating func run() -> PlainGraph? {
        takeDeletionsBack()
        for (id, before) in base.persons { mergePerson(id, before) }
        for (id, person) in now.persons where base.persons[id] == nil { result.persons[id] = person }
        mergeFriends()
        cutBosses()
        for (id, person) in result.persons {
            if let old = head.persons[id], old.isSame(person) {
                result.persons[id]?.revision = old.revision
            } else {
                result.persons[id]?.revision = (head.persons[id]?.revision ?? person.revision) + 1
            }
        }
        return hasConflict && policy.rawValue == 0 ? nil : result
    }

    /// Whether others changed a person that this save deletes.
    private func isChangedElsewhere(_ id: ObjectID, _ before: PlainGraph.Person) -> Bool {
        now.persons[id] == nil && head.persons[id].map { $0.revision != before.revision } ?? false
    }

    /// What the policy does not delete is as the store has it, and is the boss again of those who lost it.
    private mutating func takeDeletionsBack() {
        if minesWins { return }
        let returning = Set(base.persons.filter { isChangedElsewhere($0.key, $0.value) }.keys)
        for (id, boss) in cuts where returning.contains(boss) { now.persons[id]?.boss = boss }
        func returns(_ pair: PlainGraph.Pair) -> Bool { returning.contains(pair.one) || returning.contains(pair.two) }
        now.friends = now.friends.filter { !returns($0) }.union(base.friends.filter(returns))
    }

    private mutating func mergePerson(_ id: ObjectID, _ before: PlainGraph.Person) {
        switch (now.persons[id], head.persons[id]) {
        case (nil, nil): break
        case (nil, _?):
            if isChangedElsewhere(id, before) {
                hasConflict = true
                if !minesWins { return }
            }
            result.persons[id] = nil
        case (let mine?, nil):
            guard !mine.isSame(before) else { return }
            hasConflict = true
            if minesWins { result.persons[id] = mine }
        case (let mine?, let theirs?):
            // Two that write the same may have counted the same; two that link the same have made one link.
            if mine.name != before.name, mine.name == theirs.name { hasConflict = true }
            let name = merged(before.name, mine.name, theirs.name)
            let boss = merged(before.boss, mine.boss, theirs.boss)
            result.persons[id]?.name = name
            result.persons[id]?.boss = boss
        }
    }

    private mutating func merged<Value: Equatable>(_ before: Value, _ mine: Value, _ theirs: Value) -> Value {
        if mine == before { return theirs }
        if theirs == before || theirs == mine { return mine }
        hasConflict = true
        return minesWins ? mine : theirs
    }

    private mutating func mergeFriends() {
        let added = now.friends.subtracting(base.friends)
        for pair in added {
            for end in [pair.one, pair.two] where result.persons[end] == nil { hasConflict = true }
        }
        result.friends = head.friends.union(added).subtracting(base.friends.subtracting(now.friends)).filter {
            result.persons[$0.one] != nil && result.persons[$0.two] != nil
        }
    }

    /// A boss that this save deletes is left silently; one that others deleted is a conflict.
    private mutating func cutBosses() {
        for (id, person) in result.persons {
            guard let boss = person.boss, result.persons[boss] == nil else { continue }
            if head.persons[boss] == nil { hasConflict = true }
            result.persons[id]?.boss = nil
        }
    }
}

private struct MergeRun {
    struct Side {
        let context: ManagedObjectContext
        var base = PlainGraph()
        var now = PlainGraph()
        /// The bosses that deletions have taken from others, and not been replaced since.
        var cuts: [ObjectID: ObjectID] = [:]

        mutating func move(to state: PlainGraph) {
            (base, now, cuts) = (state, state, [:])
        }
    }

    let container: PersistentContainer
    let policy: MergePolicy
    var random: SeededGenerator
    var sides: [Side]
    var head = PlainGraph()
    var counter = 0

    init(seed: UInt64, policy: MergePolicy) throws {
        container = try makeContainer(graphEntities)
        self.policy = policy
        random = SeededGenerator(seed: seed)
        sides = [Side(context: container.newBackgroundContext()), Side(context: container.newBackgroundContext())]
        for side in sides { side.context.mergePolicy = policy }
    }

    private mutating func chance(_ count: Int) -> Int { Int.random(in: 0..<max(1, count), using: &random) }

    private mutating func pick(_ side: Int) -> (ObjectID, Person)? {
        let ids = sides[side].now.persons.keys.sorted()
        guard !ids.isEmpty else { return nil }
        let id = ids[chance(ids.count)]
        return (try? sides[side].context.existingObject(with: id, as: Person.self)).map { (id, $0) }
    }

    mutating func step() throws -> String {
        counter += 1
        let side = chance(2)
        switch chance(14) {
        case 0, 1:
            let person = Person(context: sides[side].context)
            person.name = "p\(counter)"
            sides[side].now.persons[person.objectID] = PlainGraph.Person(name: "p\(counter)")
            return "\(side) makes \(person.objectID)"
        case 2, 3, 4:
            guard let (id, person) = pick(side) else { return "nothing" }
            // Few names, so that both sides often choose the same.
            let name = "n\(chance(4))"
            person.name = name
            sides[side].now.persons[id]?.name = name
            return "\(side) renames \(id) \(name)"
        case 5, 6:
            guard let (id, person) = pick(side), let (boss, object) = pick(side) else { return "nothing" }
            let isNone = chance(3) == 0
            person.boss = isNone ? nil : object
            sides[side].now.persons[id]?.boss = isNone ? nil : boss
            sides[side].cuts[id] = nil
            return "\(side) sets the boss of \(id) to \(isNone ? "nil" : "\(boss)")"
        case 7, 8: return befriend(side)
        case 9:
            guard let (id, person) = pick(side) else { return "nothing" }
            sides[side].context.delete(person)
            for (other, person) in sides[side].now.persons where person.boss == id { sides[side].cuts[other] = id }
            sides[side].now.remove(id)
            return "\(side) deletes \(id)"
        case 10:
            sides[side].context.rollback()
            sides[side].move(to: sides[side].base)
            return "\(side) rolls back"
        case 11:
            guard !sides[side].context.hasChanges else { return "nothing" }
            sides[side].context.refreshAllObjects()
            sides[side].move(to: head)
            return "\(side) refreshes"
        default: return try save(side)
        }
    }

    private mutating func befriend(_ side: Int) -> String {
        guard let (one, first) = pick(side), let (two, second) = pick(side), one != two else { return "nothing" }
        let pair = PlainGraph.Pair(one, two)
        if sides[side].now.friends.contains(pair) {
            first.friends.remove(second)
            sides[side].now.friends.remove(pair)
        } else {
            first.friends.insert(second)
            sides[side].now.friends.insert(pair)
        }
        return "\(side) turns the friendship of \(one) and \(two)"
    }

    private mutating func save(_ side: Int) throws -> String {
        guard sides[side].context.hasChanges else { return "nothing" }
        var merge = PlainMerge(sides[side], head: head, policy: policy)
        guard let result = merge.run() else {
            let error = thrownError { try sides[side].context.save() }
            #expect(error?.code == .merge)
            if let problem = try difference() { return "refused save: \(problem)" }
            sides[side].context.rollback()
            sides[side].context.refreshAllObjects()
            sides[side].move(to: head)
            return "\(side) is refused"
        }
        do {
            try sides[side].context.save()
        } catch {
            Issue.record("side \(side), step \(counter): \(error)")
        }
        // With nothing left to save a context stays where it is.
        guard sides[side].context.eventNumber == (try container.head()) else {
            sides[side].move(to: sides[side].base)
            return "\(side) saves nothing"
        }
        head = result
        sides[side].move(to: result)
        return "\(side) saves"
    }

    // MARK: Comparing

    func difference() throws -> String? {
        for (number, side) in sides.enumerated() {
            let persons = try side.context.fetch(FetchRequest<Person>())
            if Set(persons.map(\.objectID)) != Set(side.now.persons.keys) { return "other persons on side \(number)" }
            for person in persons {
                guard let plain = side.now.persons[person.objectID] else { continue }
                if person.name != plain.name || person.boss?.objectID != plain.boss {
                    return
                        "side \(number): \(person.objectID) is \(person.name), not \(plain.name), or has another boss"
                }
                let friends = Set(
                    side.now.friends.compactMap { pair in
                        pair.one == person.objectID ? pair.two : pair.two == person.objectID ? pair.one : nil
                    })
                if Set(person.friends.objectIDs) != friends || person.friends.count != friends.count {
                    return "side \(number): friends of \(person.objectID)"
                }
                let reports = Set(side.now.persons.filter { $0.value.boss == person.objectID }.keys)
                if Set(person.reports.objectIDs) != reports || person.reports.count != reports.count {
                    return "side \(number): reports of \(person.objectID)"
                }
            }
            if !side.context.unreportedErrors.isEmpty { return "side \(number): \(side.context.unreportedErrors)" }
        }
        return nil
    }
}
