import StrataModel
import Testing

@testable import StrataGraph

/// What two sides make of one object, and what each policy makes of that: the specification of merging as a table.
///
/// Each case runs three ways, which must come out the same: as a save that others have overtaken, as a save after the
/// context has moved on to what others saved, and as a save of a child context into a parent that was changed.
@Suite(.verifiesStores) struct MergeTableTests {
    enum Way: CaseIterable { case overtaken, refreshed, child }

    static let policies: [MergePolicy] = [
        .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
    ]

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let theirs: @Sendable (MergeTable) throws -> Void
        let mine: @Sendable (MergeTable) throws -> Void
        let shown: @Sendable (MergeTable) throws -> String
        /// error, store trump, object trump, overwrite, rollback; one text stands for all.
        let results: [String]

        var testDescription: String { name }

        init(
            _ name: String, theirs: @escaping @Sendable (MergeTable) throws -> Void,
            mine: @escaping @Sendable (MergeTable) throws -> Void,
            shown: @escaping @Sendable (MergeTable) throws -> String, _ results: String...
        ) {
            self.name = name
            self.theirs = theirs
            self.mine = mine
            self.shown = shown
            self.results = results.count == 1 ? Array(repeating: results[0], count: 5) : results
        }
    }

    /// Ann is called "base", stands first in the red team before Bob and Cid, has card 1 and is in the chess club.
    static let cases: [Case] = [
        Case(
            "an attribute that only they changed", theirs: { try $0.set("Ann", "name", "theirs") },
            mine: { try $0.set("Ann", "age", 1) }, shown: { try $0.values("Ann") }, "theirs 1"),
        Case(
            "an attribute that both changed", theirs: { try $0.set("Ann", "name", "theirs") },
            mine: { try $0.set("Ann", "name", "mine") }, shown: { try $0.values("Ann") },
            "error", "theirs 0", "mine 0", "mine 0", "theirs 0"),
        Case(
            "an attribute to which both gave the same value", theirs: { try $0.set("Ann", "name", "same") },
            mine: { try $0.set("Ann", "name", "same") }, shown: { try $0.values("Ann") },
            "error", "same 0", "same 0", "same 0", "same 0"),
        Case(
            "an attribute that both changed, and another that they did",
            theirs: {
                try $0.set("Ann", "name", "theirs")
                try $0.set("Ann", "age", 5)
            }, mine: { try $0.set("Ann", "name", "mine") }, shown: { try $0.values("Ann") },
            "error", "theirs 5", "mine 5", "mine 0", "theirs 5"),
        Case(
            "an attribute that both changed, and another that I did", theirs: { try $0.set("Ann", "name", "theirs") },
            mine: {
                try $0.set("Ann", "name", "mine")
                try $0.set("Ann", "age", 5)
            }, shown: { try $0.values("Ann") }, "error", "theirs 5", "mine 5", "mine 5", "theirs 0"),
        Case(
            "a to-one that both changed", theirs: { try $0.link("Ann", "team", "blue") },
            mine: { try $0.link("Ann", "team", "green") }, shown: { try $0.target("Ann", "team") },
            "error", "blue", "green", "green", "blue"),
        Case(
            "a to-one that both led to the same object", theirs: { try $0.link("Ann", "team", "blue") },
            mine: { try $0.link("Ann", "team", "blue") }, shown: { try $0.target("Ann", "team") }, "blue"),
        Case(
            "a one-to-one that both led elsewhere", theirs: { try $0.link("Ann", "card", "2") },
            mine: { try $0.link("Ann", "card", "3") },
            shown: {
                "\(try $0.target("Ann", "card")) \(try $0.target("2", "holder")) \(try $0.target("3", "holder"))"
            },
            "error", "2 base none", "3 none base", "3 none base", "2 base none"),
        Case(
            "a partner whom both took", theirs: { try $0.link("Bob", "card", "2") },
            mine: { try $0.link("Ann", "card", "2") },
            shown: { "\(try $0.target("1", "holder")) \(try $0.target("2", "holder"))" },
            "error", "base Bob", "none base", "none base", "base Bob"),
        Case(
            "members that each side added", theirs: { try $0.add("chess", "people", "Bob") },
            mine: { try $0.add("chess", "people", "Cid") }, shown: { try $0.members("chess", "people") }, "base Bob Cid"
        ),
        Case(
            "a member that both added", theirs: { try $0.add("chess", "people", "Bob") },
            mine: { try $0.add("chess", "people", "Bob") }, shown: { try $0.members("chess", "people") }, "base Bob"),
        Case(
            "a member that they took out, and another that I added",
            theirs: { try $0.remove("chess", "people", "Ann") }, mine: { try $0.add("chess", "people", "Bob") },
            shown: { try $0.members("chess", "people") }, "Bob"),
        Case(
            "moves of different members", theirs: { try $0.move("red", "members", "Cid", to: 0) },
            mine: { try $0.move("red", "members", "Ann", to: 2) }, shown: { try $0.list("red", "members") },
            "Cid Bob base"),
        Case(
            "moves of one member", theirs: { try $0.move("red", "members", "Cid", to: 0) },
            mine: { try $0.move("red", "members", "Cid", to: 1) }, shown: { try $0.list("red", "members") },
            "base Cid Bob"),
        Case(
            "they deleted what I changed", theirs: { try $0.delete("Ann") },
            mine: { try $0.set("Ann", "name", "mine") },
            shown: { try $0.values("Ann") }, "error", "gone", "mine 0", "mine 0", "gone"),
        Case(
            "I delete what they changed", theirs: { try $0.set("Ann", "name", "theirs") },
            mine: { try $0.delete("Ann") },
            shown: { try $0.values("Ann") }, "error", "theirs 0", "gone", "gone", "theirs 0"),
        Case(
            "I delete what they made empty", theirs: { try $0.set("Ann", "age", nil) }, mine: { try $0.delete("Ann") },
            shown: { try $0.values("Ann") }, "error", "base none", "gone", "gone", "base none"),
        Case(
            "I delete what they only moved", theirs: { try $0.move("red", "members", "Cid", to: 0) },
            mine: { try $0.delete("Cid") }, shown: { try $0.list("red", "members") }, "base Bob"),
        Case(
            "both deleted it", theirs: { try $0.delete("Ann") }, mine: { try $0.delete("Ann") },
            shown: { try $0.values("Ann") }, "gone"),
        Case(
            "I link to what they deleted", theirs: { try $0.delete("blue") },
            mine: { try $0.link("Ann", "team", "blue") },
            shown: { try $0.target("Ann", "team") }, "error", "none", "none", "none", "none"),
        Case(
            "what is derived follows the value that stands", theirs: { try $0.set("Ann", "name", "theirs") },
            mine: { try $0.set("Ann", "name", "mine") }, shown: { try $0.text("Ann", "loudName") },
            "error", "THEIRS", "MINE", "MINE", "THEIRS"),
        Case(
            "I delete something of which only a derived value changed",
            theirs: { try $0.add("chess", "people", "Bob") },
            mine: { try $0.delete("chess") }, shown: { try $0.text("chess", "name") }, "gone"),
    ]

    @Test(arguments: cases, Way.allCases) func eachPolicyMerges(_ example: Case, _ way: Way) throws {
        for (policy, expected) in zip(Self.policies, example.results) {
            let table = try MergeTable(way, policy)
            try table.make(example)
            let result = try table.result(example)
            #expect(result == expected, "\(example.name), \(way), \(policy.name)")
        }
    }
}

/// Two sides of one small graph: theirs is changed first, then mine is saved.
final class MergeTable: Sendable {
    private let way: MergeTableTests.Way
    nonisolated(unsafe) private let theirs: ManagedObjectContext
    nonisolated(unsafe) private var mine: ManagedObjectContext
    /// The side that the next operations change or show.
    nonisolated(unsafe) private var context: ManagedObjectContext
    private let ids: [String: ObjectID]

    init(_ way: MergeTableTests.Way, _ policy: MergePolicy) throws {
        self.way = way
        let container = PersistentContainer(
            name: "Table", model: try Self.model(), at: .inMemory, options: .init(durability: .disposable))
        try container.loadPersistentStores()
        MadeStores.current?.add(container)
        let first = container.newBackgroundContext()
        var ids: [String: ObjectID] = [:]
        for (entity, names) in [
            ("Team", ["red", "blue", "green"]), ("Person", ["Ann", "Bob", "Cid"]), ("Card", ["1", "2", "3"]),
            ("Club", ["chess"]),
        ] {
            for name in names {
                let object = try first.insertNewObject(forEntityName: entity)
                try object.setValue(name == "Ann" ? "base" : name, forKey: "name")
                ids[name] = object.objectID
            }
        }
        self.ids = ids
        theirs = first
        context = first
        mine = first
        for name in ["Ann", "Bob", "Cid"] {
            try set(name, "age", 0)
            try link(name, "team", "red")
        }
        try link("Ann", "card", "1")
        try add("chess", "people", "Ann")
        try theirs.save()
        mine = try way == .child ? theirs.newChildContext() : container.newBackgroundContext()
        mine.mergePolicy = policy
    }

    private static func model() throws -> ManagedObjectModel {
        let name = DerivedModel.plain("name", .string)
        return try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Person",
                properties: [
                    name, DerivedModel.plain("age", .integer32), DerivedModel.link("team", "Team", "members"),
                    DerivedModel.link("card", "Card", "holder"),
                    DerivedModel.link("clubs", "Club", "people", isToMany: true),
                    try DerivedModel.derived("loudName", .string, "uppercase:(name)"),
                ]),
            EntityDescription(
                name: "Team",
                properties: [name, DerivedModel.link("members", "Person", "team", isToMany: true, isOrdered: true)]),
            EntityDescription(name: "Card", properties: [name, DerivedModel.link("holder", "Person", "card")]),
            EntityDescription(
                name: "Club",
                properties: [
                    name, DerivedModel.link("people", "Person", "clubs", isToMany: true),
                    try DerivedModel.derived("size", .integer32, "people.@count"),
                ]),
        ])
    }

    func make(_ example: MergeTableTests.Case) throws {
        // Mine has read everything before they change it.
        context = mine
        for name in ids.keys { _ = try object(name) }
        try example.mine(self)
        context = theirs
        try example.theirs(self)
        if way != .child { try theirs.save() }
        if way == .refreshed { mine.refreshAllObjects() }
    }

    func result(_ example: MergeTableTests.Case) throws -> String {
        context = mine
        do {
            try mine.save()
        } catch let error as StrataError where error.code == .merge {
            return "error"
        }
        if way == .child { try theirs.save() } else { theirs.refreshAllObjects() }
        mine.refreshAllObjects()
        let shown = try example.shown(self)
        context = theirs
        #expect(try example.shown(self) == shown)
        return shown
    }

    // MARK: What cases do and show

    private func object(_ name: String) throws -> ManagedObject? {
        guard let id = ids[name] else { return nil }
        return try context.presentObject(id)
    }

    private func there(_ name: String) throws -> ManagedObject { try #require(try object(name)) }

    func set(_ name: String, _ key: String, _ value: Any?) throws { try there(name).setValue(value, forKey: key) }

    func link(_ name: String, _ key: String, _ target: String) throws { try set(name, key, try there(target)) }

    func add(_ name: String, _ key: String, _ member: String) throws {
        try there(name).insertMember(try there(member), forKey: key)
    }

    func remove(_ name: String, _ key: String, _ member: String) throws {
        _ = try there(name).removeMember(try there(member), forKey: key)
    }

    func move(_ name: String, _ key: String, _ member: String, to position: Int) throws {
        try there(name).insertMembers([try there(member)], forKey: key, at: position)
    }

    func delete(_ name: String) throws { context.delete(try there(name)) }

    func text(_ name: String, _ key: String) throws -> String {
        guard let object = try object(name) else { return "gone" }
        return try object.value(forKey: key).map { "\($0)" } ?? "none"
    }

    func values(_ name: String) throws -> String {
        guard try object(name) != nil else { return "gone" }
        return "\(try text(name, "name")) \(try text(name, "age"))"
    }

    func target(_ name: String, _ key: String) throws -> String {
        let target = try there(name).value(forKey: key) as? ManagedObject
        return try target.flatMap { try $0.value(forKey: "name") as? String } ?? "none"
    }

    func list(_ name: String, _ key: String) throws -> String {
        let members = try there(name).value(forKey: key)
        let objects = (members as? [ManagedObject]) ?? (members as? Set<ManagedObject>).map(Array.init) ?? []
        return try objects.map { try $0.value(forKey: "name") as? String ?? "" }.joined(separator: " ")
    }

    func members(_ name: String, _ key: String) throws -> String {
        // Ann is called "base" and comes first.
        try list(name, key).split(separator: " ").map(String.init).sorted { $0 == "base" || $1 != "base" && $0 < $1 }
            .joined(separator: " ")
    }
}
