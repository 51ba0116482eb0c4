import StrataModel
import StrataStore
import Testing

/// Two properties of a model could continue the same former one: one of them does, and the other begins empty.
struct TwoClaimsTests {
    private func text(_ name: String, from old: String? = nil) -> PropertyDescription {
        Describe.attribute(name, optional: true, from: old)
    }

    private func target(_ name: String, from old: String? = nil) -> PropertyDescription {
        var relationship = RelationshipDescription(name: name, destinationEntityName: "Target", hasNoInverse: true)
        relationship.renamingIdentifier = old
        return .relationship(relationship)
    }

    private func members(_ name: String, from old: String? = nil) -> PropertyDescription {
        var relationship = RelationshipDescription(
            name: name, destinationEntityName: "Target", hasNoInverse: true, isToMany: true)
        relationship.renamingIdentifier = old
        return .relationship(relationship)
    }

    enum Kind: CaseIterable { case text, toOne, toMany }

    private func property(_ kind: Kind, _ name: String, from old: String? = nil) -> PropertyDescription {
        switch kind {
        case .text: text(name, from: old)
        case .toOne: target(name, from: old)
        case .toMany: members(name, from: old)
        }
    }

    private func entity(
        _ name: String, under parent: String? = nil, _ properties: PropertyDescription...
    ) -> EntityDescription { EntityDescription(name: name, superentityName: parent, properties: properties) }

    private func model(_ entities: EntityDescription...) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: entities + [EntityDescription(name: "Target")])
    }

    /// Opens a store with models; the objects of the first have their own value of `p`, and the last model shows the
    /// number of the object whose value each property has.
    private func expect(
        _ kind: Kind, _ names: [String], _ models: [ManagedObjectModel], shows expected: [String: [String: Int?]],
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let store = MigratedStore()
        defer { store.remove() }
        var (objects, targets): ([ObjectID], [ObjectID]) = ([], [])
        for (step, model) in models.enumerated() {
            try store.open(model) { fixture in
                if step == 0 {
                    for name in names {
                        let (id, target) = (try fixture.insert(name, [:]), try fixture.insert("Target", [:]))
                        switch kind {
                        case .text: try fixture.update(id, ["p": .string("\(objects.count)")])
                        case .toOne: try fixture.update(id, ["p": .objectID(target)])
                        case .toMany: try fixture.link(id, "p", target)
                        }
                        objects.append(id)
                        targets.append(target)
                    }
                }
                try #expect(fixture.store.rebuild().isUnchanged, sourceLocation: location)
                guard step == models.count - 1 else { return }
                let dump = try StateDump(fixture.store, at: fixture.store.head())
                for (index, name) in names.enumerated() {
                    for (property, number) in expected[name] ?? [:] {
                        let held: StateDump.Held =
                            switch kind {
                            case .text: .value(number.map { .string("\($0)") } ?? .null)
                            case .toOne: .value(number.map { .objectID(targets[$0]) } ?? .null)
                            case .toMany: .members(number.map { [targets[$0]] } ?? [])
                            }
                        #expect(dump[objects[index], property] == held, "\(name).\(property)", sourceLocation: location)
                    }
                }
            }
        }
    }

    /// Low inherits a property of the name that its own one had before it was renamed.
    @Test(arguments: Kind.allCases) func anInheritedPropertyHasNoValueThatTheObjectStillHas(kind: Kind) throws {
        let first = try model(
            entity("High", property(kind, "p")), entity("Low", property(kind, "p")), entity("Leaf", under: "High"))
        let second = try model(
            entity("High", property(kind, "p")), entity("Low", property(kind, "r", from: "p")),
            entity("Leaf", under: "Low"))
        let third = try model(
            entity("High", property(kind, "p")), entity("Low", under: "High", property(kind, "r")), entity("Leaf"))
        try expect(
            kind, ["High", "Low", "Leaf"], [first, second, first, second, third],
            shows: ["High": ["p": 0], "Low": ["p": nil, "r": 1]])
    }

    /// Left has its own `p`, and inherits `r`, which continued the same property in Right.
    @Test(arguments: Kind.allCases) func aPropertyOfASiblingIsNewWhereItIsInherited(kind: Kind) throws {
        let first = try model(
            entity("Root", property(kind, "p")), entity("Left", under: "Root"), entity("Right", under: "Root"))
        let second = try model(
            entity("Root"), entity("Left", under: "Root", property(kind, "p")),
            entity("Right", under: "Root", property(kind, "r", from: "p")))
        let third = try model(
            entity("Root"), entity("Left", under: "Right", property(kind, "p")),
            entity("Right", under: "Root", property(kind, "r")))
        try expect(
            kind, ["Root", "Left", "Right"], [first, second, first, second, third],
            shows: ["Left": ["p": 1, "r": nil], "Right": ["r": 2]])
    }

    /// Base keeps its property under another name, and gets a parent with one of the former name. Go leaves Base for that
    /// parent and takes its value along.
    @Test(arguments: Kind.allCases, [true, false])
    func aRenamedPropertyIsNotCopiedToOneOfItsFormerName(kind: Kind, isGoFirst: Bool) throws {
        func model(_ base: EntityDescription, _ go: EntityDescription, _ other: EntityDescription) throws
            -> ManagedObjectModel
        {
            let stay = entity("Stay", under: "Base")
            return try isGoFirst ? self.model(go, other, base, stay) : self.model(stay, base, other, go)
        }
        let first = try model(entity("Base", property(kind, "p")), entity("Go", under: "Base"), entity("Other"))
        let second = try model(
            entity("Base", under: "Other", property(kind, "r", from: "p")), entity("Go", under: "Other"),
            entity("Other", property(kind, "p")))
        try expect(
            kind, ["Base", "Stay", "Go"], [first, second],
            shows: ["Base": ["r": 0, "p": nil], "Stay": ["r": 1, "p": nil], "Go": ["p": 2]])
    }
}
