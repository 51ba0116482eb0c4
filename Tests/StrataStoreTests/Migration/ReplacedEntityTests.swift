import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// Models that remove an entity others lead to, and later have another one of its name or in its place: back in each model,
/// all objects have the links that they had there.
struct ReplacedEntityTests {
    private let store = MigratedStore()

    private func travel(
        _ models: [Character: ManagedObjectModel], _ path: String, _ place: String = "",
        fill: (Character, StoreFixture) throws -> Void
    ) throws {
        for history in TravelHistory.some("\(place) \(path)") {
            try MigratedStore().travel(models, path, over: history, fill: fill)
        }
    }

    /// A continent goes with all that leads to it, and another entity of the name comes later.
    @Test(arguments: ["ABCBA", "ABCBABC", "ACBCA", "ABCBCBABC", "ABCA", "ABCACABC"], [true, false])
    func anotherEntityOfTheName(path: String, isOrdered: Bool) throws {
        func model(_ hasContinents: Bool, extra: Bool = false) throws -> ManagedObjectModel {
            let name = Describe.attribute("name", optional: true)
            let country = EntityDescription(
                name: "Country",
                properties: [name]
                    + (hasContinents ? [Describe.toOne("continent", "Continent", inverse: "countries")] : []))
            let continent = EntityDescription(
                name: "Continent",
                properties: [
                    name, Describe.toMany("countries", "Country", inverse: "continent", ordered: isOrdered),
                ] + (extra ? [Describe.attribute("code", optional: true)] : []))
            return try ManagedObjectModel(entities: [country] + (hasContinents ? [continent] : []))
        }
        let models = try ["A": model(true), "B": model(false), "C": model(true, extra: true)] as [Character: _]
        try travel(models, path, "\(isOrdered)") { name, fixture in
            let countries = try (1...2).map { try fixture.insert("Country", ["name": .string("\(name)\($0)")]) }
            guard name != "B" else { return }
            let continent = try fixture.insert("Continent", ["name": .string("\(name)")])
            for (place, country) in countries.enumerated() {
                var values: [String: AttributeValue] = ["continent": .objectID(continent)]
                if isOrdered { values["continent#position"] = .integer(Int64(place)) }
                try fixture.update(country, values)
            }
        }
    }

    /// Members of one entity, then of another without an inverse, then of that with one.
    @Test(arguments: ["LMNML", "LMNMLM", "LMNMLMN", "LMLM", "LNLN"])
    func membersOfAnotherEntity(path: String) throws {
        func model(_ number: Int) throws -> ManagedObjectModel {
            let name = Describe.attribute("name", optional: true)
            let members = number == 0 ? "Use" : "Asset"
            let back = number == 1 ? nil : "chain"
            var entities = [
                EntityDescription(
                    name: "Chain", properties: [name, Describe.toMany("assets", members, inverse: back)]),
                EntityDescription(
                    name: "Asset",
                    properties: [name] + (number == 2 ? [Describe.toOne("chain", "Chain", inverse: "assets")] : [])),
            ]
            if number == 0 {
                entities.append(
                    EntityDescription(
                        name: "Use",
                        properties: [
                            Describe.toOne("asset", "Asset"), Describe.toOne("chain", "Chain", inverse: "assets"),
                        ]))
            }
            return try ManagedObjectModel(entities: entities)
        }
        try travel(["L": model(0), "M": model(1), "N": model(2)], path) { name, fixture in
            for number in 1...2 {
                let chain = try fixture.insert("Chain", ["name": .string("\(name)\(number)")])
                let asset = try fixture.insert("Asset", ["name": .string("\(name)\(number)")])
                switch name {
                case "L":
                    _ = try fixture.insert("Use", ["asset": .objectID(asset), "chain": .objectID(chain)])
                case "M": try fixture.link(chain, "assets", asset)
                default: try fixture.update(asset, ["chain": .objectID(chain)])
                }
            }
        }
    }

    enum Kind: CaseIterable {
        case toOne, toOneWithInverse, oneToOne, members, membersWithInverse, pairs, symmetric

        var isToMany: Bool { [.members, .membersWithInverse, .pairs, .symmetric].contains(self) }
        var hasInverse: Bool { ![.toOne, .members].contains(self) }
        var isInverseToMany: Bool { self == .toOneWithInverse || self == .pairs }
    }

    /// What the relationship of a photo leads to in two models.
    private func photos(_ kind: Kind, isAfter: Bool, keepsPeople: Bool, isWide: Bool = false) throws
        -> ManagedObjectModel
    {
        let destination = isAfter ? "Place" : kind == .symmetric ? "Photo" : "Person"
        let inverse = !kind.hasInverse ? nil : kind == .symmetric && !isAfter ? "subject" : "photos"
        let subject =
            kind.isToMany
            ? Describe.toMany("subject", destination, inverse: inverse)
            : Describe.toOne("subject", destination, inverse: inverse)
        let back =
            kind.isInverseToMany || kind == .symmetric
            ? Describe.toMany("photos", "Photo", inverse: "subject")
            : Describe.toOne("photos", "Photo", inverse: "subject")
        let name = Describe.attribute("name", optional: true)
        return try ManagedObjectModel(
            entities: [EntityDescription(name: "Photo", properties: [name, subject])]
                + (keepsPeople || !isAfter ? ["Person", "Place"] : ["Place"]).map {
                    EntityDescription(
                        name: $0, properties: [name] + (kind.hasInverse && destination == $0 ? [back] : []))
                } + (isWide && isAfter ? [EntityDescription(name: "City", superentityName: "Place")] : []))
    }

    private func addPhotos(_ kind: Kind, _ model: Character, _ fixture: StoreFixture) throws {
        let destination = model == "B" ? "Place" : kind == .symmetric ? "Photo" : "Person"
        for number in 1...2 {
            let photo = try fixture.insert("Photo", ["name": .string("\(model)\(number)")])
            let target = try fixture.insert(destination, ["name": .string("\(model)\(number)")])
            try link(photo, "subject", target, "photos", kind, fixture)
        }
    }

    private func link(
        _ owner: ObjectID, _ property: String, _ target: ObjectID, _ inverse: String, _ kind: Kind,
        _ fixture: StoreFixture
    ) throws {
        switch kind {
        case .members, .pairs, .symmetric: try fixture.link(owner, property, target)
        case .membersWithInverse: try fixture.update(target, [inverse: .objectID(owner)])
        case .toOne, .toOneWithInverse, .oneToOne:
            try fixture.update(owner, [property: .objectID(target)])
            if kind == .oneToOne { try fixture.update(target, [inverse: .objectID(owner)]) }
        }
    }

    /// A relationship leads to objects of one entity, then to those of another, while both entities stay or the first goes.
    @Test(
        arguments: Kind.allCases.flatMap { kind in [(kind, false)] + (kind.isToMany ? [(kind, true)] : []) },
        [true, false])
    func aRelationshipLeadsElsewhereAndBack(shape: (kind: Kind, keepsPeople: Bool), isWide: Bool) throws {
        let kind = shape.kind
        try travel(
            [
                "A": photos(kind, isAfter: false, keepsPeople: shape.keepsPeople),
                "B": photos(kind, isAfter: true, keepsPeople: shape.keepsPeople, isWide: isWide),
            ], "ABABA", "\(shape) \(isWide)"
        ) { try addPhotos(kind, $0, $1) }
    }

    /// The entity of the target goes first, then that of the owner; they come back in the other order, or at once.
    @Test(arguments: Kind.allCases.filter { $0 != .symmetric }, ["CBABC", "CBAC", "CBABAC", "CADAC", "CDADC"])
    func bothEndsOfALinkGoOneAfterTheOther(kind: Kind, path: String) throws {
        func model(_ hasDrafts: Bool, _ hasLocked: Bool) throws -> ManagedObjectModel {
            let name = Describe.attribute("name", optional: true)
            let inverse = kind.hasInverse ? "draft" : nil
            let toDiscussion =
                kind.isToMany
                ? Describe.toMany("discussion", "Discussion", inverse: inverse)
                : Describe.toOne("discussion", "Discussion", inverse: inverse)
            let toDraft =
                kind.isInverseToMany
                ? Describe.toMany("draft", "Draft", inverse: "discussion")
                : Describe.toOne("draft", "Draft", inverse: "discussion")
            let discussion = EntityDescription(
                name: "Discussion", isAbstract: true,
                properties: [name] + (hasDrafts && kind.hasInverse ? [toDraft] : []))
            return try ManagedObjectModel(
                entities: [discussion, EntityDescription(name: "Open", superentityName: "Discussion")]
                    + (hasDrafts ? [EntityDescription(name: "Draft", properties: [name, toDiscussion])] : [])
                    + (hasLocked ? [EntityDescription(name: "Locked", superentityName: "Discussion")] : []))
        }
        let models: [Character: ManagedObjectModel] = try [
            "A": model(false, false), "B": model(true, false), "C": model(true, true), "D": model(false, true),
        ]
        try travel(models, path, "\(kind)") { name, fixture in
            for entity in name == "C" ? ["Locked", "Open", "Locked"] : name == "B" ? ["Open"] : [] {
                let draft = try fixture.insert("Draft", ["name": .string("\(name)")])
                let discussion = try fixture.insert(entity, ["name": .string("\(name)")])
                try link(draft, "discussion", discussion, "draft", kind, fixture)
            }
        }
    }

    /// A to-many whose links are in the rows of its members is ordered, then not, then again.
    @Test(arguments: ["OUO", "OUOUO", "OUPO", "OUP", "UOUO"]) func anOrderReturns(path: String) throws {
        func model(isOrdered: Bool, hasMore: Bool = false) throws -> ManagedObjectModel {
            let more = hasMore ? [Describe.attribute("more", optional: true)] : []
            return try ManagedObjectModel(entities: [
                EntityDescription(
                    name: "List",
                    properties: [Describe.toMany("items", "Item", inverse: "list", ordered: isOrdered)] + more),
                EntityDescription(name: "Item", properties: [Describe.toOne("list", "List", inverse: "items")]),
            ])
        }
        let models: [Character: ManagedObjectModel] = try [
            "O": model(isOrdered: true), "U": model(isOrdered: false), "P": model(isOrdered: true, hasMore: true),
        ]
        for history in TravelHistory.some(path) { try order(models, path, over: history) }
    }

    private func order(_ models: [Character: ManagedObjectModel], _ path: String, over history: TravelHistory) throws {
        var list: ObjectID?
        var order: [ObjectID] = []
        try MigratedStore().travel(models, path, over: history) { name, fixture in
            if name == "P", let list, !history.isCut {
                let dump = try StateDump(fixture.store, at: fixture.store.head())
                #expect(dump[list, "items"] == .members(order))
            }
            guard list == nil, name == "O" else { return }
            let owner = try fixture.insert("List", [:])
            let items = try (1...4).map { _ in try fixture.insert("Item", [:]) }
            for (item, place) in zip(items, [1, 3, 0, 2] as [Int64]) {
                try fixture.update(item, ["list": .objectID(owner), "list#position": .integer(place)])
            }
            (list, order) = (owner, [items[2], items[0], items[3], items[1]])
        }
        #expect(list != nil)
    }

    /// A renaming identifier may have been forgotten.
    @Test(arguments: Kind.allCases.filter { !$0.isToMany }) func aToOneWhoseObjectsStayIsRefused(kind: Kind) throws {
        defer { store.remove() }
        try store.open(photos(kind, isAfter: false, keepsPeople: true)) { try addPhotos(kind, "A", $0) }
        let error = #expect(throws: StrataError.self) {
            try store.open(photos(kind, isAfter: true, keepsPeople: true)) { _ in }
        }
        #expect(error?.code == .migration && error?.details.count == 2)
        let message = "subject can no longer lead to Person/p2. It leads to Place now"
        #expect(error?.details.first?.message.hasPrefix(message) == true)
    }
}
