import Foundation
import StrataGraph
import StrataModel
import Testing

/// Changes between versions of a model as apps make them, each with what a store says afterwards, or refused whole.
@Suite struct MigrationPortingTests {
    private struct Case {
        let name: String
        let before: [EntityDescription]
        let after: [EntityDescription]
        let objects: [(entity: String, values: [String: Any])]
        /// What must hold: the entity, a condition, the number of objects. Nil where the migration is refused.
        let expected: (entity: String, condition: String, count: Int)?
        let rules: [MigrationRule]

        init(
            _ name: String, _ before: [EntityDescription], _ after: [EntityDescription],
            _ objects: [(entity: String, values: [String: Any])],
            _ expected: (entity: String, condition: String, count: Int)?, rules: [MigrationRule] = []
        ) {
            self.name = name
            self.before = before
            self.after = after
            self.objects = objects
            self.expected = expected
            self.rules = rules
        }
    }

    private static func entity(
        _ name: String, _ properties: PropertyDescription..., parent: String? = nil, isAbstract: Bool = false,
        unique: [[String]] = [], renamed: String? = nil
    ) -> EntityDescription {
        EntityDescription(
            name: name, isAbstract: isAbstract, superentityName: parent, properties: properties,
            uniquenessConstraints: unique, renamingIdentifier: renamed)
    }

    private static func text(_ name: String, renamed: String? = nil, required: Bool = false) -> PropertyDescription {
        .attribute(
            AttributeDescription(name: name, type: .string, isOptional: !required, renamingIdentifier: renamed))
    }

    private static func number(_ name: String, _ type: AttributeType = .integer32) -> PropertyDescription {
        Porting.attribute(name, type)
    }

    private static let base = entity("Item", text("name"), number("size"))
    private static var items: [(entity: String, values: [String: Any])] {
        [("Item", ["name": "a", "size": 1]), ("Item", ["name": "b", "size": 2])]
    }
    private static let leaf = entity("Leaf", number("size"), parent: "Tree")
    private static var trees: [(entity: String, values: [String: Any])] {
        [("Tree", ["name": "t"]), ("Leaf", ["name": "l", "size": 1])]
    }

    private static var attributes: [Case] {
        [
            Case(
                "a required text without default is refused",
                [base], [entity("Item", text("name"), number("size"), text("note", required: true))], items, nil),
            Case(
                "a required text gets its value by a rule",
                [base], [entity("Item", text("name"), number("size"), text("note", required: true))], items,
                ("Item", "note == 'x'", 2), rules: [MigrationRule(entity: "Item", property: "note", value: "x")]),
            Case(
                "an attribute has another name",
                [base], [entity("Item", text("title", renamed: "name"), number("size"))], items,
                ("Item", "title == 'a'", 1)),
            Case(
                "an entity and its attribute have other names",
                [base], [entity("Thing", text("title", renamed: "name"), number("size"), renamed: "Item")], items,
                ("Thing", "title == 'b' AND size == 2", 1)),
            Case(
                "two attributes exchange their names",
                [entity("Item", text("one"), text("two"))],
                [entity("Item", text("two", renamed: "one"), text("one", renamed: "two"))],
                [("Item", ["one": "1", "two": "2"])], ("Item", "one == '2' AND two == '1'", 1)),
            Case(
                "a number is widened",
                [base], [entity("Item", text("name"), number("size", .integer64))], items, ("Item", "size == 2", 1)),
            Case(
                "a number that is too large is refused",
                [base], [entity("Item", text("name"), number("size", .integer16))], [("Item", ["size": 70_000])], nil),
            Case(
                "a number becomes a text",
                [base], [entity("Item", text("name"), number("size", .string))], items, ("Item", "size == '2'", 1)),
            Case(
                "a text becomes a number",
                [base], [entity("Item", number("name"), number("size"))], [("Item", ["name": "12"])],
                ("Item", "name == 12", 1)),
            Case(
                "a text that is no number is refused",
                [base], [entity("Item", number("name"), number("size"))], items, nil),
            Case(
                "nil in what becomes required is refused",
                [base], [entity("Item", text("name", required: true), number("size"))], [("Item", ["size": 1])], nil),
            Case(
                "a unique rule that values break is refused",
                [base], [entity("Item", text("name"), number("size"), unique: [["size"]])],
                items + [("Item", ["size": 2])], nil),
        ]
    }

    private static var structures: [Case] {
        [
            Case(
                "an attribute moves up to the parent",
                [entity("Tree", text("name")), leaf],
                [entity("Tree", text("name"), number("size")), entity("Leaf", parent: "Tree")], trees,
                ("Tree", "size == 1", 1)),
            Case(
                "an attribute moves down to the child",
                [entity("Tree", text("name"), number("size")), entity("Leaf", parent: "Tree")],
                [entity("Tree", text("name")), leaf], trees, ("Leaf", "size == 1", 1)),
            Case(
                "an entity gets a parent",
                [entity("Leaf", text("name"), number("size"))], [entity("Tree", text("name")), leaf],
                [("Leaf", ["name": "l", "size": 1])], ("Tree", "name == 'l'", 1)),
            Case(
                "an entity loses its parent",
                [entity("Tree", text("name")), leaf],
                [entity("Tree", text("name")), entity("Leaf", text("name"), number("size"))], trees,
                ("Leaf", "name == 'l' AND size == 1", 1)),
            Case(
                "a level is inserted between two entities",
                [entity("Tree", text("name")), leaf],
                [
                    entity("Tree", text("name")), entity("Twig", number("age"), parent: "Tree"),
                    entity("Leaf", number("size"), parent: "Twig"),
                ], trees, ("Twig", "age == nil AND name == 'l'", 1)),
            Case(
                "an entity with objects of its own does not become abstract",
                [entity("Tree", text("name")), leaf], [entity("Tree", text("name"), isAbstract: true), leaf], trees,
                nil),
            Case(
                "an entity whose own objects go becomes abstract",
                [entity("Tree", text("name")), leaf], [entity("Tree", text("name"), isAbstract: true), leaf], trees,
                ("Tree", "name == 'l'", 1), rules: [.deletingMisfits(of: "Tree")]),
            Case(
                "an attribute becomes a relationship",
                [base],
                [
                    entity("Item", text("name"), Porting.one("size", "Size", "items")),
                    entity("Size", Porting.many("items", "Item", "size")),
                ], items, ("Item", "size == nil", 2)),
        ]
    }

    @Test func versionsOfAModelFollowEachOther() throws {
        for step in Self.attributes + Self.structures {
            let directory = FileManager.default.temporaryDirectory.appending(path: "ported-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: directory) }
            let old = try Porting.container(step.before, at: .url(directory))
            let context = old.newBackgroundContext()
            for (entity, values) in step.objects {
                let object = try context.insertNewObject(forEntityName: entity)
                for (key, value) in values { try object.setValue(value, forKey: key) }
            }
            try context.save()
            old.close()
            var options = PersistentStoreOptions(durability: .disposable)
            options.migrationRules = step.rules
            let new = PersistentContainer(
                name: "Porting", model: try ManagedObjectModel(entities: step.after), at: .url(directory),
                options: options)
            guard let expected = step.expected else {
                let error = #expect(throws: StrataError.self, "\(step.name)") { try new.loadPersistentStores() }
                #expect(error?.code == .migration, "\(step.name)")
                let kept = try Porting.container(step.before, at: .url(directory)).newBackgroundContext()
                #expect(try kept.find(step.objects[0].entity).count == step.objects.count, "\(step.name)")
                continue
            }
            try new.loadPersistentStores()
            let found = try new.newBackgroundContext().find(expected.entity, expected.condition)
            #expect(found.count == expected.count, "\(step.name)")
            #expect(try new.verify().isSound, "\(step.name)")
            new.close()
        }
    }
}
