// Saves without end, and says after each save that it is done; the crash tests kill it in the middle.
//
//     store-crash-child STORE DURABILITY
//
// Save n inserts movie n, rates the one before, links it to a tag, gives every fifth a large picture, and deletes
// every seventh movie from seven saves ago. Each transaction carries n as its metadata.

import Foundation
import StrataModel
import StrataStore

func makeModel() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
        EntityDescription(
            name: "Movie",
            properties: [
                .attribute(AttributeDescription(name: "number", type: .integer64)),
                .attribute(AttributeDescription(name: "rating", type: .double, defaultValue: .double(0))),
                .attribute(
                    AttributeDescription(
                        name: "picture", type: .binaryData, isOptional: true, allowsExternalBinaryDataStorage: true)),
                .relationship(
                    RelationshipDescription(
                        name: "tags", destinationEntityName: "Tag", inverseName: "movies", isToMany: true)),
            ],
            indexes: [FetchIndexDescription(name: "byRating", elements: [FetchIndexElement("rating")])],
            uniquenessConstraints: [["number"]]),
        EntityDescription(
            name: "Tag",
            properties: [
                .attribute(AttributeDescription(name: "label", type: .string)),
                .relationship(
                    RelationshipDescription(
                        name: "movies", destinationEntityName: "Movie", inverseName: "tags", isToMany: true,
                        isOrdered: true)),
            ]),
    ])
}

/// What the child remembers between saves; read from the store when it starts.
struct Saver {
    let store: Store
    let movie: EntitySchema
    let tag: EntitySchema
    var number: Int
    var movies: [Int: ObjectID] = [:]
    var tagID: ObjectID?

    init(_ store: Store) throws {
        self.store = store
        guard let movie = store.schema.entity(named: "Movie"), let tag = store.schema.entity(named: "Tag") else {
            throw StrataError(.unknownEntity, "the model of the crash tests")
        }
        self.movie = movie
        self.tag = tag
        let head = try store.head()
        number = 0
        var movies: [Int: ObjectID] = [:]
        var tagID: ObjectID?
        try store.read(at: head) { view in
            try view.scan(movie.id) { id, row in
                movies[Int(try row.reader.integer(0) ?? 0)] = id
                return true
            }
            try view.scan(tag.id) { id, _ in
                tagID = id
                return true
            }
        }
        self.movies = movies
        self.tagID = tagID
        number = movies.keys.max() ?? 0
    }

    mutating func save() throws {
        number += 1
        let lease = try store.beginBlobLease()
        var changes = ChangeSet(
            base: try store.head(), modelVersion: store.schema.version, metadata: ["n": String(number)])
        let id = try insert(&changes)
        try rateThePrevious(&changes)
        if number % 7 == 0, let old = movies.removeValue(forKey: number - 7) {
            changes.deletions.append(.init(id: old, baseRevision: try revision(old)))
        }
        guard case .saved = try store.save(changes) else { throw StrataError(.merge, "nobody else saves here") }
        withExtendedLifetime(lease) {}
        movies[number] = id
    }

    private mutating func insert(_ changes: inout ChangeSet) throws -> ObjectID {
        let id = try store.newObjectID(in: movie.id)
        var builder = RowBuilder(movie.layout)
        try builder.set(0, .integer(Int64(number)))
        try builder.set(1, .double(0))
        if number % 5 == 0 {
            let bytes = Data((0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* number) })
            try builder.set(2, .blob(try store.stageBlob(bytes)))
        }
        changes.insertions.append(.init(id: id, image: try builder.finish()))
        if tagID == nil {
            let tagID = try store.newObjectID(in: tag.id)
            var builder = RowBuilder(tag.layout)
            try builder.set(0, .string("all"))
            changes.insertions.append(.init(id: tagID, image: try builder.finish()))
            self.tagID = tagID
        }
        try link(id, &changes)
        changes.insertions.sort { $0.id < $1.id }
        return id
    }

    private func link(_ id: ObjectID, _ changes: inout ChangeSet) throws {
        guard let tagID, let tags = movie.property(named: "tags"),
            case .pair(let canonical)? = tags.relationship?.truth
        else { return }
        let isForward = canonical == tags.id
        let place = Int64(number)
        changes.pairs.append(
            .init(
                key: PairKey(property: canonical, source: isForward ? id : tagID, target: isForward ? tagID : id),
                kind: .link(isForward ? PairPositions(inTarget: place) : PairPositions(inSource: place))))
    }

    private func rateThePrevious(_ changes: inout ChangeSet) throws {
        guard let previous = movies[number - 1] else { return }
        let (image, revision) = try store.read(at: try store.head()) { view in
            guard let row = try view.row(previous) else { throw StrataError(.corrupt, "an acknowledged movie is gone") }
            return (try row.converted(to: movie), row.revision)
        }
        var builder = try RowBuilder(image, layout: movie.layout)
        try builder.set(1, .double(Double(number)))
        changes.updates.append(
            .init(id: previous, baseRevision: revision, image: try builder.finish(), changedSlots: [1]))
    }

    private func revision(_ id: ObjectID) throws -> EventSequence {
        try store.read(at: try store.head()) { try $0.row(id)?.revision ?? .zero }
    }
}

guard CommandLine.arguments.count == 3, let durability = StoreDurability(rawValue: CommandLine.arguments[2]) else {
    FileHandle.standardError.write(Data("usage: store-crash-child STORE full|relaxed|disposable\n".utf8))
    exit(2)
}
var options = StoreOptions()
options.durability = durability
options.rowLeaseSize = 64
let store = try Store.open(
    .directory(URL(filePath: CommandLine.arguments[1])), model: try makeModel(), options: options)
var saver = try Saver(store)
while true {
    try saver.save()
    FileHandle.standardOutput.write(Data("\(saver.number)\n".utf8))
}
