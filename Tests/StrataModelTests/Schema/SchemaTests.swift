import Foundation
import StrataModel
import Testing

/// Installs models one after the other, as a store does.
struct Installer {
    var schema: Schema?

    mutating func install(_ entities: EntityDescription...) throws -> Schema {
        let model = try ManagedObjectModel(entities: entities)
        let assignment = try (schema?.assignment ?? ModelAssignment()).extended(for: model, from: schema)
        let version = ModelVersion(rawValue: (schema?.version.rawValue ?? 0) + 1)
        let new = try Schema(version: version, model: model, assignment: assignment)
        schema = new
        return new
    }
}

extension Schema {
    func id(_ entityName: String, _ name: String) throws -> PropertyID {
        try #require(entity(named: entityName)?.property(named: name)?.id)
    }

    func index(_ entityName: String, _ name: String) throws -> IndexID {
        try #require(assignment.indexes[entityName]?[name])
    }
}

struct SchemaTests {
    @Test func inheritedSlotsComeFirstAndHiddenOnesLast() throws {
        var installer = Installer()
        let schema = try installer.install(
            entity("Base", [attribute("a"), toOne("list", "List"), attribute("b", .integer16)]),
            entity("Leaf", [attribute("c"), attribute("d", .uuid)], parent: "Base"),
            entity("List", [toMany("items", "Base", inverse: "list", ordered: true)]))
        let base = try #require(schema.entity(named: "Base")), leaf = try #require(schema.entity(named: "Leaf"))
        #expect(base.properties.map(\.name) == ["a", "list", "b", "list#position"])
        #expect(leaf.properties.map(\.name) == ["a", "list", "b", "c", "d", "list#position"])
        for entity in [base, leaf] {
            #expect(entity.properties.map(\.slot) == Array(entity.properties.indices))
            #expect(entity.layout.slots.map(\.propertyID) == entity.properties.map(\.id))
        }
        let inBase = try #require(base.property(named: "list")?.relationship)
        let inLeaf = try #require(leaf.property(named: "list")?.relationship)
        #expect(inBase.positionSlot == 3)
        #expect(inLeaf.positionSlot == 5)
        #expect(inBase.position == inLeaf.position)
        #expect(base.property(named: "list#position")?.id == inBase.position)
        #expect(leaf.slot(of: try #require(inLeaf.position)) == 5)
        #expect(schema.property(try #require(inLeaf.position))?.slot == 3)
        #expect(leaf.property(named: "list#position")?.storage == .position)
        #expect(try schema.id("Base", "a") == schema.id("Leaf", "a"))
    }

    @Test func entityKnowsWhatLiesBelowIt() throws {
        var installer = Installer()
        let schema = try installer.install(
            entity("C", parent: "B"), entity("A", isAbstract: true), entity("B", parent: "A", isAbstract: true),
            entity("D", parent: "A"))
        let ids = schema.assignment.entities
        let a = try #require(schema.entity(named: "A"))
        #expect(Set(a.entityIDs) == Set(ids.values))
        #expect(Set(a.concreteEntityIDs) == [ids["C"], ids["D"]])
        #expect(a.superentityID == nil)
        #expect(schema.entity(named: "C")?.superentityID == ids["B"])
        #expect(schema.entity(named: "C")?.concreteEntityIDs == [try #require(ids["C"])])
    }

    @Test func truthOfLinksStandsWhereTheRuleSays() throws {
        var installer = Installer()
        let schema = try installer.install(
            entity(
                "A",
                [
                    toOne("one", "B"), toMany("many", "B", inverse: "manyBack"),
                    toOne("spouse", "A", inverse: "spouse"),
                    toMany("friends", "A", inverse: "friends"), toMany("alone", "B", alone: true),
                    toOne("aloneOne", "B", alone: true), toOne("oneToOne", "B"),
                ]),
            entity(
                "B",
                [
                    toMany("oneBack", "A", inverse: "one"), toMany("manyBack", "A"),
                    toOne("oneToOneBack", "A", inverse: "oneToOne"),
                ]))
        func relationship(_ entity: String, _ name: String) throws -> RelationshipSchema {
            try #require(schema.entity(named: entity)?.property(named: name)?.relationship)
        }
        let many = try schema.id("A", "many")
        #expect(try relationship("A", "one").truth == .slot)
        #expect(try relationship("B", "oneBack").truth == .inverseSlot)
        #expect(try relationship("B", "oneBack").inverse == schema.id("A", "one"))
        #expect(try relationship("A", "many").truth == .pair(canonical: many))
        #expect(try relationship("B", "manyBack").truth == .pair(canonical: many))
        #expect(try relationship("A", "spouse").truth == .slot)
        #expect(try relationship("A", "spouse").inverse == schema.id("A", "spouse"))
        #expect(try relationship("A", "friends").truth == .pair(canonical: schema.id("A", "friends")))
        #expect(try relationship("A", "alone").truth == .pair(canonical: schema.id("A", "alone")))
        #expect(try relationship("A", "alone").inverse == nil)
        #expect(try relationship("A", "aloneOne").truth == .slot)
        #expect(try relationship("A", "aloneOne").isInverseToMany)
        #expect(try relationship("B", "oneToOneBack").truth == .slot)
        #expect(try !relationship("B", "oneToOneBack").isInverseToMany)
        #expect(schema.entity(named: "B")?.property(named: "oneBack")?.storage == nil)
        #expect(schema.entity(named: "A")?.property(named: "one")?.storage == .reference)
    }

    @Test func indexesAndConstraintsAreInheritedUnderOneNumber() throws {
        var installer = Installer()
        let schema = try installer.install(
            entity(
                "Base", [attribute("a"), attribute("b", .composite, elements: [part("c")])],
                indexes: [
                    FetchIndexDescription(
                        name: "byA",
                        elements: [
                            FetchIndexElement("a", isAscending: false, folding: .caseInsensitive),
                            FetchIndexElement("b.c"),
                        ])
                ], unique: [["a"]]),
            entity("Leaf", [attribute("d")], parent: "Base", unique: [["a", "d"]]))
        let base = try #require(schema.entity(named: "Base")), leaf = try #require(schema.entity(named: "Leaf"))
        #expect(base.indexes.map(\.name) == ["byA", "unique:a"])
        #expect(leaf.indexes.map(\.name) == ["byA", "unique:a", "unique:a,d"])
        #expect(base.indexes.map(\.id) == Array(leaf.indexes.map(\.id).prefix(2)))
        #expect(leaf.indexes.map(\.isUnique) == [false, true, true])
        #expect(leaf.indexes[0].entityID == base.id)
        #expect(leaf.indexes[0].elements[0].folding == .caseInsensitive)
        #expect(!leaf.indexes[0].elements[0].isAscending)
        #expect(leaf.indexes[0].elements[1].compositePath == ["c"])
        #expect(leaf.indexes[2].elements.map(\.slot) == [0, 2])
        #expect(schema.indexes.count == 3)
    }

    @Test func sameModelGivesTheSameNumbersAndBytes() throws {
        let entities = [
            entity("A", (0..<40).map { attribute("a\($0)", .integer64, default: .integer($0)) }, unique: [["a1"]]),
            entity("B", parent: "A"),
        ]
        var records: Set<Data> = []
        for _ in 0..<5 {
            let model = try ManagedObjectModel(entities: entities)
            let assignment = try ModelAssignment().extended(for: model, from: nil)
            let schema = try Schema(version: ModelVersion(rawValue: 1), model: model, assignment: assignment)
            records.insert(try SchemaRecord(schema).encoded())
        }
        #expect(records.count == 1)
    }

    @Test func numbersStayAreRenamedAndAreNeverReused() throws {
        var installer = Installer()
        let first = try installer.install(
            entity("Car", [attribute("wheels", .integer16), attribute("colour")]), entity("Gone", [attribute("x")]))
        let second = try installer.install(
            entity(
                "Vehicle", [attribute("color", renamedFrom: "colour"), attribute("wheels", .integer32)],
                renamedFrom: "Car"))
        #expect(second.entity(named: "Vehicle")?.id == first.entity(named: "Car")?.id)
        #expect(try second.id("Vehicle", "color") == first.id("Car", "colour"))
        #expect(try second.id("Vehicle", "wheels") == first.id("Car", "wheels"))
        #expect(second.assignment.entities.keys.sorted() == ["Vehicle"])
        // The renaming identifier is still Car, so a new Car is another entity, and so is a new Gone.
        let third = try installer.install(
            entity(
                "Vehicle", [attribute("tint", renamedFrom: "colour"), attribute("wheels", .integer32)],
                renamedFrom: "Car"), entity("Car"), entity("Gone", [attribute("x")]))
        #expect(third.entity(named: "Vehicle")?.id == first.entity(named: "Car")?.id)
        #expect(try third.id("Vehicle", "tint") == first.id("Car", "colour"))
        #expect(third.entity(named: "Car")?.id.rawValue == 3)
        #expect(third.entity(named: "Gone")?.id.rawValue == 4)
        #expect(try third.id("Gone", "x") != first.id("Gone", "x"))
        let fourth = try installer.install(
            entity("Vehicle", renamedFrom: "Car"), entity("Car"))
        #expect(fourth.entity(named: "Vehicle")?.id == third.entity(named: "Vehicle")?.id)
        #expect(fourth.entity(named: "Car")?.id == third.entity(named: "Car")?.id)
    }

    @Test func anotherKindOfPropertyIsAnotherProperty() throws {
        var installer = Installer()
        let first = try installer.install(entity("A", [attribute("x"), attribute("y")]))
        let second = try installer.install(
            entity("A", [toOne("x", "A", alone: true), attribute("y", transient: true)]))
        #expect(try first.id("A", "x") != second.id("A", "x"))
        #expect(try first.id("A", "y") != second.id("A", "y"))
    }

    @Test func propertyThatMovesAlongTheHierarchyKeepsItsNumber() throws {
        var installer = Installer()
        let first = try installer.install(
            entity("P"), entity("C", [attribute("x"), attribute("y")], parent: "P"),
            entity("D", [attribute("y")], parent: "P"))
        let second = try installer.install(
            entity("P", [attribute("x"), attribute("y")]), entity("C", parent: "P"), entity("D", parent: "P"))
        #expect(try second.id("P", "x") == first.id("C", "x"))
        // Two different properties cannot become one.
        #expect(try second.id("P", "y") != first.id("C", "y"))
        #expect(try second.id("P", "y") != first.id("D", "y"))
    }

    @Test func propertyKeepsTheDefaultItWasBornWith() throws {
        var installer = Installer()
        let first = try installer.install(entity("A", [attribute("old", .integer16, default: .integer(1))]))
        #expect(first.assignment.bornDefaults == [try first.id("A", "old"): .integer(1)])
        let second = try installer.install(
            entity(
                "A",
                [
                    attribute("old", .integer16, default: .integer(2)),
                    attribute("stars", .integer16, default: .integer(0)), attribute("note", optional: true),
                ]))
        let third = try installer.install(
            entity(
                "A",
                [
                    attribute("old", .integer16, default: .integer(3)),
                    attribute("stars", .integer16, default: .integer(5)), attribute("note", optional: true),
                ]))
        #expect(
            third.assignment.bornDefaults == [
                try first.id("A", "old"): .integer(1), try second.id("A", "stars"): .integer(0),
            ])
    }

    @Test func indexKeepsItsNumberWhileItMeansTheSame() throws {
        func index(_ name: String, _ path: String, ascending: Bool = true) -> FetchIndexDescription {
            FetchIndexDescription(name: name, elements: [FetchIndexElement(path, isAscending: ascending)])
        }
        var installer = Installer()
        let first = try installer.install(
            entity(
                "A", [attribute("x", .integer16), attribute("y")], indexes: [index("i", "x"), index("j", "y")],
                unique: [["x"]]))
        let second = try installer.install(
            entity(
                "A", [attribute("z", .integer64, renamedFrom: "x"), attribute("y")],
                indexes: [index("k", "z"), index("j", "y", ascending: false)], unique: [["z"]]))
        #expect(try second.index("A", "k") == first.index("A", "i"))
        #expect(try second.index("A", "unique:z") == first.index("A", "unique:x"))
        #expect(try second.index("A", "j").rawValue == 4)
        let third = try installer.install(
            entity("A", [attribute("z", .double), attribute("y")], indexes: [index("k", "z")]))
        #expect(try third.index("A", "k").rawValue == 5)
    }

    @Test func indexThatMustTakeInOtherRowsIsANewOne() throws {
        let parent = entity(
            "P", [attribute("x")], indexes: [FetchIndexDescription(name: "i", elements: [FetchIndexElement("x")])])
        var installer = Installer()
        let first = try installer.install(parent, entity("C"))
        let second = try installer.install(parent, entity("C"), entity("New", parent: "P"))
        #expect(try second.index("P", "i") == first.index("P", "i"))
        let third = try installer.install(parent, entity("C", parent: "P"), entity("New", parent: "P"))
        #expect(try third.index("P", "i") != first.index("P", "i"))
    }

    @Test func assignmentThatDoesNotFitIsRefused() throws {
        let model = try ManagedObjectModel(entities: [entity("A", [attribute("x"), attribute("y")])])
        let sound = try ModelAssignment().extended(for: model, from: nil)
        let version = ModelVersion(rawValue: 1)
        let breaks: [(inout ModelAssignment) -> Void] = [
            { $0.entities = [:] }, { $0.properties["A"]?["x"] = nil },
            { $0.properties["A"] = ["x": PropertyID(rawValue: 1), "y": PropertyID(rawValue: 1)] },
            { $0.nextProperty = 1 }, { $0.entities["A"] = EntityID(rawValue: 0) }, { $0.nextProperty = UInt32.max },
        ]
        for breakIt in breaks {
            var assignment = sound
            breakIt(&assignment)
            #expect(throws: StrataError.self) { try Schema(version: version, model: model, assignment: assignment) }
        }
        var exhausted = sound
        exhausted.nextProperty = 0x8000_0000
        let larger = try ManagedObjectModel(entities: [entity("A", [attribute("x"), attribute("z")])])
        #expect(throws: StrataError.self) {
            try exhausted.extended(for: larger, from: Schema(version: version, model: model, assignment: sound))
        }
    }
}

struct SchemaRecordTests {
    @Test func schemaComesBackAsItWas() throws {
        var installer = Installer()
        let schema = try installer.install(
            entity(
                "Tie",
                [
                    attribute(
                        "rating", .double, default: .double(0.1),
                        rules: [.range(minimum: .integer(0), maximum: .decimal(5))]),
                    attribute("id", .uuid, optional: true), toOne("owner", "Person"),
                    attribute("tint", .composite, elements: [part("red", .double, default: .double(1))]),
                ], unique: [["id"]]),
            entity("Person", [toMany("ties", "Tie", inverse: "owner", ordered: true)]))
        let data = try SchemaRecord(schema).encoded()
        let back = try SchemaRecord.schema(from: data)
        #expect(back.version == schema.version)
        #expect(back.model.entities == schema.model.entities)
        #expect(back.assignment == schema.assignment)
        #expect(
            back.entities.map { $0.layout.slots.map(\.offset) } == schema.entities.map { $0.layout.slots.map(\.offset) }
        )
        #expect(try SchemaRecord(back).encoded() == data)
    }

    @Test func deepNestingIsRefused() {
        for depth in [400, 100_000] {
            let not = String(repeating: #"{"not":{"_0":"#, count: depth)
            let text = #"{"version":1,"entities":[{"validationPredicates":[{"message":"m","predicate":"# + not
            let error = #expect(throws: StrataError.self) { try SchemaRecord.schema(from: Data(text.utf8)) }
            #expect(error?.code == .corrupt)
        }
    }

    @Test func damagedRecordIsCorruptAndNeverTraps() throws {
        var installer = Installer()
        let schema = try installer.install(
            entity("A", [attribute("x", .integer16, default: .integer(1)), toOne("a", "A", inverse: "a")]))
        let data = try SchemaRecord(schema).encoded()
        for length in 0..<data.count {
            let error = #expect(throws: StrataError.self) { try SchemaRecord.schema(from: data.prefix(length)) }
            #expect(error?.code == .corrupt)
        }
        for offset in data.indices {
            for bit in 0..<8 {
                var damaged = data
                damaged[offset] ^= 1 << bit
                do { _ = try SchemaRecord.schema(from: damaged) } catch { #expect(error.code == .corrupt) }
            }
        }
    }
}
