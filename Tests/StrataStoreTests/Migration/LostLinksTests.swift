import StrataModel
import StrataStore
import Testing

/// Relationships that give way to others of their names: what does not take over the links may have none to lose.
struct LostLinksTests {
    private let store = MigratedStore()

    /// Who declares "owner": ties and caps themselves, or a parent they stand under.
    enum Place: Sendable {
        case own(under: String?)
        case inherited(from: String)
    }

    enum Shape: String, CaseIterable, Sendable {
        case ownGivesWayToTheParents
        case theParentsGivesWayToTheirOwn
        case oneParentsGivesWayToAnothers
        case childrensOwnBecomeTheirParents
        case aParentsBecomesItsChildrensOwn

        var before: Place {
            switch self {
            case .ownGivesWayToTheParents: .own(under: nil)
            case .theParentsGivesWayToTheirOwn, .oneParentsGivesWayToAnothers: .inherited(from: "Thing")
            case .childrensOwnBecomeTheirParents: .own(under: "Bare")
            case .aParentsBecomesItsChildrensOwn: .inherited(from: "Bare")
            }
        }

        var after: Place {
            switch self {
            case .ownGivesWayToTheParents: .inherited(from: "Thing")
            case .theParentsGivesWayToTheirOwn: .own(under: nil)
            case .oneParentsGivesWayToAnothers: .inherited(from: "Item")
            case .childrensOwnBecomeTheirParents: .inherited(from: "Bare")
            case .aParentsBecomesItsChildrensOwn: .own(under: "Bare")
            }
        }
    }

    private func model(_ place: Place, isToMany: Bool) throws -> ManagedObjectModel {
        let owner = isToMany ? Describe.toMany("owner", "Person") : Describe.toOne("owner", "Person")
        var parent: String?
        var own: [PropertyDescription] = []
        var bare: [PropertyDescription] = []
        switch place {
        case .own(let under): (parent, own) = (under, [owner])
        case .inherited(let from):
            parent = from
            if from == "Bare" { bare = [owner] }
        }
        return try Describe.model(
            EntityDescription(name: "Person", properties: [Describe.attribute("name")]),
            EntityDescription(name: "Thing", properties: [owner]),
            EntityDescription(name: "Item", properties: [owner]),
            EntityDescription(name: "Bare", properties: bare),
            EntityDescription(
                name: "Tie", superentityName: parent, properties: [Describe.attribute("color")] + own),
            EntityDescription(
                name: "Cap", superentityName: parent, properties: [Describe.attribute("size")] + own))
    }

    @Test(arguments: Shape.allCases, [true, false])
    func linksThatAnotherRelationshipOfTheNameWouldLoseAreRefused(shape: Shape, isToMany: Bool) throws {
        defer { store.remove() }
        let (before, after) = (
            try model(shape.before, isToMany: isToMany), try model(shape.after, isToMany: isToMany)
        )
        let (ties, ann) = try store.open(before) { fixture in
            let ann = try fixture.insert("Person", ["name": .string("Ann")])
            let ties = try ["red", "blue"].map { try fixture.insert("Tie", ["color": .string($0)]) }
            _ = try fixture.insert("Cap", ["size": .string("large")])
            if isToMany {
                try fixture.link(ties[0], "owner", ann)
            } else {
                try fixture.update(ties[0], ["owner": .objectID(ann)])
            }
            return (ties, ann)
        }
        try store.open { opened in
            let plan = try opened.migrationPlan(to: after)
            #expect(
                plan.steps.contains { $0.kind == .propertyRemoved && $0.work == .scan && $0.objectCount == 2 },
                "\(plan.steps)")
        }
        let error = #expect(throws: StrataError.self) { try store.open(after) { _ in } }
        #expect(error?.code == .migration && error?.details.map(\.context.objectID) == [ties[0]])
        #expect(error?.details.first?.context.key == "owner")
        #expect(error?.details.first?.message.contains(" Person/p\(ann.row),") ?? false)
        try store.open { #expect($0.schema.version == ModelVersion(rawValue: 1)) }
        try store.open(before) { fixture in
            guard !isToMany else { return try fixture.unlink(ties[0], "owner", ann) }
            try fixture.update(ties[0], ["owner": .null])
        }
        try store.open(after) { fixture in
            #expect(fixture.schema.version == ModelVersion(rawValue: 2))
            guard !isToMany else { return try fixture.link(ties[1], "owner", ann) }
            try fixture.update(ties[1], ["owner": .objectID(ann)])
        }
    }

    /// A rename is no loss: the links go with the number, and the relationship that has the name now begins empty.
    @Test func linksOfARenamedRelationshipGoWithIt() throws {
        defer { store.remove() }
        func model(_ properties: PropertyDescription...) throws -> ManagedObjectModel {
            try Describe.model(
                EntityDescription(name: "Person", properties: [Describe.attribute("name")]),
                EntityDescription(name: "Tie", properties: properties))
        }
        let (tie, ann) = try store.open(model(Describe.toOne("owner", "Person"))) { fixture in
            let ann = try fixture.insert("Person", ["name": .string("Ann")])
            return (try fixture.insert("Tie", ["owner": .objectID(ann)]), ann)
        }
        let holder = PropertyDescription.relationship(
            RelationshipDescription(
                name: "holder", destinationEntityName: "Person", inverseName: nil, hasNoInverse: true,
                isOptional: true, renamingIdentifier: "owner"))
        let renamed = try model(
            holder,
            .relationship(
                RelationshipDescription(
                    name: "owner", destinationEntityName: "Person", inverseName: nil, hasNoInverse: true,
                    isOptional: true, renamingIdentifier: "another")))
        try store.open(renamed) { fixture in
            let values = try fixture.values(tie)
            #expect(values?["holder"] == .objectID(ann) && values?["owner"] == .null, "\(String(describing: values))")
        }
    }
}
