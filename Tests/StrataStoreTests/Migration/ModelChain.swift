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
    /// The states of `history` as the newest model should show them.
    var pasts: [Past] = []

    /// Up to where replaced values of things are gone.
    private(set) var thinned = EventNumber.zero

    struct Past {
        var things: [ObjectID: [String: AttributeValue]]
        let others: Set<ObjectID>
        let links: Set<[ObjectID]>
        /// Whether every model since had room for all links.
        var keepsLinks = true
    }

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
            changeThings { $0[gone.name] = nil }
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
        changeThings { $0[name] = value ?? .null }
    }

    private mutating func rename(_ index: Int) {
        names += 1
        let old = attributes[index].name
        attributes[index].from = old
        attributes[index].name = "a\(names)"
        let name = attributes[index].name
        changeThings { $0[name] = $0.removeValue(forKey: old) }
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
        changeThings { $0[name] = Self.convert($0[name] ?? .null, to: type) }
    }

    /// Makes a change of the model in all objects, present and past.
    private mutating func changeThings(_ change: (inout [String: AttributeValue]) -> Void) {
        func changed(_ things: [ObjectID: [String: AttributeValue]]) -> [ObjectID: [String: AttributeValue]] {
            things.mapValues { values in
                var values = values
                change(&values)
                return values
            }
        }
        things = changed(things)
        for index in pasts.indices { pasts[index].things = changed(pasts[index].things) }
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
        if !fits(links) { shape = before }
        for index in pasts.indices where !fits(pasts[index].links) { pasts[index].keepsLinks = false }
    }

    /// Whether no object has more links than the shape has room for.
    private func fits(_ links: Set<[ObjectID]>) -> Bool {
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
            pasts.append(Past(things: things, others: others, links: links))
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
        guard fits(links) else {
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
            try unlessThinned(eventNumber, comment) {
                let found = try StateDump(fixture.store, at: eventNumber, through: then)
                #expect(found == dump, "\(comment): \(eventNumber) under model \(version.rawValue)")
            }
        }
        for (index, past) in pasts.enumerated() {
            let eventNumber = history[index].eventNumber
            try unlessThinned(eventNumber, comment) { try check(past, eventNumber, fixture, comment) }
        }
    }

    /// A state before the cut of a thinning reads as it was, or says that values are gone.
    private func unlessThinned(_ eventNumber: EventNumber, _ comment: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as StrataError where error.code == .historyDropped {
            let isOfThing = error.context.entityName == "Thing"
            #expect(eventNumber < thinned && isOfThing, "\(comment): \(eventNumber), \(error)")
        }
    }

    /// Drops the replaced values of things up to some moment.
    mutating func thin(_ fixture: StoreFixture, _ comment: String) throws {
        let index = Int.random(in: history.count / 2..<history.count, using: &generator)
        let report = try fixture.store.thinHistory(
            of: ["Thing"], through: history[index].eventNumber, MaintenanceNote(author: nil),
            limits: TrimLimits(events: Int.random(in: 1...30, using: &generator)))
        thinned = max(thinned, report.cut)
        let verified = try fixture.store.verify()
        #expect(!verified.hasUnfinishedThinning && verified.isSound, "\(comment): \(verified.problems)")
        #expect(try fixture.store.rebuild().isUnchanged, "\(comment)")
    }

    /// Compares a past state through the newest model with what the migrations since make of it.
    private func check(_ past: Past, _ eventNumber: EventNumber, _ fixture: StoreFixture, _ comment: String) throws {
        let comment = "\(comment): \(eventNumber) through the newest model"
        let dump = try StateDump(fixture.store, at: eventNumber)
        #expect(Set(dump.objects.keys) == past.others.union(past.things.keys), "\(comment)")
        for (id, values) in past.things {
            for (name, value) in values {
                // A nil of then stays nil until a migration rewrites the property and it is required.
                var isFilled = false
                if value.isNull, case .value(let held)? = dump[id, name] {
                    isFilled = Self.convert(held, to: .integer64) == .integer(7)
                }
                #expect(dump[id, name] == .value(value) || isFilled, "\(comment): \(name) of \(id)")
            }
        }
        try checkRequests(dump, past, eventNumber, fixture, comment)
        let problems = try fixture.store.convertedState(at: eventNumber)?.problems ?? []
        guard past.keepsLinks else {
            return #expect(problems.allSatisfy { ["link", "back"].contains($0.key) }, "\(comment): \(problems)")
        }
        #expect(problems.isEmpty, "\(comment): \(problems)")
        for id in past.things.keys {
            let linked = Set(past.links.filter { $0[0] == id }.map { $0[1] })
            #expect(Self.set(dump[id, "link"]) == linked, "\(comment): link of \(id)")
        }
        for id in past.others where shape.hasBack {
            let linked = Set(past.links.filter { $0[1] == id }.map { $0[0] })
            #expect(Self.set(dump[id, "back"]) == linked, "\(comment): back of \(id)")
        }
    }

    /// Compares requests over a past state with what reading each object says.
    private func checkRequests(
        _ dump: StateDump, _ past: Past, _ eventNumber: EventNumber, _ fixture: StoreFixture, _ comment: String
    ) throws {
        let thing = try fixture.entity("Thing").id
        try fixture.store.read(at: eventNumber) { snapshot in
            for name in attributes.map(\.name) {
                let held = past.things.keys.sorted().map { id -> (id: ObjectID, value: AttributeValue) in
                    if case .value(let value)? = dump[id, name] { (id, value) } else { (id, .null) }
                }
                for value in Set(held.map(\.value)).prefix(3) {
                    let predicate = FetchPredicate.comparison(
                        ComparisonPredicate(.keyPath(name), .equalTo, .constant(value)))
                    let found = try snapshot.fetch(StoreRequest(entityID: thing, predicate: predicate))
                    #expect(found == held.filter { $0.value == value }.map(\.id), "\(comment): \(name) == \(value)")
                }
                let sorted = try snapshot.fetch(StoreRequest(entityID: thing, sort: [SortDescription(name)]))
                #expect(sorted.sorted() == held.map(\.id), "\(comment): by \(name)")
                let values = Dictionary(uniqueKeysWithValues: held.map { ($0.id, $0.value) })
                for (first, second) in zip(sorted, sorted.dropFirst()) {
                    guard let left = values[first], let right = values[second], !left.isNull, !right.isNull else {
                        continue
                    }
                    #expect(left.order(to: right) != .descending, "\(comment): by \(name)")
                }
            }
        }
    }
}
