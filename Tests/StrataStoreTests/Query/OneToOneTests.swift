import StrataModel
import StrataStore
import Testing

/// A comparison behind a one-to-one is answered from an index at the far end.
@Suite struct OneToOneTests {
    private let fixture: StoreFixture
    private var people: [ObjectID] = []
    private var passports: [ObjectID] = []

    private static func model(_ rule: DeleteRule = .nullify) throws -> ManagedObjectModel {
        func relationship(_ name: String, _ destination: String, _ inverse: String) -> PropertyDescription {
            .relationship(
                RelationshipDescription(
                    name: name, destinationEntityName: destination, inverseName: inverse, deleteRule: rule))
        }
        return try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Person",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string)),
                    relationship("passport", "Passport", "holder"), relationship("spouse", "Person", "spouse"),
                ],
                indexes: [FetchIndexDescription(name: "name", elements: [.init("name")])]),
            EntityDescription(
                name: "Passport",
                properties: [
                    .attribute(AttributeDescription(name: "number", type: .string)),
                    relationship("holder", "Person", "passport"),
                ],
                indexes: [FetchIndexDescription(name: "number", elements: [.init("number")])]),
        ])
    }

    /// 60 people with a passport each; every third is married to the next.
    init() throws { try self.init(.nullify) }

    private init(_ rule: DeleteRule) throws {
        fixture = try StoreFixture(model: try Self.model(rule))
        var changes = try fixture.changes()
        for _ in 0..<60 {
            people.append(try fixture.store.newObjectID(in: try fixture.entity("Person").id))
            passports.append(try fixture.store.newObjectID(in: try fixture.entity("Passport").id))
        }
        for (number, (person, passport)) in zip(people, passports).enumerated() {
            var row: [String: AttributeValue] = ["name": .string("P\(number)"), "passport": .objectID(passport)]
            if number % 3 < 2 { row["spouse"] = .objectID(people[number % 3 == 0 ? number + 1 : number - 1]) }
            changes.insertions.append(.init(id: person, image: try fixture.image("Person", row)))
        }
        for (number, (person, passport)) in zip(people, passports).enumerated() {
            let row: [String: AttributeValue] = ["number": .string("N\(number)"), "holder": .objectID(person)]
            changes.insertions.append(.init(id: passport, image: try fixture.image("Passport", row)))
        }
        try fixture.save(changes)
    }

    /// What is found, by the plan and by a scan alike, and the steps of the plan.
    private func found(
        _ entity: String, _ predicate: FetchPredicate, _ snapshot: Snapshot,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> (ids: [ObjectID], steps: [QueryExplanation.Step.Operation]) {
        let request = StoreRequest(entityID: try fixture.entity(entity).id, predicate: predicate)
        let wanted = try snapshot.fetch(CompiledQuery(request, snapshot.schema, access: .scanOnly))
        for access in [CompiledQuery.Access.planned, .avoidingScans] {
            let ids = try snapshot.fetch(CompiledQuery(request, snapshot.schema, access: access))
            #expect(ids == wanted, sourceLocation: sourceLocation)
        }
        // As apps ask, through what is kept of earlier requests: first and again.
        for _ in 0..<2 { #expect(try snapshot.fetch(request) == wanted, sourceLocation: sourceLocation) }
        #expect(try snapshot.count(request) == wanted.count, sourceLocation: sourceLocation)
        let plan = try snapshot.explain(CompiledQuery(request, snapshot.schema, access: .planned))
        return (wanted, plan.steps.map(\.operation))
    }

    private func found(
        _ entity: String, _ predicate: FetchPredicate, at eventNumber: EventNumber? = nil, layers: [Layer] = []
    ) throws -> (ids: [ObjectID], steps: [QueryExplanation.Step.Operation]) {
        try fixture.store.read(at: try eventNumber ?? fixture.store.head(), layers: layers) {
            try found(entity, predicate, $0)
        }
    }

    @Test func aPersonIsFoundByTheIndexOverPassports() throws {
        let byNumber = try found("Person", .equal("passport.number", "N7"))
        #expect(byNumber.ids == [people[7]])
        #expect(byNumber.steps.contains(.links) && byNumber.steps.contains(.index) && !byNumber.steps.contains(.scan))
        let byHolder = try found("Passport", .equal("holder.name", "P9"))
        #expect(byHolder.ids == [passports[9]] && byHolder.steps.contains(.links))
        // A relationship that is its own inverse.
        let bySpouse = try found("Person", .equal("spouse.name", "P4"))
        #expect(bySpouse.ids == [people[3]] && bySpouse.steps.contains(.links))
        // Two hops.
        let far = try found("Passport", .equal("holder.spouse.name", "P4"))
        #expect(far.ids == [passports[3]] && !far.steps.contains(.scan))
        // The object itself.
        #expect(try found("Person", .equal("passport", .objectID(passports[5]))).ids == [people[5]])
        #expect(try found("Person", .isIn("passport.number", ["N1", "N2", "none"])).ids == [people[1], people[2]])
        #expect(try found("Person", .equal("spouse.name", .null)).ids.count == 20)
    }

    @Test func thePastAndUnsavedChangesAreSeenThroughIt() throws {
        let before = try fixture.store.head()
        var changes = try fixture.changes()
        // Two people swap passports; a third loses his.
        try fixture.update(people[0], ["passport": .objectID(passports[1])], in: &changes)
        try fixture.update(people[1], ["passport": .objectID(passports[0])], in: &changes)
        try fixture.update(passports[0], ["holder": .objectID(people[1])], in: &changes)
        try fixture.update(passports[1], ["holder": .objectID(people[0])], in: &changes)
        try fixture.update(people[2], ["passport": .null], in: &changes)
        try fixture.update(passports[2], ["holder": .null, "number": "free"], in: &changes)
        try fixture.save(changes)
        #expect(try found("Person", .equal("passport.number", "N0")).ids == [people[1]])
        #expect(try found("Person", .equal("passport.number", "N2")).ids == [])
        #expect(try found("Person", .equal("passport.number", .null)).ids == [people[2]])
        #expect(try found("Person", .equal("passport.number", "N0"), at: before).ids == [people[0]])
        #expect(try found("Person", .equal("passport.number", "N2"), at: before).ids == [people[2]])
        #expect(try found("Person", .equal("passport.number", .null), at: before).ids == [])

        var pending = Layer.Builder(schema: fixture.schema)
        let head = try fixture.store.head()
        pending.setRow(
            people[2], try fixture.image("Person", ["name": "P2", "passport": .objectID(passports[2])]), revision: head)
        pending.setRow(
            passports[2], try fixture.image("Passport", ["number": "new", "holder": .objectID(people[2])]),
            revision: head)
        pending.setAbsent(passports[3])
        pending.setRow(people[3], try fixture.image("Person", ["name": "P3"]), revision: head)
        let layers = [pending.finish()]
        #expect(try found("Person", .equal("passport.number", "new"), layers: layers).ids == [people[2]])
        #expect(try found("Person", .equal("passport.number", "free"), layers: layers).ids == [])
        #expect(try found("Person", .equal("passport.number", "N3"), layers: layers).ids == [])
        #expect(try found("Person", .equal("passport.number", .null), layers: layers).ids == [people[3]])
    }

    /// The store judges each row for itself.
    @Test func endsThatDoNotAgreeAreFoundByTheirOwnSlots() throws {
        // Two hold the same passport, which knows one of them.
        try fixture.update(people[1], ["passport": .objectID(passports[0])])
        #expect(try found("Person", .equal("passport.number", "N0")).ids == [people[0], people[1]])
        #expect(try found("Person", .equal("passport.number", "N1")).ids == [])
        #expect(try found("Passport", .equal("holder.name", "P1")).ids == [passports[1]])
        let steps = try found("Person", .equal("passport.number", "N0")).steps
        #expect(steps.contains(.links))
        #expect(try fixture.store.verify().problems.map(\.kind) == [.link, .link])
        try fixture.update(people[1], ["passport": .objectID(passports[1])])
    }

    @Test func aDeleteRuleOfNoActionLeavesNothingBehindThatIsFound() throws {
        let test = try Self(.noAction)
        try test.fixture.delete(test.passports[6])
        #expect(try test.found("Person", .equal("passport.number", "N6")).ids == [])
        #expect(try test.found("Person", .equal("passport.number", .null)).ids == [test.people[6]])
        #expect(try test.found("Passport", .equal("holder.name", "P6")).ids == [])
    }
}
