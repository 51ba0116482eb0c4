import Foundation
import StrataModel
import StrataStore
import StrataTestSupport

/// A store of titled movies with tags and covers, and what must be in it.
final class Library {
    let directory: URL
    private(set) var store: Store
    /// The titles that acknowledged saves have left.
    private(set) var titles: [ObjectID: String] = [:]
    private var number = 0

    static func model(version: Int) throws -> ManagedObjectModel {
        var attributes = ["title"]
        for extra in 1..<max(1, version) { attributes.append("extra\(extra)") }
        return try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Movie",
                properties: attributes.map {
                    .attribute(AttributeDescription(name: $0, type: .string, isOptional: $0 != "title"))
                } + [
                    .attribute(
                        AttributeDescription(
                            name: "cover", type: .binaryData, isOptional: true, allowsExternalBinaryDataStorage: true)),
                    .relationship(
                        RelationshipDescription(
                            name: "tags", destinationEntityName: "Tag", inverseName: "movies", isToMany: true)),
                ],
                indexes: attributes.map {
                    FetchIndexDescription(name: "by_\($0)", elements: [FetchIndexElement($0)])
                },
                uniquenessConstraints: [["title"]]),
            EntityDescription(
                name: "Tag",
                properties: [
                    .attribute(AttributeDescription(name: "label", type: .string)),
                    .relationship(
                        RelationshipDescription(
                            name: "movies", destinationEntityName: "Movie", inverseName: "tags", isToMany: true)),
                ]),
        ])
    }

    /// As `STRATA_DURABILITY` says.
    private static let durability =
        ProcessInfo.processInfo.environment["STRATA_DURABILITY"].flatMap { StoreDurability(rawValue: $0) } ?? .full

    static var options: StoreOptions {
        var options = StoreOptions()
        options.rowLeaseSize = 8
        options.bufferLimits = .eager
        options.writerLockTimeout = .seconds(10)
        options.durability = durability
        return options
    }

    init(_ directory: URL) throws {
        self.directory = directory
        store = try Store.open(.directory(directory), model: try Self.model(version: 1), options: Self.options)
    }

    func close() { store.close() }

    func reopen(version: Int? = nil) throws {
        store.close()
        store = try Store.open(
            .directory(directory), model: try version.map(Self.model(version:)), options: Self.options)
    }

    // MARK: Changes

    /// Changes that put new movies in; `commit` says what they came to.
    struct Draft {
        var changes: ChangeSet
        var titles: [ObjectID: String?] = [:]
        var lease: BlobLease?
    }

    func draft() throws -> Draft {
        Draft(changes: ChangeSet(base: try store.head(), modelVersion: store.schema.version))
    }

    @discardableResult
    func insert(_ draft: inout Draft, title: String? = nil, cover: Data? = nil) throws -> ObjectID {
        let movie = try entity("Movie")
        number += 1
        let title = title ?? "movie \(number) " + String(repeating: "x", count: number % 7 * 100)
        let id = try store.newObjectID(in: movie.id)
        var builder = RowBuilder(movie.layout)
        try builder.set(try slot("title", of: movie), .string(title))
        if let cover {
            if draft.lease == nil { draft.lease = try store.beginBlobLease() }
            try builder.set(try slot("cover", of: movie), .blob(try store.stageBlob(cover)))
        }
        draft.changes.insertions.append(.init(id: id, image: try builder.finish()))
        draft.changes.insertions.sort { $0.id < $1.id }
        draft.titles[id] = title
        return id
    }

    func rename(_ ids: [ObjectID], _ draft: inout Draft) throws {
        let movie = try entity("Movie")
        let slot = try slot("title", of: movie)
        for (id, (image, revision)) in zip(ids, try rows(ids)) {
            number += 1
            var builder = try RowBuilder(image, layout: movie.layout)
            try builder.set(slot, .string("renamed \(number)"))
            draft.changes.updates.append(
                .init(id: id, baseRevision: revision, image: try builder.finish(), changedSlots: [slot]))
            draft.titles[id] = "renamed \(number)"
        }
    }

    /// So many events of one save are made views of on a thread of their own.
    static let many = 1_100

    /// Renames every movie, in one save.
    func renameAll() throws {
        var draft = try draft()
        try rename(titles.keys.sorted(), &draft)
        try commit(draft)
    }

    func delete(_ id: ObjectID, _ draft: inout Draft) throws {
        draft.changes.deletions.append(.init(id: id, baseRevision: try rows([id])[0].revision))
        draft.titles[id] = .some(nil)
    }

    func tag(_ id: ObjectID, _ draft: inout Draft) throws {
        let tag = try entity("Tag")
        let movie = try entity("Movie")
        let tagID = try store.newObjectID(in: tag.id)
        var builder = RowBuilder(tag.layout)
        try builder.set(try slot("label", of: tag), .string("new"))
        draft.changes.insertions.append(.init(id: tagID, image: try builder.finish()))
        draft.changes.insertions.sort { $0.id < $1.id }
        guard let tags = movie.property(named: "tags"), case .pair(let canonical)? = tags.relationship?.truth else {
            fail("tags are no pairs")
        }
        let isForward = canonical == tags.id
        draft.changes.pairs.append(
            .init(
                key: PairKey(property: canonical, source: isForward ? id : tagID, target: isForward ? tagID : id),
                kind: .link(PairPositions())))
    }

    @discardableResult
    func commit(_ draft: Draft, turn: SaveTurn? = nil) throws -> SaveReceipt {
        switch try store.save(draft.changes, turn: turn) {
        case .saved(let receipt):
            for (id, title) in draft.titles { titles[id] = title }
            return receipt
        case .stale(let staleness): fail("stale: \(staleness)")
        }
    }

    var anyMovie: ObjectID {
        guard let id = titles.keys.min() else { fail("there is no movie") }
        return id
    }

    private func rows(_ ids: [ObjectID]) throws -> [(image: RowImage, revision: EventNumber)] {
        let movie = try entity("Movie")
        return try store.read(at: try store.head()) { snapshot in
            try ids.map { id in
                guard let row = try snapshot.row(id) else { fail("an acknowledged movie is gone") }
                return (try row.converted(to: movie), row.revision)
            }
        }
    }

    private func entity(_ name: String) throws -> EntitySchema {
        guard let entity = store.schema.entity(named: name) else { fail("no entity \(name)") }
        return entity
    }

    private func slot(_ name: String, of entity: EntitySchema) throws -> Int {
        guard let property = entity.property(named: name) else { fail("no property \(name)") }
        return property.slot
    }

    // MARK: Checks

    /// Everything acknowledged is there and nothing else, and the views are what the log says.
    func check(_ place: String) throws {
        let movie = try entity("Movie")
        let titleSlot = try slot("title", of: movie)
        var found: [ObjectID: String] = [:]
        try store.read(at: try store.head()) { snapshot in
            try snapshot.scan(movie.id) { id, row in
                let image = try row.converted(to: movie)
                try image.withReader(movie.layout) { reader throws(CorruptRecord) in
                    if case .string(let title) = try reader.value(titleSlot) { found[id] = title }
                }
                return true
            }
        }
        expect(found == titles, "\(place): \(found.count) movies are there, \(titles.count) were acknowledged")
        let report = try store.verify()
        expect(report.isSound, "\(place): \(report.problems.map(\.description))")
    }
}
