import Foundation
import StrataModel
import StrataStore
import Testing

/// Relationships and entities that allow less than they did, and indexed entities that move in the hierarchy.
struct StructureMigrationTests {
    private let store = MigratedStore()

    // MARK: Destinations

    /// Owners with pets; cats and dogs are animals.
    private func pets(_ destination: String, _ relationship: (String) -> PropertyDescription) throws
        -> ManagedObjectModel
    {
        try Describe.model(
            EntityDescription(name: "Animal", properties: [Describe.attribute("name")]),
            EntityDescription(name: "Cat", superentityName: "Animal"),
            EntityDescription(name: "Dog", superentityName: "Animal"),
            EntityDescription(name: "Owner", properties: [relationship(destination)]))
    }

    @Test func toOneThatMayLeadToFewerEntitiesIsHeldAgainstItsTargets() throws {
        defer { store.remove() }
        func toOne(_ destination: String) -> PropertyDescription { Describe.toOne("pet", destination) }
        let (owners, dog) = try store.open(pets("Animal", toOne)) { fixture in
            let cat = try fixture.insert("Cat", ["name": .string("Tom")])
            let dog = try fixture.insert("Dog", ["name": .string("Rex")])
            let owners = try [.objectID(cat), .objectID(dog), AttributeValue.null].map {
                try fixture.insert("Owner", ["pet": $0])
            }
            return (owners, dog)
        }
        let narrow = try pets("Cat", toOne)
        try store.open { opened in
            let plan = try opened.migrationPlan(to: narrow)
            #expect(plan.steps.map(\.kind) == [.destination] && plan.steps.map(\.work) == [.scan])
            #expect(plan.objectCount == 3)
        }
        let error = #expect(throws: StrataError.self) { try store.open(narrow) { _ in } }
        #expect(error?.code == .migration && error?.details.map(\.context.objectID) == [owners[1]])
        #expect(error?.details.first?.context.key == "pet")
        #expect(error?.details.first?.message.contains(" Dog/p\(dog.row).") ?? false)
        try store.open { #expect($0.schema.version == ModelVersion(rawValue: 1)) }
        try store.open(pets("Animal", toOne)) { try $0.update(owners[1], ["pet": .null]) }
        try store.open(narrow) { fixture in
            try #expect(fixture.values(owners[1])?["pet"] == .null)
            #expect(fixture.schema.version == ModelVersion(rawValue: 2))
        }
    }

    @Test func toOneThatMayLeadToMoreEntitiesNeedsNoLook() throws {
        defer { store.remove() }
        func toOne(_ destination: String) -> PropertyDescription { Describe.toOne("pet", destination) }
        let owner = try store.open(pets("Cat", toOne)) { fixture in
            try fixture.insert("Owner", ["pet": .objectID(fixture.insert("Cat", ["name": .string("Tom")]))])
        }
        try store.open { try #expect($0.migrationPlan(to: pets("Animal", toOne)).isConstantTime) }
        try store.open(pets("Animal", toOne)) { fixture in
            let dog = try fixture.insert("Dog", ["name": .string("Rex")])
            try fixture.update(owner, ["pet": .objectID(dog)])
            try #expect(fixture.values(owner)?["pet"] == .objectID(dog))
        }
    }

    // MARK: Entities that go

    /// Owners lead to animals, of which cats go, or to cats, whose place dogs take.
    @Test(arguments: [true, false]) func aToOneToAnObjectOfARemovedEntityBecomesNil(isInherited: Bool) throws {
        defer { store.remove() }
        func model(_ animals: [String], _ destination: String) throws -> ManagedObjectModel {
            let parent = isInherited ? "Animal" : nil
            return try ManagedObjectModel(
                entities: [
                    EntityDescription(
                        name: "Animal",
                        properties: isInherited ? [Describe.toMany("owners", "Owner", inverse: "pet")] : []),
                    EntityDescription(
                        name: "Owner",
                        properties: [
                            Describe.attribute("name", optional: true),
                            Describe.toOne("pet", destination, inverse: isInherited ? "owners" : nil),
                        ]),
                ]
                    + animals.map { name in
                        EntityDescription(
                            name: name, superentityName: parent,
                            properties: [Describe.attribute("call", optional: true)])
                    })
        }
        let (owner, dogOwner, dog) = try store.open(model(["Cat", "Dog"], isInherited ? "Animal" : "Cat")) {
            fixture in
            let cat = try fixture.insert("Cat", ["call": .string("Tom")])
            let dog = try fixture.insert("Dog", ["call": .string("Rex")])
            let owner = try fixture.insert("Owner", ["pet": .objectID(cat)])
            let other = try fixture.insert("Owner", ["pet": isInherited ? .objectID(dog) : .null])
            return (owner, other, dog)
        }
        try store.open(model(["Dog"], isInherited ? "Animal" : "Dog")) { fixture in
            try #expect(fixture.values(owner)?["pet"] == .null)
            if isInherited { try #expect(fixture.values(dogOwner)?["pet"] == .objectID(dog)) }
            try fixture.update(owner, ["pet": .objectID(dog), "name": .string("Ann")])
            try fixture.update(owner, ["pet": .null])
            try fixture.delete(owner)
        }
    }

    @Test func aRequiredToOneToAnObjectOfARemovedEntityIsNamed() throws {
        defer { store.remove() }
        func model(_ hasCats: Bool) throws -> ManagedObjectModel {
            let pet = Describe.toOne("pet", "Animal", optional: false)
            return try ManagedObjectModel(
                entities: [EntityDescription(name: "Animal"), EntityDescription(name: "Owner", properties: [pet])]
                    + (hasCats ? [EntityDescription(name: "Cat", superentityName: "Animal")] : []))
        }
        let owner = try store.open(model(true)) { fixture in
            try fixture.insert("Owner", ["pet": .objectID(fixture.insert("Cat", [:]))])
        }
        let error = #expect(throws: StrataError.self) { try store.open(model(false)) { _ in } }
        #expect(error?.code == .migration)
        #expect(error?.details.map(\.context.objectID) == [owner] && error?.details.first?.context.key == "pet")
    }

    // MARK: Attributes that move and are renamed

    /// An attribute of one name in some entities before, and of another, with the first as its renaming identifier, in
    /// others after.
    @Test(arguments: [
        // Up to the parent, from one child and from two.
        (["Cat"], ["Animal"]), (["Cat", "Dog"], ["Animal"]),
        // Down to the children, to one and to both.
        (["Animal"], ["Cat"]), (["Animal"], ["Cat", "Dog"]),
    ]) func whatIsRenamedOnItsWayAlongTheHierarchyKeepsItsValues(before: [String], after: [String]) throws {
        defer { store.remove() }
        func model(_ owners: [String], _ attribute: PropertyDescription) throws -> ManagedObjectModel {
            try Describe.model(
                EntityDescription(name: "Animal", properties: owners.contains("Animal") ? [attribute] : []),
                EntityDescription(
                    name: "Cat", superentityName: "Animal", properties: owners.contains("Cat") ? [attribute] : []),
                EntityDescription(
                    name: "Dog", superentityName: "Animal", properties: owners.contains("Dog") ? [attribute] : []))
        }
        func attribute(_ name: String, was old: String?) -> PropertyDescription {
            .attribute(AttributeDescription(name: name, type: .string, isOptional: true, renamingIdentifier: old))
        }
        let (first, second) = (try model(before, attribute("x", was: nil)), try model(after, attribute("z", was: "x")))
        let hasIt = before.contains("Animal") ? ["Cat", "Dog"] : before
        let pets = try store.open(first) { fixture in
            try hasIt.map { try fixture.insert($0, ["x": .string("the \($0)'s")]) }
        }
        try store.open(second) { fixture in
            for (name, pet) in zip(hasIt, pets) where after.contains("Animal") || after.contains(name) {
                try #expect(fixture.values(pet)?["z"] == .string("the \(name)'s"))
            }
        }
    }

    @Test func whatIsRenamedOnItsWayUnderANewParentOrOutOfOneKeepsItsValues() throws {
        func attribute(_ name: String, was old: String?) -> PropertyDescription {
            .attribute(AttributeDescription(name: name, type: .string, isOptional: true, renamingIdentifier: old))
        }
        let alone = try Describe.model(EntityDescription(name: "Cat", properties: [attribute("x", was: nil)]))
        let below = try Describe.model(
            EntityDescription(name: "Animal", isAbstract: true, properties: [attribute("z", was: "x")]),
            EntityDescription(name: "Cat", superentityName: "Animal"))
        let out = try Describe.model(
            EntityDescription(name: "Animal", properties: [attribute("z", was: "x")]),
            EntityDescription(name: "Cat", properties: [attribute("w", was: "z")]))
        defer { store.remove() }
        let cat = try store.open(alone) { try $0.insert("Cat", ["x": .string("Tom")]) }
        try store.open(below) { try #expect($0.values(cat)?["z"] == .string("Tom")) }
        try store.open(out) { try #expect($0.values(cat)?["w"] == .string("Tom")) }
    }

    // MARK: Members

    @Test func narrowerRangeOfMembersIsHeldAgainstTheCounts() throws {
        defer { store.remove() }
        func team(_ least: Int, _ most: Int) throws -> ManagedObjectModel {
            let players = RelationshipDescription(
                name: "players", destinationEntityName: "Player", inverseName: "team", isToMany: true, minCount: least,
                maxCount: most)
            return try Describe.model(
                EntityDescription(name: "Team", properties: [.relationship(players)]),
                EntityDescription(name: "Player", properties: [Describe.toOne("team", "Team", inverse: "players")]))
        }
        let teams = try store.open(team(0, 0)) { fixture in
            try [0, 1, 2, 3].map { count in
                let team = try fixture.insert("Team", [:])
                for _ in 0..<count { _ = try fixture.insert("Player", ["team": .objectID(team)]) }
                return team
            }
        }
        for (least, most, refused, code) in [
            (0, 2, [teams[3]], StrataError.Code.validationRelationshipExceedsMaximumCount),
            (2, 3, [teams[1]], .validationRelationshipLacksMinimumCount),
        ] {
            let error = #expect(throws: StrataError.self) { try store.open(team(least, most)) { _ in } }
            // An optional to-many may also be empty.
            #expect(error?.details.map(\.context.objectID) == refused && error?.details.first?.code == code)
        }
        try store.open { #expect($0.schema.version == ModelVersion(rawValue: 1)) }
        try store.open(team(1, 3)) { #expect($0.schema.version == ModelVersion(rawValue: 2)) }
        try store.open { try #expect($0.migrationPlan(to: team(0, 5)).isConstantTime) }
    }

    // MARK: Entities

    @Test func entityThatIsAbstractNowMayHaveNoObjects() throws {
        defer { store.remove() }
        func shapes(_ isAbstract: Bool) throws -> ManagedObjectModel {
            try Describe.model(
                EntityDescription(name: "Shape", isAbstract: isAbstract, properties: [Describe.attribute("name")]),
                EntityDescription(name: "Circle", superentityName: "Shape"))
        }
        let (shape, circle) = try store.open(shapes(false)) {
            (try $0.insert("Shape", ["name": .string("any")]), try $0.insert("Circle", ["name": .string("round")]))
        }
        let error = #expect(throws: StrataError.self) { try store.open(shapes(true)) { _ in } }
        #expect(error?.code == .migration && error?.details.map(\.context.objectID) == [shape])
        let then = try store.open { try $0.head() }
        try store.open(shapes(false)) { try $0.delete(shape) }
        try store.open(shapes(true)) { fixture in
            try #expect(fixture.values(circle)?["name"] == .string("round"))
            #expect(throws: StrataError.self) { try fixture.insert("Shape", ["name": .string("any")]) }
            // The past has it still.
            let past = try StateDump(fixture.store, at: then, through: fixture.store.schema(at: then))
            #expect(past[shape, "name"] == .value(.string("any")))
        }
    }

    /// Under a parent with an index and a unique rule, out of it again, and back: its names go with it.
    @Test func entityThatMovesUnderAnIndexedParentIsFiledThere() throws {
        defer { store.remove() }
        func model(parent: String?) throws -> ManagedObjectModel {
            let name = Describe.attribute("name")
            return try Describe.model(
                EntityDescription(
                    name: "Named", properties: [name],
                    indexes: [FetchIndexDescription(name: "byName", elements: [FetchIndexElement("name")])],
                    uniquenessConstraints: [["name"]]),
                EntityDescription(
                    name: "City", superentityName: parent,
                    properties: (parent == nil ? [name] : []) + [Describe.attribute("size", .integer32)]))
        }
        let (named, cities) = try store.open(model(parent: nil)) { fixture in
            let named = try fixture.insert("Named", ["name": .string("Rome")])
            let cities = try ["Rome", "Oslo", "Bern"].map {
                try fixture.insert("City", ["name": .string($0), "size": .integer(1)])
            }
            return (named, cities)
        }
        let error = #expect(throws: StrataError.self) { try store.open(model(parent: "Named")) { _ in } }
        #expect(error?.details.map(\.code) == [.constraintMerge], "\(String(describing: error?.details))")
        #expect(error?.details.first?.context.objectID == cities[0])
        try store.open(model(parent: nil)) { try $0.update(named, ["name": .string("Roma")]) }
        try store.open { opened in
            let plan = try opened.migrationPlan(to: model(parent: "Named"))
            #expect(plan.steps.contains { $0.kind == .propertyMoved && $0.work == .rewrite && $0.objectCount == 3 })
        }
        for parent in ["Named", nil, "Named"] {
            try store.open(model(parent: parent)) { fixture in
                // It counts the entries of every index against the objects, too.
                let dump = try StateDump(fixture.store, at: fixture.store.head())
                #expect(dump.objects.count == 4)
                #expect(
                    cities.map { dump[$0, "name"] } == ["Rome", "Oslo", "Bern"].map { .value(.string($0)) },
                    "\(String(describing: parent))")
                try #expect(found("Oslo", fixture) == (parent == nil ? [] : [cities[1]]))
                try #expect(found("Roma", fixture) == [named])
                guard parent != nil else { return }
                let clash = #expect(throws: StrataError.self) {
                    try fixture.insert("Named", ["name": .string("Bern")])
                }
                #expect(clash?.code == .constraintMerge)
            }
        }
    }

    /// The objects that the parent's index has under a name.
    private func found(_ name: String, _ fixture: StoreFixture) throws -> [ObjectID] {
        let named = try fixture.entity("Named")
        let index = try #require(named.indexes.first { $0.name == "byName" })
        return try fixture.store.read(at: fixture.store.head()) { snapshot in
            var ids: [ObjectID] = []
            try snapshot.scan(index, lower: [], upper: nil) { id, _ in
                let entity = try fixture.entity(try fixture.name(of: id))
                guard let row = try snapshot.row(id), let slot = entity.property(named: "name")?.slot else {
                    return true
                }
                let value = try row.converted(to: entity).withReader(entity.layout) { reader throws(CorruptRecord) in
                    try reader.value(slot)
                }
                if value == .string(name) { ids.append(id) }
                return true
            }
            return ids
        }
    }
}
