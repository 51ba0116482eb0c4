import Foundation
import StrataModel
import StrataStore
import Testing

@Suite struct StoreSavingTests {
    @Test func anInsertedObjectReadsBack() throws {
        let fixture = try StoreFixture()
        let id = try fixture.insert("Movie", ["title": .string("Alien"), "rating": .double(4.5)])
        #expect(try fixture.values(id)?["title"] == .string("Alien"))
        #expect(try fixture.values(id)?["year"] == .null)
    }

    @Test func everyPastStateOfAnObjectReadsBack() throws {
        let fixture = try StoreFixture()
        let before = try fixture.store.head()
        let id = try fixture.insert("Movie", ["title": .string("Alien"), "rating": .double(1)])
        let first = try fixture.store.head()
        try fixture.update(id, ["rating": .double(2)])
        let second = try fixture.store.head()
        try fixture.update(id, ["title": .string("Aliens"), "year": .integer(1986)])
        try fixture.delete(id)
        #expect(try fixture.values(id) == nil)
        #expect(try fixture.values(id, at: before) == nil)
        #expect(try fixture.values(id, at: first)?["rating"] == .double(1))
        #expect(try fixture.values(id, at: second)?["rating"] == .double(2))
        #expect(try fixture.values(id, at: second)?["title"] == .string("Alien"))
        #expect(try fixture.values(id, at: second)?["year"] == .null)
    }

    @Test func membersOfAToManyFollowTheToOneNowAndInThePast() throws {
        let fixture = try StoreFixture()
        let ann = try fixture.insert("Owner", ["name": .string("Ann")])
        let bob = try fixture.insert("Owner", ["name": .string("Bob")])
        let alien = try fixture.insert("Movie", ["title": .string("Alien"), "owner": .objectID(ann)])
        let heat = try fixture.insert("Movie", ["title": .string("Heat"), "owner": .objectID(ann)])
        let then = try fixture.store.head()
        try fixture.update(heat, ["owner": .objectID(bob)])
        #expect(try fixture.members("Owner", "movies", of: ann) == [alien])
        #expect(try fixture.members("Owner", "movies", of: bob) == [heat])
        #expect(try fixture.members("Owner", "movies", of: ann, at: then) == [alien, heat])
        #expect(try fixture.members("Owner", "movies", of: bob, at: then) == [])
    }

    @Test func manyToManyLinksAreOrderedByPlaceOnTheOrderedSide() throws {
        let fixture = try StoreFixture()
        let tags = try fixture.property("Movie", "tags")
        guard case .pair(let canonical)? = tags.relationship?.truth else {
            Issue.record("tags should be pairs")
            return
        }
        let tag = try fixture.insert("Tag", ["label": .string("space")])
        let first = try fixture.insert("Movie", ["title": .string("A")])
        let second = try fixture.insert("Movie", ["title": .string("B")])
        var changes = try fixture.changes()
        for (movie, place) in [(first, Int64(20)), (second, 10)] {
            let isForward = canonical == tags.id
            changes.pairs.append(
                .init(
                    key: PairKey(
                        property: canonical, source: isForward ? movie : tag, target: isForward ? tag : movie),
                    kind: .link(
                        isForward ? PairPositions(inTarget: place) : PairPositions(inSource: place))))
        }
        try fixture.save(changes)
        let then = try fixture.store.head()
        #expect(try fixture.members("Tag", "movies", of: tag) == [second, first])
        #expect(try fixture.members("Movie", "tags", of: first) == [tag])
        try fixture.delete(second)
        #expect(try fixture.members("Tag", "movies", of: tag) == [first])
        #expect(try fixture.members("Tag", "movies", of: tag, at: then) == [second, first])
    }

    @Test func aClashOfUniqueValuesIsRefusedAndASwapIsNot() throws {
        let fixture = try StoreFixture()
        let ann = try fixture.insert("Owner", ["name": .string("Ann")])
        let bob = try fixture.insert("Owner", ["name": .string("Bob")])
        let head = try fixture.store.head()
        #expect(throws: StrataError.self) { try fixture.insert("Owner", ["name": .string("Ann")]) }
        #expect(try fixture.store.head() == head)
        var swap = try fixture.changes()
        try fixture.update(ann, ["name": .string("Bob")], in: &swap)
        try fixture.update(bob, ["name": .string("Ann")], in: &swap)
        try fixture.save(swap)
        #expect(try fixture.values(ann)?["name"] == .string("Bob"))
    }

    @Test func aStaleSaveIsHandedBackWithTheirRow() throws {
        let fixture = try StoreFixture()
        let id = try fixture.insert("Movie", ["title": .string("Alien")])
        var mine = try fixture.changes()
        try fixture.update(id, ["rating": .double(5)], in: &mine)
        try fixture.update(id, ["rating": .double(1)])
        guard case .stale(let staleness) = try fixture.store.save(mine) else {
            Issue.record("the save should be stale")
            return
        }
        #expect(staleness.objects.map(\.id) == [id])
    }

    @Test func aDeleteThatLeavesAMemberBehindIsHandedBack() throws {
        let fixture = try StoreFixture()
        let ann = try fixture.insert("Owner", ["name": .string("Ann")])
        let alien = try fixture.insert("Movie", ["title": .string("Alien"), "owner": .objectID(ann)])
        var changes = try fixture.changes()
        changes.deletions.append(.init(id: ann, baseRevision: try fixture.revision(of: ann)))
        guard case .stale(let staleness) = try fixture.store.save(changes) else {
            Issue.record("the save should be stale")
            return
        }
        #expect(staleness.members.map(\.member) == [alien])
    }

    @Test func aDeleteThatLeavesAPartnerBehindIsHandedBack() throws {
        for rule in [DeleteRule.nullify, .noAction] {
            let fixture = try StoreFixture(model: try Self.partners(rule))
            let (ann, bob) = try Self.partners(in: fixture)
            var changes = try fixture.changes()
            changes.deletions.append(.init(id: ann, baseRevision: try fixture.revision(of: ann)))
            switch try fixture.store.save(changes) {
            case .stale(let staleness):
                #expect(rule == .nullify && staleness.members.map(\.member) == [bob])
                #expect(try fixture.values(ann) != nil)
            case .saved:
                #expect(try rule == .noAction && fixture.values(ann) == nil)
                #expect(try fixture.values(bob)?["partner"] == .objectID(ann))
            }
        }
    }

    /// People in pairs: a one-to-one with itself, which is a slot in both rows.
    private static func partners(_ rule: DeleteRule) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Person",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string)),
                    .relationship(
                        RelationshipDescription(
                            name: "partner", destinationEntityName: "Person", inverseName: "partner", deleteRule: rule)),
                ])
        ])
    }

    private static func partners(in fixture: StoreFixture) throws -> (ObjectID, ObjectID) {
        var changes = try fixture.changes()
        let entity = try fixture.entity("Person").id
        let ids = try (0..<2).map { _ in try fixture.store.newObjectID(in: entity) }
        for (name, id, other) in [("Ann", ids[0], ids[1]), ("Bob", ids[1], ids[0])] {
            changes.insertions.append(
                .init(
                    id: id,
                    image: try fixture.image("Person", ["name": .string(name), "partner": .objectID(other)])))
        }
        try fixture.save(changes)
        return (ids[0], ids[1])
    }

    @Test func aPairThatIsUnlinkedWithItsObjectIsUnlinkedOnce() throws {
        let fixture = try StoreFixture()
        let alien = try fixture.insert("Movie", ["title": .string("Alien")])
        let tags = try ["space", "ship"].map { try fixture.insert("Tag", ["label": .string($0)]) }
        for tag in tags { try fixture.link(alien, "tags", tag) }
        let property = try fixture.property("Movie", "tags")
        guard case .pair(let canonical)? = property.relationship?.truth else { throw StrataError(.unknownKey, "tags") }
        let isForward = canonical == property.id
        var changes = try fixture.changes()
        changes.deletions.append(.init(id: alien, baseRevision: try fixture.revision(of: alien)))
        changes.pairs.append(
            .init(
                key: PairKey(
                    property: canonical, source: isForward ? alien : tags[0], target: isForward ? tags[0] : alien),
                kind: .unlink))
        let receipt = try fixture.save(changes)
        // Two links and the object.
        #expect(try fixture.store.head().rawValue == receipt.previousHead.rawValue + 3)
    }
}
