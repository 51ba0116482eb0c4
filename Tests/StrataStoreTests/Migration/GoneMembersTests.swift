import Foundation
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// Migrations that remove an entity to whose objects others lead.
struct GoneMembersTests {
    private let store = MigratedStore()

    /// How Owner.things leads to objects of Base, of which Kept stays and Gone goes.
    enum Shape: String, CaseIterable {
        case pairs, orderedPairs, noInverse, orderedNoInverse, rows, orderedRows

        var isOrdered: Bool { self == .orderedPairs || self == .orderedNoInverse || self == .orderedRows }
        var hasInverse: Bool { self != .noInverse && self != .orderedNoInverse }
        var isRows: Bool { self == .rows || self == .orderedRows }
    }

    private func model(_ shape: Shape, hasGone: Bool, needsThings: Bool = false) throws -> ManagedObjectModel {
        let number = FetchIndexDescription(name: "byNumber", elements: [FetchIndexElement("number")])
        let back = shape.hasInverse ? "owners" : nil
        var things = RelationshipDescription(
            name: "things", destinationEntityName: "Base", inverseName: back, hasNoInverse: back == nil,
            isToMany: true, isOrdered: shape.isOrdered)
        things.isOptional = !needsThings
        if needsThings { things.minCount = 1 }
        var inverse: [PropertyDescription] = []
        if shape.isRows {
            inverse = [Describe.toOne("owners", "Owner", inverse: "things")]
        } else if shape.hasInverse {
            inverse = [Describe.toMany("owners", "Owner", inverse: "things", ordered: shape.isOrdered)]
        }
        var base = EntityDescription(
            name: "Base",
            properties: [
                Describe.attribute("number", .integer64), Describe.attribute("code", .string),
                Describe.toMany("friends", "Base", inverse: "friends"),
            ] + inverse, indexes: [number], uniquenessConstraints: [["code"]])
        base.isAbstract = true
        return try ManagedObjectModel(
            entities: [
                base, EntityDescription(name: "Kept", superentityName: "Base"),
                EntityDescription(
                    name: "Owner",
                    properties: [Describe.attribute("name", optional: true), .relationship(things)]),
            ] + (hasGone ? [EntityDescription(name: "Gone", superentityName: "Base")] : []))
    }

    private struct Objects {
        var kept: [ObjectID] = []
        var gone: [ObjectID] = []
        var owners: [ObjectID] = []
    }

    /// Two kept objects and two of the entity that goes, linked with two owners and with each other.
    private func fill(_ fixture: StoreFixture, _ shape: Shape) throws -> Objects {
        var objects = Objects()
        func thing(_ name: String, _ number: Int64) throws -> ObjectID {
            try fixture.insert(name, ["number": .integer(number), "code": .string("code \(number)")])
        }
        objects.kept = [try thing("Kept", 1), try thing("Kept", 2)]
        objects.gone = [try thing("Gone", 3), try thing("Gone", 4)]
        objects.owners = try ["Ann", "Bob"].map { try fixture.insert("Owner", ["name": .string($0)]) }
        let members = [objects.gone[0], objects.kept[1], objects.gone[1], objects.kept[0]]
        for (place, member) in members.enumerated() {
            if shape.isRows {
                let position = "owners#position"
                var values: [String: AttributeValue] = ["owners": .objectID(objects.owners[0])]
                if shape.isOrdered { values[position] = .integer(Int64(place)) }
                try fixture.update(member, values)
            } else {
                try fixture.link(objects.owners[0], "things", member, place: Int64(place))
            }
        }
        if !shape.isRows { try fixture.link(objects.owners[1], "things", objects.gone[0]) }
        try fixture.link(objects.kept[0], "friends", objects.kept[1])
        try fixture.link(objects.kept[0], "friends", objects.gone[0])
        try fixture.link(objects.gone[0], "friends", objects.gone[1])
        try fixture.link(objects.gone[1], "friends", objects.gone[1])
        return objects
    }

    private func fetch(_ fixture: StoreFixture, _ entity: String, _ format: String) throws -> [ObjectID] {
        let request = StoreRequest(
            entityID: try fixture.entity(entity).id, predicate: try FetchPredicate(format: format))
        return try fixture.store.read(at: try fixture.store.head()) { try $0.fetch(request) }
    }

    @Test(arguments: Shape.allCases, [200_000, 0])
    func membersOfARemovedEntityAreMembersNoMore(shape: Shape, oneCommit: Int) throws {
        defer { store.remove() }
        let options = MigratedStore.options(oneCommit: oneCommit, step: 1)
        let (objects, before, old) = try store.open(model(shape, hasGone: true)) { fixture in
            let objects = try fill(fixture, shape)
            let head = try fixture.store.head()
            return (objects, (head, try StateDump(fixture.store, at: head)), fixture.schema)
        }
        try store.open(model(shape, hasGone: false), options) { fixture in
            let inOrder = shape.isOrdered ? [objects.kept[1], objects.kept[0]] : objects.kept
            try #expect(fixture.members("Owner", "things", of: objects.owners[0]) == inOrder)
            try #expect(fixture.members("Owner", "things", of: objects.owners[1]).isEmpty)
            try #expect(fixture.members("Base", "friends", of: objects.kept[0]) == [objects.kept[1]])
            // Predicates over the members.
            try #expect(fetch(fixture, "Owner", "things.@count == 2") == [objects.owners[0]])
            try #expect(fetch(fixture, "Owner", "things.@count == 0") == [objects.owners[1]])
            try #expect(fetch(fixture, "Owner", "ANY things.number > 2").isEmpty)
            try #expect(fetch(fixture, "Base", "number > 0") == objects.kept)
            try #expect(fetch(fixture, "Base", "number == 3").isEmpty)
            try #expect(fetch(fixture, "Base", "friends.@count == 1") == objects.kept)
            // The past has them, under the model of then; under this model it shows only what is left.
            try #expect(StateDump(fixture.store, at: before.0, through: old) == before.1)
            let past = try StateDump(fixture.store, at: before.0)
            #expect(past[objects.owners[0], "things"] == .members(inOrder))
            #expect(past[objects.owners[1], "things"] == .members([]))
            #expect(past[objects.kept[0], "friends"] == .members([objects.kept[1]]))
            try #expect(fixture.store.rebuild().isUnchanged)
            // A value that an object of the removed entity had is free.
            try fixture.update(objects.kept[1], ["code": "code 3"])
            if !shape.isRows {
                try fixture.link(objects.owners[1], "things", objects.kept[0])
                try #expect(fixture.members("Owner", "things", of: objects.owners[1]) == [objects.kept[0]])
            }
            if shape.isRows { for id in objects.kept { try fixture.update(id, ["owners": .null]) } }
            try fixture.delete(objects.owners[0])
            try fixture.delete(objects.kept[0])
        }
    }

    /// A to-many without inverse is led elsewhere when its destination goes.
    @Test(arguments: [true, false]) func aToManyThatLeadsElsewhereLosesTheObjectsOfBefore(isOrdered: Bool) throws {
        defer { store.remove() }
        func model(_ destination: String, _ entities: [String]) throws -> ManagedObjectModel {
            try ManagedObjectModel(
                entities: [
                    EntityDescription(
                        name: "Owner", properties: [Describe.toMany("pets", destination, ordered: isOrdered)])
                ] + entities.map { EntityDescription(name: $0, properties: [Describe.attribute("call")]) })
        }
        let (owner, dog) = try store.open(model("Cat", ["Cat", "Dog"])) { fixture in
            let owner = try fixture.insert("Owner", [:])
            let dog = try fixture.insert("Dog", ["call": "Rex"])
            try fixture.link(owner, "pets", fixture.insert("Cat", ["call": "Tom"]))
            return (owner, dog)
        }
        try store.open(model("Dog", ["Dog"])) { fixture in
            try #expect(fixture.members("Owner", "pets", of: owner).isEmpty)
            try fixture.link(owner, "pets", dog)
            try fixture.delete(dog)
            try #expect(fixture.members("Owner", "pets", of: owner).isEmpty)
            try #expect(fixture.store.rebuild().isUnchanged)
        }
    }

    /// The inverse goes with its entity, and the relationship leads to another one without an inverse.
    @Test func aToManyWhoseInverseWentWithItsEntityLosesItsMembers() throws {
        defer { store.remove() }
        func model(_ hasCats: Bool) throws -> ManagedObjectModel {
            let pets = hasCats ? Describe.toMany("pets", "Cat", inverse: "owner") : Describe.toMany("pets", "Dog")
            return try ManagedObjectModel(
                entities: [
                    EntityDescription(name: "Owner", properties: [pets]),
                    EntityDescription(name: "Dog", properties: []),
                ]
                    + (hasCats
                        ? [
                            EntityDescription(
                                name: "Cat", properties: [Describe.toOne("owner", "Owner", inverse: "pets")])
                        ]
                        : []))
        }
        let owner = try store.open(model(true)) { fixture in
            let owner = try fixture.insert("Owner", [:])
            _ = try fixture.insert("Cat", ["owner": .objectID(owner)])
            return owner
        }
        try store.open(model(false)) { fixture in
            try #expect(fixture.members("Owner", "pets", of: owner).isEmpty)
            try #expect(fetch(fixture, "Owner", "pets.@count == 0") == [owner])
        }
    }

    @Test(arguments: Shape.allCases) func anOwnerThatNeedsMembersAndLosesAllIsNamed(shape: Shape) throws {
        defer { store.remove() }
        let owner = try store.open(model(shape, hasGone: true, needsThings: true)) { fixture in
            let owner = try fixture.insert("Owner", [:])
            let gone = try fixture.insert("Gone", ["number": .integer(1), "code": "1"])
            if shape.isRows {
                try fixture.update(gone, ["owners": .objectID(owner)])
            } else {
                try fixture.link(owner, "things", gone)
            }
            return owner
        }
        let error = #expect(throws: StrataError.self) {
            try store.open(model(shape, hasGone: false, needsThings: true)) { _ in }
        }
        #expect(error?.code == .migration)
        #expect(error?.details.map(\.context.objectID) == [owner] && error?.details.first?.context.key == "things")
    }
}
