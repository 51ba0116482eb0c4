import Foundation
import StrataModel
import StrataStore
import StrataTestSupport
import StrataXcode
import Testing

/// Stores that go through the versions of real models, back to the first one, and forward again. `STRATA_SEEDS` takes
/// every version of every bundle.
@Suite(.enabled(if: Corpus.isThere, "STRATA_CORPUS is not set"))
struct ModelTravelTests {
    private static let bundles: [[Corpus.Version]] = Dictionary(grouping: Corpus.versions) { $0.bundle }
        .values.filter { $0.count > 1 }
        .map { $0.sorted { $0.name.compare($1.name, options: .numeric) == .orderedAscending } }
        .sorted { $0[0].bundle.path < $1[0].bundle.path }

    private static let isLong = ProcessInfo.processInfo.environment["STRATA_SEEDS"] != nil

    /// The first and the last version, and two between them.
    private static func sample(_ versions: [Corpus.Version]) -> [Corpus.Version] {
        guard !isLong, versions.count > 4 else { return versions }
        return [0, versions.count / 3, versions.count * 2 / 3, versions.count - 1].map { versions[$0] }
    }

    @Test(arguments: bundles.map(sample))
    func aStoreThatWentBackIsForwardAgainWhatItWas(versions: [Corpus.Version]) throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "strata-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        var models = try versions.compactMap { version in try version.soundModel().map { (version.name, $0) } }
        var travel = Travel(location: .directory(url))
        // A version that the objects do not fit is left out.
        models = try models.filter { try travel.go(to: $0.1, fills: true) != nil }
        guard models.count > 1 else { return }
        let top = try #require(try travel.go(to: models[models.count - 1].1))
        var states: [String: Travel.State] = [:]
        var way: [(String, ManagedObjectModel)] = []
        for (name, model) in models.dropLast().reversed() {
            guard let state = try travel.go(to: model) else { continue }
            states[name] = state
            way.append((name, model))
        }
        for (name, model) in way.reversed() {
            let again = try travel.go(to: model)
            expectSame(again, states[name], "\(name) again")
        }
        let last = models[models.count - 1]
        expectSame(try travel.go(to: last.1, verifies: true), top, "\(last.0) again")
    }

    private func expectSame(_ found: Travel.State?, _ expected: Travel.State?, _ comment: String) {
        #expect(found?.count == expected?.count, "\(comment)")
        for (id, values) in expected ?? [:] {
            for (name, value) in values where found?[id]?[name] != value {
                Issue.record("\(comment): \(name) of \(id) is \(found?[id]?[name] as Any), was \(value)")
            }
        }
    }
}

/// A store that is opened with one model after another.
private struct Travel {
    /// The values and members of all objects, by name.
    typealias State = [ObjectID: [String: [AttributeValue]]]

    let location: StoreLocation
    private var number: Int64 = 0

    init(location: StoreLocation) { self.location = location }

    /// Opens the store with a model; nil if the objects do not fit it.
    mutating func go(to model: ManagedObjectModel, fills: Bool = false, verifies: Bool = false) throws -> State? {
        var options = StoreOptions()
        options.durability = .disposable
        options.migration.allowsDowngrade = true
        let store: Store
        do {
            store = try Store.open(location, model: model, options: options)
        } catch let error as StrataError where error.code == .migration {
            return nil
        }
        defer { store.close() }
        if fills { try fill(store) }
        if verifies {
            let report = try store.verify()
            #expect(report.isSound, "\(report.problems.map(\.description))")
        }
        return try state(store)
    }

    private func state(_ store: Store) throws -> State {
        try store.read(at: try store.head()) { snapshot in
            var state: State = [:]
            for entity in snapshot.schema.entities where !entity.isAbstract {
                try snapshot.scan(entity.id) { id, row in
                    var values: [String: [AttributeValue]] = [:]
                    let image = try row.converted(to: entity)
                    try image.withReader(entity.layout) { reader throws(CorruptRecord) in
                        for property in entity.properties where property.storage != nil {
                            values[property.name] = [try reader.value(property.slot)]
                        }
                    }
                    for property in entity.properties where property.relationship?.isToMany ?? false {
                        let members = try snapshot.members(of: property.id, owner: id)
                        values[property.name] = members.map(AttributeValue.objectID)
                        try #expect(snapshot.memberCount(of: property.id, owner: id) == members.count)
                    }
                    state[id] = values
                    return true
                }
            }
            return state
        }
    }

    // MARK: Objects

    /// Adds two objects of each entity, with values and links for everything.
    private mutating func fill(_ store: Store) throws {
        let schema = store.schema
        var changes = ChangeSet(base: try store.head(), modelVersion: schema.version)
        var objects: [(id: ObjectID, entity: EntitySchema)] = []
        for entity in schema.entities where !entity.isAbstract {
            for _ in 0..<2 { objects.append((try store.newObjectID(in: entity.id), entity)) }
        }
        var links: [ObjectID: [PropertyID: ObjectID]] = [:]
        var pairs: Set<PairKey> = []
        for (index, (id, entity)) in objects.enumerated() {
            for property in entity.properties {
                guard let relationship = property.relationship, !relationship.description.isTransient else { continue }
                let allowed = schema.entity(relationship.destination)?.concreteEntityIDs ?? []
                let targets = objects.map(\.id).filter { allowed.contains($0.entityID) }
                guard !targets.isEmpty else { continue }
                let start = (index + Int(property.id.rawValue)) % targets.count
                let inOrder = targets[start...] + targets[..<start]
                switch relationship.truth {
                case .slot:
                    guard links[id]?[property.id] == nil else { continue }
                    guard let inverse = relationship.inverse, !relationship.isInverseToMany else {
                        links[id, default: [:]][property.id] = inOrder.first
                        continue
                    }
                    guard let free = inOrder.first(where: { links[$0]?[inverse] == nil }) else { continue }
                    links[id, default: [:]][property.id] = free
                    links[free, default: [:]][inverse] = id
                case .pair(let canonical):
                    guard canonical == property.id, let link = schema.links.link(canonical) else { continue }
                    for (place, target) in inOrder.prefix(2).enumerated() {
                        guard let key = link.pairKey(owner: id, member: target), pairs.insert(key).inserted else {
                            continue
                        }
                        let positions = PairPositions(inSource: Int64(place), inTarget: Int64(index))
                        changes.pairs.append(.init(key: key, kind: .link(positions)))
                    }
                case .inverseSlot: continue
                }
            }
        }
        for (id, entity) in objects {
            var builder = RowBuilder(entity.layout)
            for property in entity.properties where property.storage != nil {
                number += 1
                var value = AttributeValue.null
                if let attribute = property.attribute {
                    value = Self.value(number, attribute)
                } else if let target = links[id]?[property.id] {
                    value = .objectID(target)
                } else if case .position = property.kind {
                    value = .integer(number)
                }
                try builder.set(property.slot, value)
            }
            changes.insertions.append(.init(id: id, image: try builder.finish()))
        }
        changes.insertions.sort { $0.id < $1.id }
        guard case .saved = try store.save(changes) else { throw StrataError(.merge, "stale") }
    }

    private static func value(_ number: Int64, _ attribute: AttributeDescription) -> AttributeValue {
        if attribute.derivationExpression != nil { return .null }
        return switch attribute.type {
        case .integer16, .integer32, .integer64: .integer(number % 10_000)
        case .decimal: .decimal(Decimal(number))
        case .double: .double(Double(number))
        case .float: .float(Float(number % 10_000))
        case .boolean: .boolean(number % 2 == 0)
        case .string: .string("text \(number)")
        case .date: .date(Date(timeIntervalSinceReferenceDate: Double(number)))
        case .binaryData: .data(Data("bytes \(number)".utf8))
        case .uuid:
            .uuid(
                UUID(
                    uuid: (
                        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, UInt8(number % 250), UInt8(number / 250 % 250)
                    )))
        default: .null
        }
    }
}
