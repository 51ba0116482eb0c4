import StrataModel
import StrataStore
import Testing

/// Relationships that give way to others of their names, which take over the links.
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

    /// The relationship "owner" and its inverse.
    enum Kind: String, CaseIterable, Sendable {
        case one, many, oneToMany, oneToOrdered, manyToOne, orderedToOne, manyToMany, orderedToMany, oneToOne

        var isToMany: Bool { ![.one, .oneToMany, .oneToOrdered, .oneToOne].contains(self) }
        var isOrdered: Bool { [.orderedToOne, .orderedToMany].contains(self) }
        /// Nil without inverse.
        var isInverseToMany: Bool? {
            switch self {
            case .one, .many: nil
            case .manyToOne, .orderedToOne, .oneToOne: false
            default: true
            }
        }
    }

    private func model(_ place: Place, _ kind: Kind) throws -> ManagedObjectModel {
        var backs: [PropertyDescription] = []
        func owner(_ entity: String) -> [PropertyDescription] {
            let inverse = kind.isInverseToMany.map { _ in "back\(entity)" }
            if let inverse, let isToMany = kind.isInverseToMany {
                backs.append(
                    isToMany
                        ? Describe.toMany(inverse, entity, inverse: "owner", ordered: kind == .oneToOrdered)
                        : Describe.toOne(inverse, entity, inverse: "owner"))
            }
            return [
                kind.isToMany
                    ? Describe.toMany("owner", "Person", inverse: inverse, ordered: kind.isOrdered)
                    : Describe.toOne("owner", "Person", inverse: inverse)
            ]
        }
        var parent: String?
        var isOwn = false
        var bare: [PropertyDescription] = []
        switch place {
        case .own(let under): (parent, isOwn) = (under, true)
        case .inherited(let from):
            parent = from
            if from == "Bare" { bare = owner("Bare") }
        }
        let entities = [
            EntityDescription(name: "Thing", properties: owner("Thing")),
            EntityDescription(name: "Item", properties: owner("Item")),
            EntityDescription(name: "Bare", properties: bare),
            EntityDescription(
                name: "Tie", superentityName: parent,
                properties: [Describe.attribute("color")] + (isOwn ? owner("Tie") : [])),
            EntityDescription(
                name: "Cap", superentityName: parent,
                properties: [Describe.attribute("size")] + (isOwn ? owner("Cap") : [])),
        ]
        return try ManagedObjectModel(
            entities: entities + [EntityDescription(name: "Person", properties: [Describe.attribute("name")] + backs)])
    }

    /// The entity that declares "owner" for ties.
    private func declaring(_ place: Place) -> String {
        switch place {
        case .own: "Tie"
        case .inherited(let from): from
        }
    }

    private func link(
        _ thing: ObjectID, _ person: ObjectID, _ place: Place, _ kind: Kind, _ fixture: StoreFixture
    ) throws {
        switch (kind.isToMany, kind.isInverseToMany) {
        case (true, false): try fixture.update(person, ["back\(declaring(place))": .objectID(thing)])
        case (true, _): try fixture.link(thing, "owner", person)
        case (false, false):
            try fixture.update(thing, ["owner": .objectID(person)])
            try fixture.update(person, ["back\(declaring(place))": .objectID(thing)])
        case (false, _): try fixture.update(thing, ["owner": .objectID(person)])
        }
    }

    private static func ids(_ held: StateDump.Held?) -> [ObjectID] {
        switch held {
        case .members(let members): members
        case .value(.objectID(let id)): [id]
        default: []
        }
    }

    @Test(arguments: Shape.allCases, Kind.allCases)
    func theOtherRelationshipOfTheNameTakesOverTheLinks(shape: Shape, kind: Kind) throws {
        defer { store.remove() }
        let (before, after) = (try model(shape.before, kind), try model(shape.after, kind))
        let (ties, ann, then) = try store.open(before) { fixture in
            let ann = try fixture.insert("Person", ["name": .string("Ann")])
            let ties = try ["red", "blue"].map { try fixture.insert("Tie", ["color": .string($0)]) }
            _ = try fixture.insert("Cap", ["size": .string("large")])
            try link(ties[0], ann, shape.before, kind, fixture)
            let then = try fixture.store.head()
            if kind.isInverseToMany ?? true { try link(ties[1], ann, shape.before, kind, fixture) }
            return (ties, ann, then)
        }
        try store.open(after) { fixture in
            #expect(fixture.schema.version == ModelVersion(rawValue: 2))
            let linked = kind.isInverseToMany ?? true ? ties : [ties[0]]
            for (moment, ties) in [(try fixture.store.head(), linked), (then, [ties[0]])] {
                let dump = try StateDump(fixture.store, at: moment)
                for tie in linked {
                    #expect(Self.ids(dump[tie, "owner"]) == (ties.contains(tie) ? [ann] : []), "\(moment): \(tie)")
                }
                guard kind.isInverseToMany != nil else { continue }
                #expect(Self.ids(dump[ann, "back\(declaring(shape.after))"]) == ties, "\(moment)")
            }
        }
    }

    /// Ann already belongs to a thing, and can belong to one only.
    @Test(arguments: [Kind.manyToOne, .orderedToOne, .oneToOne])
    func linksThatHaveNoPlaceAreRefused(kind: Kind) throws {
        defer { store.remove() }
        let shape = Shape.ownGivesWayToTheParents
        let (before, after) = (try model(shape.before, kind), try model(shape.after, kind))
        let (tie, thing, ann) = try store.open(before) { fixture in
            let ann = try fixture.insert("Person", ["name": .string("Ann")])
            let tie = try fixture.insert("Tie", ["color": .string("red")]), thing = try fixture.insert("Thing", [:])
            try link(tie, ann, shape.before, kind, fixture)
            try link(thing, ann, .inherited(from: "Thing"), kind, fixture)
            return (tie, thing, ann)
        }
        let error = #expect(throws: StrataError.self) { try store.open(after) { _ in } }
        #expect(error?.code == .migration && error?.details.map(\.context.objectID) == [ann])
        #expect(error?.details.first?.context.key == "backThing")
        #expect(
            error?.details.first?.message
                == "backThing can lead to one object only, not to Thing/p\(thing.row), Tie/p\(tie.row).")
        try store.open { #expect($0.schema.version == ModelVersion(rawValue: 1)) }
    }

    /// A to-one loses its object to another relationship, and gets one of a third.
    @Test(arguments: [Kind.manyToOne, .orderedToOne, .oneToOne])
    func aToOneThatLosesItsObjectCanTakeAnother(kind: Kind) throws {
        defer { store.remove() }
        func model(_ isAfter: Bool) throws -> ManagedObjectModel {
            let own = isAfter ? "Tie" : "Cap"
            func owner(_ entity: String) -> PropertyDescription {
                kind.isToMany
                    ? Describe.toMany("owner", "Person", inverse: "back\(entity)", ordered: kind.isOrdered)
                    : Describe.toOne("owner", "Person", inverse: "back\(entity)")
            }
            return try ManagedObjectModel(
                entities: [
                    EntityDescription(name: "Thing", properties: [owner("Thing")]),
                    EntityDescription(
                        name: "Person",
                        properties: ["Thing", own].map { Describe.toOne("back\($0)", $0, inverse: "owner") }),
                ]
                    + ["Tie", "Cap"].map {
                        EntityDescription(
                            name: $0, superentityName: $0 == own ? nil : "Thing",
                            properties: $0 == own ? [owner($0)] : [])
                    })
        }
        let (ann, tie, cap) = try store.open(model(false)) { fixture in
            let ann = try fixture.insert("Person", [:])
            let tie = try fixture.insert("Tie", [:]), cap = try fixture.insert("Cap", [:])
            try fixture.update(ann, ["backThing": .objectID(tie), "backCap": .objectID(cap)])
            if kind == .oneToOne {
                for thing in [tie, cap] { try fixture.update(thing, ["owner": .objectID(ann)]) }
            }
            if kind.isOrdered {
                for (back, position) in [("backThing", 7), ("backCap", 9)] {
                    try fixture.update(ann, [ModelAssignment.positionName(of: back): .integer(Int64(position))])
                }
            }
            return (ann, tie, cap)
        }
        let then = try store.open { try $0.head() }
        try store.open(model(true)) { fixture in
            guard case .updated(let changes)? = try fixture.store.history(of: ann, after: then).last?.payload else {
                Issue.record("The migration left the person as she was.")
                return
            }
            // Each property once, with the value that it had.
            let people = try #require(fixture.schema.entity(named: "Person"))
            let told = changes.map { (people.property($0.property)?.name ?? "", $0.before) }
            #expect(Set(told.map(\.0)).count == told.count)
            let before = Dictionary(told) { first, _ in first }
            #expect(before["backThing"] == .value(.objectID(tie)))
            #expect(before["backTie"] == .value(.null))
            let position = ModelAssignment.positionName(of: "backThing")
            #expect(before[position] == (kind.isOrdered ? .value(.integer(7)) : nil))
            for moment in [try fixture.store.head(), then] {
                let dump = try StateDump(fixture.store, at: moment)
                #expect(Self.ids(dump[ann, "backTie"]) == [tie] && Self.ids(dump[ann, "backThing"]) == [cap])
                #expect(Self.ids(dump[tie, "owner"]) == [ann] && Self.ids(dump[cap, "owner"]) == [ann])
            }
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
