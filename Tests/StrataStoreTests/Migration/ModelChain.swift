import Foundation
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// A store that goes through random models, beside plain dictionaries that say what it should hold under each.
struct ModelChain {
    /// How Thing.link and Other.back hang together.
    struct Shape: Equatable {
        var linkIsToMany = false
        var linkIsOrdered = false
        var hasBack = true
        var backIsToMany = true
        var backIsOrdered = false
    }

    struct Attribute: Equatable {
        var name: String
        var type: AttributeType
        var isOptional = true
        var value: AttributeValue?
        var isIndexed = false
        var from: String?
    }

    let place = MigratedStore()
    var generator: SeededGenerator
    var attributes = [
        Attribute(name: "a0", type: .integer32, isIndexed: true), Attribute(name: "a1", type: .string),
        Attribute(name: "a2", type: .double),
    ]
    var shape = Shape()
    var options: StoreOptions
    private var names = 3

    /// What there should be now.
    var things: [ObjectID: [String: AttributeValue]] = [:]
    var others: Set<ObjectID> = []
    var links: Set<[ObjectID]> = []
    /// What there was, and under which model.
    var history: [(eventNumber: EventNumber, version: ModelVersion, dump: StateDump)] = []

    init(seed: UInt64, options: StoreOptions = StoreOptions()) {
        generator = SeededGenerator(seed: seed)
        self.options = options
    }

    // MARK: Models

    func model() throws -> ManagedObjectModel {
        let back: String? = shape.hasBack ? "back" : nil
        let things = EntityDescription(
            name: "Thing",
            properties: attributes.map {
                Describe.attribute($0.name, $0.type, optional: $0.isOptional, default: $0.value, from: $0.from)
            } + [
                shape.linkIsToMany
                    ? Describe.toMany("link", "Other", inverse: back, ordered: shape.linkIsOrdered)
                    : Describe.toOne("link", "Other", inverse: back)
            ],
            indexes: attributes.filter(\.isIndexed).map {
                FetchIndexDescription(name: "by-\($0.name)", elements: [FetchIndexElement($0.name)])
            })
        let inverse =
            shape.backIsToMany
            ? Describe.toMany("back", "Thing", inverse: "link", ordered: shape.backIsOrdered)
            : Describe.toOne("back", "Thing", inverse: "link")
        return try ManagedObjectModel(entities: [
            things, EntityDescription(name: "Other", properties: shape.hasBack ? [inverse] : []),
        ])
    }

    /// Changes the model at random, and what it should make of the objects.
    mutating func changeModel() {
        for index in attributes.indices { attributes[index].from = nil }
        let index = Int.random(in: attributes.indices, using: &generator)
        switch Int.random(in: 0..<12, using: &generator) {
        case 0: add(nil)
        case 1: add(.integer(Int64.random(in: 0..<100, using: &generator)))
        case 2 where attributes.count > 2:
            let gone = attributes.remove(at: index)
            for id in things.keys { things[id]?[gone.name] = nil }
        case 3: rename(index)
        case 4: attributes[index].isIndexed.toggle()
        case 5: require(index)
        case 6, 7: changeType(index)
        default: changeShape()
        }
    }

    private mutating func add(_ value: AttributeValue?) {
        names += 1
        let name = "a\(names)"
        attributes.append(Attribute(name: name, type: .integer64, isOptional: value == nil, value: value))
        for id in things.keys { things[id]?[name] = value ?? .null }
    }

    private mutating func rename(_ index: Int) {
        names += 1
        let old = attributes[index].name
        attributes[index].from = old
        attributes[index].name = "a\(names)"
        for id in things.keys {
            let value = things[id]?.removeValue(forKey: old)
            things[id]?[attributes[index].name] = value
        }
    }

    private mutating func require(_ index: Int) {
        attributes[index].isOptional.toggle()
        guard !attributes[index].isOptional else { return }
        let filler: AttributeValue =
            switch attributes[index].type {
            case .string: .string("7")
            case .double: .double(7)
            case .decimal: .decimal(7)
            default: .integer(7)
            }
        attributes[index].value = filler
        for id in things.keys where things[id]?[attributes[index].name]?.isNull ?? true {
            things[id]?[attributes[index].name] = filler
        }
    }

    /// Values stay whole numbers below 100, which every type here can hold.
    private mutating func changeType(_ index: Int) {
        let types: [AttributeType] = [.integer16, .integer32, .integer64, .double, .decimal, .string]
        let old = attributes[index].type
        guard let type = types.filter({ $0 != old }).randomElement(using: &generator) else { return }
        attributes[index].type = type
        let name = attributes[index].name
        attributes[index].value = attributes[index].value.map { Self.convert($0, to: type) }
        things = things.mapValues { values in
            var values = values
            values[name] = Self.convert(values[name] ?? .null, to: type)
            return values
        }
    }

    static func convert(_ value: AttributeValue, to type: AttributeType) -> AttributeValue {
        switch value {
        case .null: return .null
        case .string(let text): return make(Int64(Double(text) ?? -1), type, wasFloating: false)
        case .integer(let number): return make(number, type, wasFloating: false)
        case .double(let number): return make(Int64(number), type, wasFloating: true)
        case .decimal(let number): return make(Int64("\(number)") ?? -1, type, wasFloating: false)
        default: return .null
        }
    }

    static func make(_ number: Int64, _ type: AttributeType, wasFloating: Bool) -> AttributeValue {
        switch type {
        case .double: .double(Double(number))
        case .decimal: .decimal(Decimal(number))
        case .string: .string(wasFloating ? "\(number).0" : "\(number)")
        default: .integer(number)
        }
    }

    private mutating func changeShape() {
        let before = shape
        shape = Shape(
            linkIsToMany: .random(using: &generator), linkIsOrdered: .random(using: &generator),
            hasBack: .random(using: &generator), backIsToMany: .random(using: &generator),
            backIsOrdered: .random(using: &generator))
        if !shape.linkIsToMany { shape.linkIsOrdered = false }
        if !shape.hasBack || !shape.backIsToMany { shape.backIsOrdered = false }
        if !fits() { shape = before }
    }

    /// Whether no object has more links than the shape has room for.
    private func fits() -> Bool {
        let forward = Dictionary(grouping: links) { $0[0] }, backward = Dictionary(grouping: links) { $0[1] }
        return (shape.linkIsToMany || forward.values.allSatisfy { $0.count < 2 })
            && (!shape.hasBack || shape.backIsToMany || backward.values.allSatisfy { $0.count < 2 })
    }

    // MARK: Objects

    mutating func save(_ fixture: StoreFixture) throws {
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            switch Int.random(in: 0..<8, using: &generator) {
            case 0, 1: try insertThing(fixture)
            case 2: others.insert(try fixture.insert("Other", [:]))
            case 3: try update(fixture)
            case 4: try delete(fixture)
            default: try link(fixture)
            }
            let head = try fixture.store.head()
            history.append((head, fixture.schema.version, try StateDump(fixture.store, at: head)))
        }
    }

    private mutating func randomValue(_ attribute: Attribute) -> AttributeValue {
        if attribute.isOptional, Int.random(in: 0..<4, using: &generator) == 0 { return .null }
        let number = Int64.random(in: 0..<100, using: &generator)
        return Self.make(number, attribute.type, wasFloating: false)
    }

    private mutating func insertThing(_ fixture: StoreFixture) throws {
        var values: [String: AttributeValue] = [:]
        for attribute in attributes { values[attribute.name] = randomValue(attribute) }
        things[try fixture.insert("Thing", values)] = values
    }

    private mutating func update(_ fixture: StoreFixture) throws {
        guard let id = things.keys.sorted().randomElement(using: &generator),
            let attribute = attributes.randomElement(using: &generator)
        else { return }
        let value = randomValue(attribute)
        try fixture.update(id, [attribute.name: value])
        things[id]?[attribute.name] = value
    }

    private mutating func delete(_ fixture: StoreFixture) throws {
        guard let id = things.keys.sorted().randomElement(using: &generator) else { return }
        // The partner's slot of a one-to-one goes first, as a context would have it.
        if shape.hasBack, !shape.backIsToMany {
            for link in links where link[0] == id { try fixture.update(link[1], ["back": .null]) }
        }
        try fixture.delete(id)
        things[id] = nil
        links = links.filter { $0[0] != id }
    }

    private mutating func link(_ fixture: StoreFixture) throws {
        guard let thing = things.keys.sorted().randomElement(using: &generator),
            let other = others.sorted().randomElement(using: &generator), !links.contains([thing, other])
        else { return }
        links.insert([thing, other])
        guard fits() else {
            links.remove([thing, other])
            return
        }
        guard shape.linkIsToMany else {
            try fixture.update(thing, ["link": .objectID(other)])
            if shape.hasBack, !shape.backIsToMany { try fixture.update(other, ["back": .objectID(thing)]) }
            return
        }
        guard shape.hasBack, !shape.backIsToMany else {
            return try fixture.link(thing, "link", other, place: Int64.random(in: -5...5, using: &generator))
        }
        try fixture.update(other, ["back": .objectID(thing)])
    }

    // MARK: Checks

    func check(_ fixture: StoreFixture, _ comment: String) throws {
        let dump = try StateDump(fixture.store, at: fixture.store.head())
        #expect(Set(dump.objects.keys) == others.union(things.keys), "\(comment)")
        for (id, values) in things {
            for (name, value) in values { #expect(dump[id, name] == .value(value), "\(comment): \(name) of \(id)") }
            #expect(Self.set(dump[id, "link"]) == Set(links.filter { $0[0] == id }.map { $0[1] }), "\(comment): link")
        }
        for id in others where shape.hasBack {
            #expect(Self.set(dump[id, "back"]) == Set(links.filter { $0[1] == id }.map { $0[0] }), "\(comment): back")
        }
    }

    private static func set(_ held: StateDump.Held?) -> Set<ObjectID> {
        switch held {
        case .members(let members): Set(members)
        case .value(.objectID(let id)): [id]
        default: []
        }
    }

    func checkHistory(_ fixture: StoreFixture, _ comment: String) throws {
        for (eventNumber, version, dump) in history {
            let then = try fixture.store.schema(at: eventNumber)
            #expect(then.version == version, "\(comment)")
            #expect(
                try StateDump(fixture.store, at: eventNumber, through: then) == dump,
                "\(comment): \(eventNumber) under model \(version.rawValue)")
        }
    }
}
