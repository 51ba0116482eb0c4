import StrataModel
import StrataStore
import Testing

/// A to-many whose links are pairs is ordered, then not, then again: the members have their former order.
struct OrderReturnTests {
    enum Kind: CaseIterable { case members, pairs, inversePairs, bothPairs, symmetric }

    private let store = MigratedStore()

    private func model(_ kind: Kind, _ name: Character) throws -> ManagedObjectModel {
        let isOrdered = name == "O" || name == "P"
        let label = name == "P" || name == "V" ? [Describe.attribute("label", optional: true)] : []
        let items =
            switch kind {
            case .members: Describe.toMany("items", "Item", ordered: isOrdered)
            case .symmetric: Describe.toMany("items", "Node", inverse: "items", ordered: isOrdered)
            default: Describe.toMany("items", "Item", inverse: "lists", ordered: isOrdered && kind != .inversePairs)
            }
        let lists =
            name == "X" || kind == .members || kind == .symmetric
            ? []
            : [Describe.toMany("lists", "Node", inverse: "items", ordered: isOrdered && kind != .pairs)]
        return try ManagedObjectModel(entities: [
            EntityDescription(name: "Node", properties: (name == "X" ? [] : [items]) + label),
            EntityDescription(name: "Item", properties: lists),
        ])
    }

    /// U and V have no order, and X has no relationship.
    @Test(
        arguments: Kind.allCases,
        ["OUO", "OUP", "OUOUO", "OUVO", "OUXO", "UOUO", "OUPUO", "OXUO", "OXVXO", "OXO", "OXP"])
    func anOrderReturns(kind: Kind, path: String) throws {
        for history in TravelHistory.some("\(kind) \(path)") { try travel(kind, path, over: history) }
    }

    private func travel(_ kind: Kind, _ path: String, over history: TravelHistory) throws {
        let models = try Dictionary(uniqueKeysWithValues: Set(path).map { ($0, try model(kind, $0)) })
        var (owners, members): ([ObjectID], [ObjectID]) = ([], [])
        var (order, first): (StateDump?, EventNumber?)
        // The pairs stay, and so do their positions.
        try MigratedStore().travel(models, path, over: history, losesNothing: true) { name, fixture in
            if owners.isEmpty, name == "O" {
                owners = try (0..<3).map { _ in try fixture.insert("Node", [:]) }
                members = try (0..<4).map { _ in try fixture.insert(kind == .symmetric ? "Node" : "Item", [:]) }
            }
            if name == "O" {
                for (number, owner) in owners.enumerated() {
                    for (place, member) in members.enumerated() {
                        try fixture.link(owner, "items", member, place: Int64((place * 3 + number * 5) % 7))
                    }
                }
                (order, first) = (try StateDump(fixture.store, at: fixture.store.head()), try fixture.store.head())
            }
            guard let order, let first, name == "O" || name == "P" else { return }
            for event in (history.isCut ? [] : [first]) + [try fixture.store.head()] {
                let dump = try StateDump(fixture.store, at: event)
                for id in owners + members { #expect(dump[id, "items"] == order[id, "items"], "at \(event)") }
                for id in members { #expect(dump[id, "lists"] == order[id, "lists"], "at \(event)") }
            }
        }
        #expect(order != nil)
    }

    @Test(arguments: Kind.allCases.filter { $0 != .inversePairs })
    func aMemberThatCameInBetweenIsTheLast(kind: Kind) throws {
        defer { store.remove() }
        let entity = kind == .symmetric ? "Node" : "Item"
        let (owner, late, early) = try store.open(model(kind, "O")) { fixture in
            let (owner, late) = (try fixture.insert("Node", [:]), try fixture.insert(entity, [:]))
            let early = try (0..<3).map { _ in try fixture.insert(entity, [:]) }
            for (place, member) in [1, 0, 2].enumerated() {
                try fixture.link(owner, "items", early[member], place: Int64(place))
            }
            return (owner, late, early)
        }
        try store.open(model(kind, "U")) { fixture in
            try fixture.link(owner, "items", late)
            try fixture.unlink(owner, "items", early[0])
        }
        try store.open(model(kind, "O")) { fixture in
            let dump = try StateDump(fixture.store, at: fixture.store.head())
            #expect(dump[owner, "items"] == .members([early[1], early[2], late]))
        }
    }

    /// R keeps the order in the rows of items, U has none there, V pairs without an order, P pairs with one.
    @Test(arguments: ["RP", "RUP", "RVP", "RUVP", "RVUP"]) func anOrderOfRowsReturnsWithPairs(path: String) throws {
        defer { store.remove() }
        func model(_ name: Character) throws -> ManagedObjectModel {
            let isOrdered = name == "R" || name == "P"
            let back =
                name == "R" || name == "U"
                ? Describe.toOne("lists", "Node", inverse: "items")
                : Describe.toMany("lists", "Node", inverse: "items")
            return try ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Node",
                    properties: [Describe.toMany("items", "Item", inverse: "lists", ordered: isOrdered)]),
                EntityDescription(name: "Item", properties: [back]),
            ])
        }
        let models = try path.map { try model($0) }
        let (owner, items) = try store.open(models[0]) { fixture in
            let owner = try fixture.insert("Node", [:])
            let items = try (0..<4).map { _ in try fixture.insert("Item", [:]) }
            for (item, place) in zip(items, [2, 0, 3, 1] as [Int64]) {
                try fixture.update(item, ["lists": .objectID(owner), "lists#position": .integer(place)])
            }
            return (owner, items)
        }
        var late: [ObjectID] = []
        for (step, model) in models.enumerated().dropFirst() {
            try store.open(model) { fixture in
                try #expect(fixture.store.rebuild().isUnchanged)
                if step == 1, path.count > 2 {
                    late = [try fixture.insert("Item", [:])]
                    let isPaired = path.dropFirst().first == "V"
                    try isPaired
                        ? fixture.link(owner, "items", late[0])
                        : fixture.update(late[0], ["lists": .objectID(owner)])
                }
                guard step == models.count - 1 else { return }
                let dump = try StateDump(fixture.store, at: fixture.store.head())
                #expect(dump[owner, "items"] == .members([items[1], items[3], items[0], items[2]] + late))
            }
        }
    }
}
