import StrataModel
import StrataStore
import Testing

/// An entity leaves its parent while the parent's property gets another name, and later inherits that property: it is new
/// to the objects. What they had goes on where the entity had it meanwhile.
struct InheritedAgainTests {
    enum Kind: CaseIterable, Sendable {
        case attribute, toOne, toMany

        func property(_ name: String, from old: String? = nil) -> PropertyDescription {
            switch self {
            case .attribute: return Describe.attribute(name, optional: true, from: old)
            case .toOne, .toMany:
                var relationship = RelationshipDescription(
                    name: name, destinationEntityName: "Target", hasNoInverse: true, isToMany: self == .toMany)
                relationship.renamingIdentifier = old
                return .relationship(relationship)
            }
        }
    }

    /// Where Leaf and Other stand, and how the property of Root is called. Other always has its own `p`.
    private struct Version {
        var root: String?
        var from: String?
        var leaf: String
        var other: String?

        static let first = Version(root: "p", leaf: "Root")
        /// Leaf has the `p` of Other.
        static let moved = Version(root: "r", from: "p", leaf: "Other")
        /// Leaf has Root's property again, which is `r` now.
        static let back = Version(root: "r", leaf: "Root")
        /// Leaf has both.
        static let below = Version(root: "r", leaf: "Other", other: "Root")

        func model(_ kind: Kind) throws -> ManagedObjectModel {
            try Describe.model(
                EntityDescription(name: "Root", properties: root.map { [kind.property($0, from: from)] } ?? []),
                EntityDescription(name: "Other", superentityName: other, properties: [kind.property("p")]),
                EntityDescription(name: "Leaf", superentityName: leaf), EntityDescription(name: "Target"))
        }
    }

    /// A store with one object of each entity, and targets for the values.
    private final class Run {
        let kind: Kind
        let store = MigratedStore()
        var objects: [String: ObjectID] = [:]
        var targets: [ObjectID] = []
        var moments: [(event: EventNumber, dump: StateDump)] = []

        init(_ kind: Kind) { self.kind = kind }

        /// The value that a number stands for.
        func held(_ number: Int?) -> StateDump.Held {
            switch kind {
            case .attribute: .value(number.map { .string("v\($0)") } ?? .null)
            case .toOne: .value(number.map { .objectID(targets[$0]) } ?? .null)
            case .toMany: .members(number.map { [targets[$0]] } ?? [])
            }
        }

        func set(_ entity: String, _ name: String, _ number: Int, _ fixture: StoreFixture) throws {
            let id = try #require(objects[entity])
            switch held(number) {
            case .value(let value): try fixture.update(id, [name: value])
            case .members(let members):
                for member in try fixture.members(entity, name, of: id) { try fixture.unlink(id, name, member) }
                for member in members { try fixture.link(id, name, member) }
            }
        }

        func begin(_ fixture: StoreFixture) throws {
            targets = try (0..<8).map { _ in try fixture.insert("Target", [:]) }
            for (number, entity) in ["Root", "Other", "Leaf"].enumerated() {
                objects[entity] = try fixture.insert(entity, [:])
                try set(entity, "p", number, fixture)
            }
        }

        /// Opens the store with a model, compares the values of the objects, and makes changes.
        func open(
            _ version: Version, shows: [String: [String: Int?]], _ change: (StoreFixture) throws -> Void = { _ in }
        ) throws {
            try store.open(version.model(kind), MigratedStore.options(oneCommit: 0, step: 1)) { fixture in
                if objects.isEmpty { try begin(fixture) }
                let dump = try StateDump(fixture.store, at: fixture.store.head())
                for (entity, properties) in shows {
                    for (name, number) in properties {
                        let id = try #require(objects[entity])
                        #expect(dump[id, name] == held(number), "\(entity).\(name) under \(version)")
                    }
                }
                try change(fixture)
                let head = try fixture.store.head()
                moments.append((head, try StateDump(fixture.store, at: head)))
                for moment in moments {
                    let then = try fixture.store.schema(at: moment.event)
                    try #expect(StateDump(fixture.store, at: moment.event, through: then) == moment.dump)
                }
                try #expect(fixture.store.rebuild().isUnchanged)
            }
        }
    }

    @Test(arguments: Kind.allCases) func aPropertyThatIsInheritedUnderAnotherNameIsNew(kind: Kind) throws {
        let run = Run(kind)
        defer { run.store.remove() }
        try run.open(.first, shows: ["Root": ["p": 0], "Other": ["p": 1], "Leaf": ["p": 2]])
        try run.open(.moved, shows: ["Root": ["r": 0], "Other": ["p": 1], "Leaf": ["p": 2]]) {
            try run.set("Leaf", "p", 3, $0)
        }
        try run.open(.back, shows: ["Root": ["r": 0], "Other": ["p": 1], "Leaf": ["r": nil]])
    }

    @Test(arguments: Kind.allCases) func theValueStaysWhereTheObjectHadItLast(kind: Kind) throws {
        let run = Run(kind)
        defer { run.store.remove() }
        try run.open(.first, shows: [:])
        try run.open(.moved, shows: ["Leaf": ["p": 2]])
        try run.open(.below, shows: ["Root": ["r": 0], "Other": ["p": 1, "r": nil], "Leaf": ["p": 2, "r": nil]])
    }

    /// The first model's name of a value is that of the value that the object had under it.
    @Test(arguments: Kind.allCases, [true, false])
    func theFirstModelHasTheValueOfThen(kind: Kind, hasBoth: Bool) throws {
        let run = Run(kind)
        defer { run.store.remove() }
        let last: Version = hasBoth ? .below : .back
        let kept: [String: Int?] = hasBoth ? ["p": 3] : [:]
        try run.open(.first, shows: [:])
        try run.open(.moved, shows: ["Leaf": ["p": 2]]) { try run.set("Leaf", "p", 3, $0) }
        try run.open(last, shows: ["Leaf": kept.merging(["r": nil]) { $1 }]) { try run.set("Leaf", "r", 4, $0) }
        for _ in 1...2 {
            try run.open(.first, shows: ["Root": ["p": 0], "Other": ["p": 1], "Leaf": ["p": 3]])
            try run.open(last, shows: ["Root": ["r": 0], "Other": ["p": 1], "Leaf": kept.merging(["r": 4]) { $1 }])
        }
        try run.open(.moved, shows: ["Root": ["r": 0], "Other": ["p": 1], "Leaf": ["p": 3]])
        try run.open(last, shows: ["Root": ["r": 0], "Other": ["p": 1], "Leaf": kept.merging(["r": 4]) { $1 }])
    }

    /// A parent's property has the former name of one that an entity keeps under its new name.
    @Test func aPropertyWithTheFormerNameOfAnotherIsNew() throws {
        let store = MigratedStore()
        defer { store.remove() }
        func model(_ high: [PropertyDescription], _ low: [PropertyDescription], under parent: String?) throws
            -> ManagedObjectModel
        {
            try Describe.model(
                EntityDescription(name: "High", properties: high),
                EntityDescription(name: "Low", superentityName: parent, properties: low))
        }
        func text(_ name: String, _ old: String? = nil) -> PropertyDescription {
            Describe.attribute(name, optional: true, from: old)
        }
        let (high, low) = try store.open(model([text("name", "title")], [text("title")], under: nil)) { fixture in
            (try fixture.insert("High", ["name": "high"]), try fixture.insert("Low", ["title": "low"]))
        }
        try store.open(model([text("name"), text("title")], [], under: "High")) { fixture in
            try #expect(fixture.values(high)?["name"] == "high")
            try #expect(fixture.values(high)?["title"] == .null)
            try #expect(fixture.values(low)?["title"] == "low")
            try #expect(fixture.values(low)?["name"] == .null)
        }
    }

    /// A property goes from a parent to its child and gets another number there. When it is the parent's again, the
    /// objects of the parent have the values of before.
    @Test(arguments: Kind.allCases) func aPropertyThatComesUpAgainHasTheParentsValues(kind: Kind) throws {
        let store = MigratedStore()
        defer { store.remove() }
        func model(_ name: String, in owner: String, from old: String? = nil) throws -> ManagedObjectModel {
            let back = "\(name)Of\(owner)"
            let property: PropertyDescription =
                switch kind {
                // Only the first model has texts.
                case .attribute:
                    Describe.attribute(name, name == "p" ? .string : .integer64, optional: true, from: old)
                case .toOne, .toMany:
                    .relationship(
                        RelationshipDescription(
                            name: name, destinationEntityName: "Target", inverseName: back, isToMany: kind == .toMany,
                            renamingIdentifier: old))
                }
            let backs = kind == .attribute ? [] : [Describe.toMany(back, owner, inverse: name)]
            return try Describe.model(
                EntityDescription(name: "Root", properties: owner == "Root" ? [property] : []),
                EntityDescription(name: "Leaf", superentityName: "Root", properties: owner == "Leaf" ? [property] : []),
                EntityDescription(name: "Target", properties: backs))
        }
        var (root, leaf, target): (ObjectID?, ObjectID?, ObjectID?)
        try store.open(model("p", in: "Root")) { fixture in
            let to = try fixture.insert("Target", [:])
            let both = try ["Root", "Leaf"].map { try fixture.insert($0, kind == .attribute ? ["p": "5"] : [:]) }
            for id in both where kind == .toOne { try fixture.update(id, ["p": .objectID(to)]) }
            for id in both where kind == .toMany { try fixture.link(id, "p", to) }
            (root, leaf, target) = (both[0], both[1], to)
        }
        let one = try #require(root), other = try #require(leaf), to = try #require(target)
        let held: StateDump.Held =
            switch kind {
            case .attribute: .value(.integer(5))
            case .toOne: .value(.objectID(to))
            case .toMany: .members([to])
            }
        try store.open(model("r", in: "Leaf", from: "p"), MigratedStore.options(oneCommit: 0, step: 1)) { fixture in
            try #expect(StateDump(fixture.store, at: fixture.store.head())[other, "r"] == held)
        }
        try store.open(model("r", in: "Root"), MigratedStore.options(oneCommit: 0, step: 1)) { fixture in
            let dump = try StateDump(fixture.store, at: fixture.store.head())
            #expect(dump[one, "r"] == held)
            #expect(dump[other, "r"] == held)
            if kind != .attribute { #expect(dump[to, "rOfRoot"] == .members([one, other].sorted())) }
            try #expect(fixture.store.rebuild().isUnchanged)
        }
    }
}
