import Foundation
import StrataModel
import StrataStore
import StrataTestSupport

/// A store under test beside plain dictionaries that say what it should hold, now and at every earlier sequence.
struct StoreOracle {
    /// What one moment looks like.
    struct Moment: Equatable {
        var objects: [ObjectID: [String: AttributeValue]] = [:]
        /// Tag -> movies in order of place; the place is what the test chose.
        var tagged: [ObjectID: [ObjectID: Int64]] = [:]
    }

    let fixture: StoreFixture
    var generator: SeededGenerator
    var now = Moment()
    var history: [(eventNumber: EventNumber, moment: Moment)] = []
    private var names = 0

    init(seed: UInt64, _ location: StoreLocation = .inMemory) throws {
        fixture = try StoreFixture(location, options: .gathering(seed))
        generator = SeededGenerator(seed: seed)
        history = [(try fixture.store.head(), now)]
    }

    // MARK: Steps

    /// One save of a few random operations; the moment it makes is remembered.
    mutating func step() throws {
        var changes = try fixture.changes()
        var touched: Set<ObjectID> = []
        for _ in 0..<Int.random(in: 1...5, using: &generator) {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0...3: try insert(&changes, &touched)
            case 4...6: try update(&changes, &touched)
            case 7: try delete(&changes, &touched)
            default: try relink(&changes, &touched)
            }
        }
        guard !changes.isEmpty else { return }
        changes.insertions.sort { $0.id < $1.id }
        let receipt = try fixture.save(changes)
        history.append((receipt.eventNumber, now))
    }

    private func living(_ entity: String) -> [ObjectID] {
        guard let id = fixture.schema.entity(named: entity)?.id else { return [] }
        return now.objects.keys.filter { $0.entityID == id }.sorted()
    }

    private mutating func insert(_ changes: inout ChangeSet, _ touched: inout Set<ObjectID>) throws {
        names += 1
        let entity = ["Movie", "Movie", "Movie", "Owner", "Tag"].randomElement(using: &generator) ?? "Movie"
        var values: [String: AttributeValue] = [:]
        switch entity {
        case "Movie":
            values["title"] = .string(text())
            values["rating"] = .double(Double(Int.random(in: 0...50, using: &generator)) / 10)
            if Bool.random(using: &generator) {
                values["year"] = .integer(Int64.random(in: 1900...2030, using: &generator))
            }
            if let owner = living("Owner").filter({ !touched.contains($0) }).randomElement(using: &generator) {
                values["owner"] = .objectID(owner)
                touched.insert(owner)
            }
        case "Owner": values["name"] = .string("owner \(names)")
        default: values["label"] = .string(text())
        }
        let id = try fixture.insert(entity, values, into: &changes)
        touched.insert(id)
        now.objects[id] = values
        if entity == "Tag" { now.tagged[id] = [:] }
    }

    /// Sometimes long enough that its before-image is kept by reference.
    private mutating func text() -> String {
        let length = Int.random(in: 0..<20, using: &generator) == 0 ? 1500 : Int.random(in: 0...30, using: &generator)
        return String((0..<length).map { _ in "abcxyz é".randomElement(using: &generator) ?? "a" })
    }

    private mutating func update(_ changes: inout ChangeSet, _ touched: inout Set<ObjectID>) throws {
        guard let id = living("Movie").filter({ !touched.contains($0) }).randomElement(using: &generator) else {
            return
        }
        var values: [String: AttributeValue] = [:]
        if Bool.random(using: &generator) { values["title"] = .string(text()) }
        if Bool.random(using: &generator) { values["year"] = .null }
        if Bool.random(using: &generator) {
            values["owner"] = .null
            if let owner = living("Owner").filter({ !touched.contains($0) }).randomElement(using: &generator) {
                values["owner"] = .objectID(owner)
                touched.insert(owner)
            }
        }
        guard !values.isEmpty else { return }
        try fixture.update(id, values, in: &changes)
        touched.insert(id)
        for (key, value) in values { now.objects[id]?[key] = value == .null ? nil : value }
    }

    /// Deletes a movie, a tag, or an owner whose movies lose it.
    private mutating func delete(_ changes: inout ChangeSet, _ touched: inout Set<ObjectID>) throws {
        guard let id = now.objects.keys.sorted().filter({ !touched.contains($0) }).randomElement(using: &generator)
        else { return }
        let movies = living("Movie").filter { now.objects[$0]?["owner"] == .objectID(id) }
        guard movies.allSatisfy({ !touched.contains($0) }) else { return }
        for movie in movies {
            try fixture.update(movie, ["owner": .null], in: &changes)
            touched.insert(movie)
            now.objects[movie]?["owner"] = nil
        }
        changes.deletions.append(.init(id: id, baseRevision: try fixture.revision(of: id)))
        touched.insert(id)
        now.objects[id] = nil
        now.tagged[id] = nil
        for tag in now.tagged.keys { now.tagged[tag]?[id] = nil }
    }

    private mutating func relink(_ changes: inout ChangeSet, _ touched: inout Set<ObjectID>) throws {
        guard let tag = living("Tag").filter({ !touched.contains($0) }).randomElement(using: &generator),
            let movie = living("Movie").filter({ !touched.contains($0) }).randomElement(using: &generator)
        else { return }
        touched.formUnion([tag, movie])
        let place = Int64.random(in: -1000...1000, using: &generator)
        let key = try pair(movie, tag)
        let positions = key.source == tag ? PairPositions(inSource: place) : PairPositions(inTarget: place)
        if now.tagged[tag]?[movie] == nil {
            changes.pairs.append(.init(key: key, kind: .link(positions)))
            now.tagged[tag]?[movie] = place
        } else if Bool.random(using: &generator) {
            changes.pairs.append(.init(key: key, kind: .move(positions)))
            now.tagged[tag]?[movie] = place
        } else {
            changes.pairs.append(.init(key: key, kind: .unlink))
            now.tagged[tag]?[movie] = nil
        }
    }

    private func pair(_ movie: ObjectID, _ tag: ObjectID) throws -> PairKey {
        let tags = try fixture.property("Movie", "tags")
        guard case .pair(let canonical)? = tags.relationship?.truth else {
            throw StrataError(.invalidModel, "tags are no pairs")
        }
        return canonical == tags.id
            ? PairKey(property: canonical, source: movie, target: tag)
            : PairKey(property: canonical, source: tag, target: movie)
    }

    // MARK: Comparing

    /// What the store says of one moment, read through the snapshot.
    func read(at eventNumber: EventNumber) throws -> Moment {
        try fixture.store.read(at: eventNumber) { snapshot in
            var moment = Moment()
            for entity in fixture.schema.entities {
                var count = 0
                try snapshot.scan(entity.id) { id, row in
                    count += 1
                    moment.objects[id] = try Self.values(row, entity)
                    return true
                }
                guard try snapshot.count(of: entity.id) == count else {
                    throw StrataError(.corrupt, "the counter of \(entity.name) is not \(count) at \(eventNumber)")
                }
            }
            try readLinks(snapshot, &moment)
            return moment
        }
    }

    private func readLinks(_ snapshot: Snapshot, _ moment: inout Moment) throws {
        let movies = try fixture.property("Tag", "movies").id
        let owned = try fixture.property("Owner", "movies").id
        for id in moment.objects.keys {
            switch fixture.schema.entity(id.entityID)?.name {
            case "Tag":
                moment.tagged[id] = [:]
                try snapshot.membersWithPositions(of: movies, owner: id) { member, place in
                    moment.tagged[id]?[member] = place
                    return true
                }
                guard try snapshot.memberCount(of: movies, owner: id) == moment.tagged[id]?.count else {
                    throw StrataError(.corrupt, "wrong count of movies of tag \(id)")
                }
            case "Owner":
                let members = try snapshot.members(of: owned, owner: id)
                let expected = moment.objects.filter { $0.value["owner"] == .objectID(id) }.keys.sorted()
                guard members == expected, try snapshot.memberCount(of: owned, owner: id) == expected.count else {
                    throw StrataError(.corrupt, "members of owner \(id) do not match the movies")
                }
            default: break
            }
        }
    }

    private static func values(_ row: SnapshotRow, _ entity: EntitySchema) throws -> [String: AttributeValue] {
        let image = try row.converted(to: entity)
        var values: [String: AttributeValue] = [:]
        try image.withReader(entity.layout) { reader throws(CorruptRecord) in
            for property in entity.properties where property.storage != nil {
                let value = try reader.value(property.slot)
                if value != .null { values[property.name] = value }
            }
        }
        return values
    }
}
