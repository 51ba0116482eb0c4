import Foundation
import StrataModel
import Testing

struct SchemaDifferenceTests {
    private func difference(_ old: [EntityDescription], _ new: [EntityDescription]) throws -> SchemaDifference {
        let model = try ManagedObjectModel(entities: old)
        let assignment = try ModelAssignment().extended(for: model, from: nil)
        let schema = try Schema(version: ModelVersion(rawValue: 1), model: model, assignment: assignment)
        return try SchemaDifference(from: schema, to: ManagedObjectModel(entities: new))
    }

    /// One entity whose properties change.
    private func changes(_ old: [PropertyDescription], _ new: [PropertyDescription]) throws -> [String] {
        let others = [entity("B", [attribute("b")]), entity("C", parent: "B")]
        return try difference([entity("A", old)] + others, [entity("A", new)] + others).changes.map {
            "\($0.kind) \($0.work): \($0.sentence)"
        }
    }

    @Test func sameModelHasNoDifference() throws {
        let model = [
            entity("A", [attribute("x", default: .string("a")), toOne("b", "B")], unique: [["x"]]),
            entity("B", [toMany("as", "A", inverse: "b", ordered: true)]),
        ]
        let same = try difference(model, model)
        #expect(same.isSame)
        #expect(same.work == .none && same.changes.isEmpty)
        #expect(try difference(model, model.reversed()).isSame)
        #expect(try !difference(model, [entity("A", [toOne("b", "B"), attribute("x")]), model[1]]).isSame)
    }

    @Test func whatOlderRowsCanBeReadThroughTakesConstantTime() throws {
        let x = attribute("x", .integer16)
        #expect(try changes([], [attribute("x", optional: true)]) == ["propertyAdded none: A.x is new."])
        #expect(
            try changes([], [attribute("x", .integer16, default: .integer(1))]) == [
                "propertyAdded none: A.x is new."
            ])
        #expect(try changes([x], []) == ["propertyRemoved none: A.x is removed."])
        #expect(
            try changes([x], [attribute("y", .integer16, renamedFrom: "x")]) == [
                "propertyRenamed none: A.x is now called y."
            ])
        #expect(
            try changes([x], [attribute("x", .integer64)]) == [
                "type none: A.x was a 16-bit integer and is now a 64-bit integer, which older rows can be "
                    + "read as."
            ])
        #expect(
            try changes([x], [attribute("x", .integer16, optional: true)]) == [
                "optionality none: A.x is now optional."
            ])
        #expect(
            try changes([x], [attribute("x", .integer16, default: .integer(5))]) == [
                "defaultValue none: A.x has another default, for objects made from now on."
            ])
        #expect(
            try changes([attribute("d", .binaryData)], [attribute("d", .binaryData, external: true)]) == [
                "type none: A.d may now be stored outside the row."
            ])
        #expect(
            try changes([toOne("b", "C", alone: true)], [toOne("b", "B", alone: true, rule: .deny)]) == [
                "destination none: A.b now leads to B.",
                "metadata none: A.b has another delete rule.",
            ])
    }

    /// The default of another type is the same number. What concerns no value is named.
    @Test func onlyWhatDiffersIsTold() throws {
        #expect(
            try changes(
                [attribute("x", .string, default: .string("5"))], [attribute("x", .double, default: .double(5))]
            ).filter { $0.hasPrefix("defaultValue") }.count == 1)
        #expect(
            try changes(
                [attribute("x", .integer16, default: .integer(5))], [attribute("x", .double, default: .double(5))]
            ).filter { !$0.hasPrefix("type") } == [])
        var told = AttributeDescription(name: "x", type: .string)
        told.userInfo = ["a": "b"]
        #expect(
            try changes([attribute("x")], [.attribute(told)]) == ["metadata none: A.x has another user info."])
        told.versionHashModifier = "2"
        #expect(
            try changes([attribute("x")], [.attribute(told)]) == [
                "metadata none: A.x has another hash modifier and user info."
            ])
    }

    @Test func whatRowsMayNotBeAnyMoreIsScanned() throws {
        #expect(
            try changes([], [attribute("x")]) == [
                "propertyAdded scan: A.x is new and required; objects that exist have no value for it."
            ])
        #expect(
            try changes([attribute("x", optional: true)], [attribute("x")]) == [
                "optionality scan: A.x is now required."
            ])
        #expect(
            try changes([toOne("b", "B", alone: true)], [toOne("b", "C", alone: true)]) == [
                "destination scan: A.b now leads to C, and may hold objects of other entities."
            ])
        #expect(
            try changes([toMany("bs", "B", alone: true)], [toMany("bs", "B", alone: true, max: 3)]) == [
                "rules scan: A.bs may have a narrower range of members."
            ])
        #expect(
            try changes([toMany("bs", "B", alone: true, max: 3)], [toMany("bs", "B", alone: true)]) == [
                "rules none: A.bs may have a wider range of members."
            ])
    }

    @Test func whatIsKeptAnotherWayIsRewritten() throws {
        #expect(
            try changes([attribute("x", .string)], [attribute("x", .integer16)]) == [
                "type rewrite: A.x was a string and is now a 16-bit integer."
            ])
        #expect(
            try changes([attribute("x", .integer64)], [attribute("x", .integer32)]) == [
                "type rewrite: A.x was a 64-bit integer and is now a 32-bit integer."
            ])
        #expect(try changes([attribute("x", .binaryData)], [attribute("x", .transformable)]).count == 1)
        #expect(
            try changes([attribute("d", .binaryData, external: true)], [attribute("d", .binaryData)]) == [
                "type rewrite: A.d must be brought into the row."
            ])
        #expect(
            try changes([toOne("b", "B", alone: true)], [toMany("b", "B", alone: true)]) == [
                "cardinality rewrite: A.b is now to-many."
            ])
        #expect(
            try changes([toMany("b", "B", alone: true)], [toMany("b", "B", alone: true, ordered: true)]) == [
                "order rewrite: A.b is now ordered."
            ])
    }

    @Test func inverseThatAppearsFilesLinksAnew() throws {
        let changes = try difference(
            [entity("A", [toOne("b", "B", alone: true)]), entity("B")],
            [entity("A", [toOne("b", "B", inverse: "as")]), entity("B", [toMany("as", "A")])]
        ).changes
        #expect(
            changes.map(\.sentence) == [
                "A.b has another inverse, so its links are filed anew.", "B.as is new.",
            ])
        #expect(changes.map(\.work) == [.rewrite, .none])
    }

    @Test func rulesAreToldApartFromTheirNarrowing() throws {
        func rated(_ rules: [ValidationRule]) -> [PropertyDescription] { [attribute("x", .double, rules: rules)] }
        let wide = ValidationRule.range(minimum: 0, maximum: 10)
        let narrow = ValidationRule.range(minimum: 0, maximum: 5)
        #expect(
            try changes(rated([]), rated([wide])) == [
                "rules none: A.x has other rules, for what is saved from now on."
            ])
        #expect(try changes(rated([narrow]), rated([wide])).first?.hasPrefix("rules none") == true)
        #expect(try changes(rated([narrow]), rated([])).first?.hasPrefix("rules none") == true)
        #expect(
            try changes(rated([wide]), rated([narrow])) == [
                "rules scan: A.x has a narrower rule; objects that exist may break it."
            ])
        let ruled = try difference([entity("A", rated([]))], [entity("A", rated([wide]))])
        #expect(!ruled.changesLayouts)
        #expect(!ruled.isSame)
    }

    @Test func compositesCanOnlyGrowByOptionalElements() throws {
        func tint(_ elements: AttributeDescription...) -> [PropertyDescription] {
            [attribute("tint", .composite, elements: elements)]
        }
        #expect(
            try changes(tint(part("a")), tint(part("a"), part("b", optional: true))) == [
                "elements none: A.tint has other elements; older values can be read."
            ])
        for new in [tint(part("a"), part("b")), tint(part("b", optional: true)), tint(part("a", .double))] {
            #expect(try changes(tint(part("a")), new) == ["elements rewrite: A.tint has other elements."])
        }
    }

    @Test func entitiesComeAndGoInConstantTime() throws {
        let changes = try difference(
            [entity("Car", [attribute("x")]), entity("Gone"), entity("Solid")],
            [entity("Vehicle", [attribute("x")], renamedFrom: "Car"), entity("New"), entity("Solid", isAbstract: true)]
        ).changes
        #expect(
            changes.map { "\($0.kind) \($0.work)" } == [
                "entityRenamed none", "entityAdded none", "entityAbstractness scan",
                "entityRemoved none",
            ])
    }

    @Test func aParentCostsNothingUntilSomethingDependsOnIt() throws {
        let parent = entity("P", [attribute("p", optional: true)])
        let joined = try difference([parent, entity("C")], [parent, entity("C", parent: "P")])
        #expect(joined.changes.map(\.sentence) == ["C is now below P.", "C.p is now inherited."])
        #expect(joined.work == .none)
        let left = try difference([parent, entity("C", parent: "P")], [parent, entity("C")])
        #expect(left.changes.map(\.sentence) == ["C no longer has a parent.", "C.p is no longer inherited."])
        let holder = entity("H", [toOne("p", "P", alone: true)])
        #expect(
            try difference([parent, entity("C", parent: "P"), holder], [parent, entity("C"), holder]).work == .scan)
        let indexed = entity("P", [attribute("p", optional: true)], unique: [["p"]])
        let entered = try difference([indexed, entity("C")], [indexed, entity("C", parent: "P")])
        #expect(
            entered.changes.filter { $0.work == .build }.map(\.sentence) == [
                "The uniqueness constraint over p of P has other entries."
            ])
        let demanding = entity("P", [attribute("p")])
        #expect(try difference([demanding, entity("C")], [demanding, entity("C", parent: "P")]).work == .scan)
    }

    @Test func movedPropertyIsNoNewOne() throws {
        let changes = try difference(
            [entity("P"), entity("C", [attribute("x")], parent: "P")],
            [entity("P", [attribute("x")]), entity("C", parent: "P")]
        ).changes
        #expect(changes.map { "\($0.kind) \($0.work)" } == ["propertyMoved scan"])
    }

    @Test func indexesAreBuiltAndDropped() throws {
        func model(_ names: [String: String], _ unique: [[String]]) -> [EntityDescription] {
            [
                entity(
                    "A", [attribute("x"), attribute("y")],
                    indexes: names.keys.sorted().map {
                        FetchIndexDescription(name: $0, elements: [FetchIndexElement(names[$0] ?? "")])
                    }, unique: unique)
            ]
        }
        let changes = try difference(
            model(["i": "x", "j": "x", "k": "y"], []), model(["i": "x", "j": "y", "l": "y"], [["x", "y"]])
        ).changes
        #expect(
            changes.map { "\($0.work): \($0.sentence)" } == [
                "none: The index k of A is now the index j.", "build: A has a new index l.",
                "build: A has a new uniqueness constraint over x,y.",
            ])
        #expect(
            try difference(model(["i": "x"], []), model([:], [])).changes.map(\.sentence) == [
                "A no longer has the index i."
            ])
    }

    @Test func costNamesTheRowsItConcerns() throws {
        let changes = try difference(
            [entity("A"), entity("B", parent: "A"), entity("Other")],
            [entity("A", [attribute("x")]), entity("B", parent: "A"), entity("Other")]
        ).changes
        #expect(changes.map(\.entityIDs) == [[EntityID(rawValue: 1), EntityID(rawValue: 2)]])
    }
}
