import StrataModel
@testable import StrataStore
import StrataTestSupport
import Testing

/// Members are counted in states of the past as a walk over them counts.
struct MemberCountTests {
    /// People who know each other, and follow each other in an order.
    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Person",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string)),
                    .relationship(
                        RelationshipDescription(
                            name: "friends", destinationEntityName: "Person", inverseName: "friends", isToMany: true)),
                    .relationship(
                        RelationshipDescription(
                            name: "follows", destinationEntityName: "Person", inverseName: "followers", isToMany: true,
                            isOrdered: true)),
                    .relationship(
                        RelationshipDescription(
                            name: "followers", destinationEntityName: "Person", inverseName: "follows", isToMany: true)),
                    .relationship(
                        RelationshipDescription(
                            name: "likes", destinationEntityName: "Person", hasNoInverse: true, isToMany: true)),
                ])
        ])
    }

    /// A random history, each state of which is counted while more is saved and at the end.
    private func expectCounts(_ seed: UInt64, _ options: StoreOptions) throws {
        var random = SeededGenerator(seed: seed)
        let fixture = try StoreFixture(model: Self.model(), options: options)
        var people: [ObjectID] = []
        var linked: Set<PairKey> = []
        var states: [(EventNumber, [Int])] = []
        func counts(at state: EventNumber) throws -> [Int] {
            try fixture.store.read(at: state) { snapshot in
                try fixture.schema.links.all.flatMap { link in
                    try people.map { person in
                        let count = try snapshot.memberCount(of: link.id, owner: person)
                        let members = try snapshot.members(of: link.id, owner: person)
                        #expect(count == members.count, "seed \(seed), \(link.name) of \(person) at \(state)")
                        return count
                    }
                }
            }
        }
        for number in 0..<80 {
            let one = people.randomElement(using: &random)
            let other = people.randomElement(using: &random)
            let relationship = ["friends", "follows", "followers", "likes"].randomElement(using: &random) ?? "likes"
            if let one, let other, number % 4 > 0 {
                let link = fixture.schema.links.link(try fixture.property("Person", relationship).id)
                let pair = try #require(link?.pairKey(owner: one, member: other))
                if linked.insert(pair).inserted {
                    try fixture.link(one, relationship, other, place: Int64(number))
                } else if Bool.random(using: &random) {
                    try fixture.move(one, relationship, other, place: Int64(number))
                } else {
                    linked.remove(pair)
                    try fixture.unlink(one, relationship, other)
                }
            } else if let one, number % 16 == 8 {
                try fixture.delete(one)
                linked = linked.filter { $0.source != one && $0.target != one }
                people.removeAll { $0 == one }
                states.removeAll()
            } else {
                people.append(try fixture.insert("Person", ["name": .string("\(number)")]))
                states.removeAll()
            }
            let head = try fixture.store.head()
            states.append((head, try counts(at: head)))
            for _ in 0..<2 {
                let (then, expected) = try #require(states.randomElement(using: &random))
                #expect(try counts(at: then) == expected, "seed \(seed), \(then) at \(head)")
            }
        }
        // Early states, in which some people are not there yet and others were not deleted.
        for state in 1...(try fixture.store.head().rawValue) where state % 3 == 0 {
            let last = try fixture.store.lastTransaction(upTo: EventNumber(rawValue: state))
            guard let record = try fixture.store.transaction(last) else { continue }
            _ = try counts(at: record.lastEvent)
        }
    }

    @Test(arguments: RandomTesting.seeds) func aCountIsThatOfTheWalk(_ seed: UInt64) throws {
        try expectCounts(seed, StoreOptions())
    }

    @Test(arguments: RandomTesting.seeds) func aCountFromPartsIsThatOfTheWalk(_ seed: UInt64) throws {
        var options = StoreOptions()
        options.pastPartSize = 16
        try expectCounts(seed, options)
    }

    /// A count of many members at an early moment reads none of them.
    @Test func anEarlyCountReadsNoMembers() throws {
        let fixture = try StoreFixture()
        let tag = try fixture.insert("Tag", ["label": .string("all")])
        let early = try fixture.store.head()
        var changes = try fixture.changes()
        let key = try #require(fixture.schema.links.link(fixture.property("Tag", "movies").id))
        for place in 0..<100 {
            let movie = try fixture.insert("Movie", ["title": .string("movie \(place)")], into: &changes)
            let pair = try #require(key.pairKey(owner: tag, member: movie))
            changes.pairs.append(.init(key: pair, kind: .link(PairPositions())))
        }
        try fixture.save(changes)
        let half = try fixture.store.head()
        let members = try fixture.members("Tag", "movies", of: tag)
        for movie in members.prefix(60) { try fixture.unlink(movie, "tags", tag) }
        for (state, expected) in [(early, 0), (half, 100), (try fixture.store.head(), 40)] {
            let count = try fixture.store.read(at: state, budget: RequestBudget(steps: 5)) {
                try $0.memberCount(of: key.id, owner: tag)
            }
            #expect(count == expected)
        }
    }
}
