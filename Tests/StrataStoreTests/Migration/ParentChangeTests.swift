import StrataModel
import StrataStore
import Testing

/// Entities that go from one parent to another: attributes that both parents have keep their values.
struct ParentChangeTests {
    private let store = MigratedStore()

    private static func name(
        _ name: String = "name", _ type: AttributeType = .string, default value: AttributeValue? = nil,
        was old: String? = nil
    ) -> PropertyDescription {
        .attribute(
            AttributeDescription(
                name: name, type: type, isOptional: true, defaultValue: value, renamingIdentifier: old))
    }

    private static func model(
        _ leafParent: String?, a: [PropertyDescription]?, b: [PropertyDescription]?, leaf: String = "Leaf"
    ) throws -> ManagedObjectModel {
        let parents = [("A", a), ("B", b)].compactMap { name, properties in
            properties.map { EntityDescription(name: name, properties: $0) }
        }
        return try ManagedObjectModel(
            entities: parents + [
                EntityDescription(
                    name: leaf, superentityName: leafParent, properties: [name("own")],
                    renamingIdentifier: leaf == "Leaf" ? nil : "Leaf"),
                EntityDescription(name: "Tip", superentityName: leaf),
            ])
    }

    @Test(arguments: [
        // Both parents stay; the former goes; the new one comes; it has another name there; the entity is renamed.
        "both", "withoutFormer", "newParent", "renamed", "renamedEntity",
    ]) func anAttributeThatBothParentsHaveKeepsItsValues(kind: String) throws {
        defer { store.remove() }
        let attribute = Self.name()
        let first = try Self.model("A", a: [attribute], b: kind == "newParent" ? nil : [Self.name("name")])
        let second =
            switch kind {
            case "withoutFormer": try Self.model("B", a: nil, b: [attribute])
            case "renamed": try Self.model("B", a: [attribute], b: [Self.name("title", was: "name")])
            case "renamedEntity": try Self.model("B", a: [attribute], b: [attribute], leaf: "Blade")
            default: try Self.model("B", a: [attribute], b: [attribute])
            }
        let ids = try store.open(first) { fixture in
            let names = ["A", "Leaf", "Tip"] + (kind == "newParent" ? [] : ["B"])
            return try Dictionary(
                uniqueKeysWithValues: names.map {
                    ($0, try fixture.insert($0, ["name": .string("the \($0)'s")]))
                })
        }
        try store.open { opened in
            let plan = try opened.migrationPlan(to: second)
            #expect(plan.steps.contains { $0.kind == .propertyMoved && $0.work == .rewrite && $0.objectCount == 2 })
            #expect(plan.steps.allSatisfy { $0.hiddenValueCount == 0 || $0.entityName == "A" })
        }
        try store.open(second) { fixture in
            for (entity, id) in ids where entity != "A" || kind != "withoutFormer" {
                let key = kind == "renamed" && entity != "A" ? "title" : "name"
                try #expect(fixture.values(id)?[key] == .string("the \(entity)'s"), "\(entity)")
            }
        }
    }

    /// To the other parent and back twice, with changes on the way and a value that is nil under a default.
    @Test func anEntityThatGoesToAndFroKeepsItsNewestValues() throws {
        defer { store.remove() }
        func model(_ parent: String) throws -> ManagedObjectModel {
            try Self.model(
                parent, a: [Self.name()], b: [Self.name(default: .string("unnamed"))])
        }
        let (leaf, empty, other) = try store.open(model("A")) { fixture in
            (
                try fixture.insert("Leaf", ["name": .string("0")]), try fixture.insert("Leaf", ["name": .null]),
                try fixture.insert("A", ["name": .string("other")])
            )
        }
        for (step, parent) in ["B", "A", "B", "A"].enumerated() {
            try store.open(model(parent)) { fixture in
                try #expect(fixture.values(leaf)?["name"] == .string("\(step)"), "\(parent)")
                try #expect(fixture.values(empty)?["name"] ?? .null == .null, "\(parent)")
                try #expect(fixture.values(other)?["name"] == .string("other"))
                try fixture.update(leaf, ["name": .string("\(step + 1)")])
            }
        }
    }

    /// A number that becomes a text is converted on the way.
    @Test func aValueOfAnotherTypeIsConverted() throws {
        defer { store.remove() }
        let leaf = try store.open(Self.model("A", a: [Self.name("name", .integer64)], b: [Self.name()])) {
            try $0.insert("Leaf", ["name": .integer(7)])
        }
        try store.open(Self.model("B", a: [Self.name("name", .integer64)], b: [Self.name()])) {
            try #expect($0.values(leaf)?["name"] == .string("7"))
        }
    }
}
