import StrataModel
@testable import StrataStore
import StrataTestSupport
import Testing

/// Members that a run reads ahead are those that are read owner by owner.
struct MembersAheadTests {
    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Person",
                properties: [
                    .attribute(AttributeDescription(name: "age", type: .integer64)),
                    .relationship(
                        RelationshipDescription(
                            name: "friends", destinationEntityName: "Person", inverseName: "friends", isToMany: true)),
                    .relationship(
                        RelationshipDescription(
                            name: "follows", destinationEntityName: "Person", hasNoInverse: true, isToMany: true,
                            isOrdered: true)),
                ])
        ])
    }

    /// Two thousand people: most have a few links, some none, and two have more than are read in one pass.
    private func makePeople(
        _ random: inout SeededGenerator
    ) throws -> (StoreFixture, people: [ObjectID], links: [PropertyID]) {
        let fixture = try StoreFixture(model: Self.model())
        var changes = try fixture.changes()
        let people = try (0..<2000).map { number in
            try fixture.insert("Person", ["age": .integer(Int64(number % 90))], into: &changes)
        }
        let names = ["friends", "follows"]
        for name in names {
            for (index, owner) in people.enumerated() {
                let count = index == 300 || index == 1500 ? 700 : Int.random(in: -1...4, using: &random)
                var members: Set<ObjectID> = []
                while members.count < count, let member = people.randomElement(using: &random) {
                    // A friendship is one link, whichever end it was made at.
                    if name == "follows" || member > owner || count > 4 { members.insert(member) } else { break }
                }
                for (place, member) in members.sorted().enumerated() where name == "follows" || member > owner {
                    try fixture.link(owner, name, member, place: Int64(place), in: &changes)
                }
            }
        }
        try fixture.save(changes)
        return (fixture, people, try names.map { try fixture.property("Person", $0).id })
    }

    @Test func inWhateverOrderOwnersAreVisited() throws {
        var random = SeededGenerator(seed: 11)
        let (fixture, people, links) = try makePeople(&random)
        let orders = [
            people, people.reversed(), people.shuffled(using: &random), people + people,
            people.filter { _ in Int.random(in: 0..<20, using: &random) == 0 },
            people.flatMap { [$0, $0] }, (people + people.shuffled(using: &random).prefix(900)).sorted(),
        ]
        try fixture.store.read(at: try fixture.store.head()) { snapshot in
            #expect(snapshot.readsLinksAhead)
            for (number, order) in orders.enumerated() {
                let ahead = MembersAhead()
                for owner in order {
                    for link in links {
                        let limit = Int.random(in: 1...3, using: &random) == 1 ? 2 : Int.max
                        var found: [ObjectID] = []
                        try ahead.members(of: link, owner: owner, snapshot) { member in
                            found.append(member)
                            return found.count < limit
                        }
                        let wanted = try snapshot.members(of: link, owner: owner, limit: limit)
                        #expect(found == wanted, "order \(number), \(owner)")
                    }
                }
            }
        }
    }

    /// The body that gets a member asks for the members of that one.
    @Test func alsoWhileMembersAreVisited() throws {
        var random = SeededGenerator(seed: 12)
        let (fixture, people, links) = try makePeople(&random)
        try fixture.store.read(at: try fixture.store.head()) { snapshot in
            for link in links {
                let ahead = MembersAhead()
                for owner in people.prefix(900) {
                    var found: [[ObjectID]] = []
                    try ahead.members(of: link, owner: owner, snapshot) { member in
                        var inner: [ObjectID] = []
                        try ahead.members(of: link, owner: member, snapshot) {
                            inner.append($0)
                            return inner.count < 20
                        }
                        found.append(inner)
                        return found.count < 20
                    }
                    let wanted = try snapshot.members(of: link, owner: owner, limit: 20).map {
                        try snapshot.members(of: link, owner: $0, limit: 20)
                    }
                    #expect(found == wanted, "\(owner)")
                }
            }
        }
    }
}
