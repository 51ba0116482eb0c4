import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

/// Derived attributes that a store gets with a new model.
struct DerivedMigrationTests {
    private let url = FileManager.default.temporaryDirectory
        .appending(path: "strata-\(UUID().uuidString)", directoryHint: .isDirectory)

    private func model(
        _ name: AttributeDescription = AttributeDescription(name: "name", type: .string, isOptional: true),
        _ derived: PropertyDescription...
    ) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Box",
                properties: [
                    .attribute(name), DerivedModel.link("things", "Thing", "box", isToMany: true),
                ] + derived),
            EntityDescription(
                name: "Thing",
                properties: [DerivedModel.plain("size", .integer32), DerivedModel.link("box", "Box", "things")]),
        ])
    }

    private func open(
        _ model: ManagedObjectModel, values: [MigrationRule] = []
    ) throws -> PersistentContainer {
        let container = PersistentContainer(
            name: "Test", model: model, at: .url(url),
            options: .init(durability: .disposable, migrationRules: values))
        try container.loadPersistentStores()
        return container
    }

    private func fill(_ container: PersistentContainer) throws {
        let context = container.newBackgroundContext()
        let box = try context.make("Box", ["name": "Ábc"])
        _ = try context.make("Box", ["name": "leer"])
        for size in 1...4 { _ = try context.make("Thing", ["size": Int32(size), "box": box]) }
        try context.save()
    }

    private func values(_ key: String, _ container: PersistentContainer) throws -> [AnyHashable?] {
        try container.newBackgroundContext().all("Box").sorted { $0.objectID < $1.objectID }
            .map { try $0.value(forKey: key) as? AnyHashable }
    }

    @Test func aNewDerivedAttributeIsComputedForEveryObject() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let first = try open(try model())
        try fill(first)
        first.close()
        let later = try model(
            .init(name: "name", type: .string, isOptional: true),
            try DerivedModel.derived("count", .integer32, "things.@count", isOptional: false),
            try DerivedModel.derived("key", .string, "canonical:(name)"),
            try DerivedModel.derived("stamp", .date, "now()"))
        let container = PersistentContainer(
            name: "Test", model: later, at: .url(url), options: .init(durability: .disposable))
        let plan = try container.migrationPlan()
        #expect(plan.steps.map(\.sentence).contains("Box.count is new and derived from things.@count."))
        #expect(plan.steps.allSatisfy { $0.work == .rewrite && $0.objectCount == 2 })
        try container.loadPersistentStores()
        #expect(try values("count", container) == [Int32(4), Int32(0)])
        #expect(try values("key", container) == ["abc", "leer"])
        #expect(try values("stamp", container).allSatisfy { $0 is Date })
        #expect(try container.verify().isSound)
        container.close()
    }

    @Test func anotherExpressionAndConvertedSourcesAreComputedAnew() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let first = try open(
            try model(
                .init(name: "name", type: .string, isOptional: true),
                try DerivedModel.derived("note", .string, "uppercase:(name)"),
                try DerivedModel.derived("sum", .integer64, "things.size.@sum")))
        try fill(first)
        #expect(try values("note", first) == ["ÁBC", "LEER"] && values("sum", first) == [Int64(10), Int64(0)])
        first.close()
        let second = try open(
            try model(
                .init(name: "name", type: .string, isOptional: true),
                try DerivedModel.derived("note", .string, "lowercase:(name)"),
                try DerivedModel.derived("sum", .double, "things.size.@sum")))
        #expect(try values("note", second) == ["ábc", "leer"] && values("sum", second) == [10.0, 0.0])
        #expect(try second.verify().isSound)
        second.close()
        let third = try open(
            try model(
                .init(name: "name", type: .string, isOptional: true),
                .attribute(AttributeDescription(name: "note", type: .string, isOptional: true))))
        #expect(try values("note", third) == ["ábc", "leer"])
        let context = third.newBackgroundContext()
        try context.all("Box")[0].setValue("free", forKey: "note")
        try context.save()
        #expect(try third.verify().isSound)
        third.close()
    }

    @Test func whatTheMigrationWritesIsDerivedFrom() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let first = try open(try model())
        try fill(first)
        first.close()
        let rule = MigrationRule(entity: "Box", property: "alias") { .string("box \($0["name"].text ?? "")") }
        let second = try open(
            try model(
                .init(name: "name", type: .string, isOptional: true), DerivedModel.plain("alias", .string),
                try DerivedModel.derived("loud", .string, "uppercase:(alias)")),
            values: [rule])
        #expect(try values("loud", second) == ["BOX ÁBC", "BOX LEER"])
        #expect(try second.verify().isSound)
        second.close()
    }
}
