import Foundation
import StrataModel
import StrataStore

/// Saves of one thread, which touch objects of its own only.
///
/// Save n inserts movie n, rates the one before and gives it an owner, links the new one to an ordered tag, moves it to
/// the front every third time, unlinks every fourth of the ones before, gives every fifth a large picture, and deletes
/// every seventh movie from seven saves ago. Each transaction carries thread and n as its metadata.
struct Saver: Sendable {
    private let store: Store
    private let thread: Int
    private let movie: EntitySchema
    private let tag: EntitySchema
    private var number = 0
    private var movies: [Int: ObjectID] = [:]
    private var tagID: ObjectID?

    init(_ store: Store, thread: Int) throws {
        self.store = store
        self.thread = thread
        guard let movie = store.schema.entity(named: "Movie"), let tag = store.schema.entity(named: "Tag") else {
            throw StrataError(.unknownEntity, "the model of the crash tests")
        }
        self.movie = movie
        self.tag = tag
        let first = thread * 1_000_000
        let (numberSlot, labelSlot) = try (Self.slot("number", movie), Self.slot("label", tag))
        var movies: [Int: ObjectID] = [:]
        var tagID: ObjectID?
        try store.read(at: try store.head()) { snapshot in
            try snapshot.scan(movie.id) { id, row in
                let image = try row.converted(to: movie)
                try image.withReader(movie.layout) { reader throws(CorruptRecord) in
                    let number = Int(reader.integer(numberSlot) ?? 0) - first
                    if number > 0, number < 1_000_000 { movies[number] = id }
                }
                return true
            }
            try snapshot.scan(tag.id) { id, row in
                let image = try row.converted(to: tag)
                try image.withReader(tag.layout) { reader throws(CorruptRecord) in
                    if try reader.value(labelSlot) == .string("tag \(thread)") { tagID = id }
                }
                return true
            }
        }
        self.movies = movies
        self.tagID = tagID
        number = movies.keys.max() ?? 0
    }

    private static func slot(_ name: String, _ entity: EntitySchema) throws -> Int {
        guard let property = entity.property(named: name) else { throw StrataError(.unknownKey, name) }
        return property.slot
    }

    /// - Returns: the number of the save.
    mutating func save() throws -> Int {
        number += 1
        let lease = try store.beginBlobLease()
        var changes = ChangeSet(
            base: try store.head(), modelVersion: store.schema.version,
            metadata: ["t": String(thread), "n": String(number)])
        let id = try insert(&changes)
        try changeThePrevious(&changes)
        if number % 7 == 0, let old = movies.removeValue(forKey: number - 7) {
            changes.deletions.append(.init(id: old, baseRevision: try revision(old)))
        }
        guard case .saved = try store.save(changes) else { throw StrataError(.merge, "nobody else saves these") }
        withExtendedLifetime(lease) {}
        movies[number] = id
        return number
    }

    private mutating func insert(_ changes: inout ChangeSet) throws -> ObjectID {
        let id = try store.newObjectID(in: movie.id)
        var builder = RowBuilder(movie.layout)
        try builder.set(try Self.slot("number", movie), .integer(Int64(thread * 1_000_000 + number)))
        try builder.set(try Self.slot("rating", movie), .double(0))
        if number % 5 == 0 {
            let bytes = Data((0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* number &+ thread) })
            try builder.set(try Self.slot("picture", movie), .blob(try store.stageBlob(bytes)))
        }
        changes.insertions.append(.init(id: id, image: try builder.finish()))
        if tagID == nil {
            let tagID = try store.newObjectID(in: tag.id)
            var builder = RowBuilder(tag.layout)
            try builder.set(try Self.slot("label", tag), .string("tag \(thread)"))
            changes.insertions.append(.init(id: tagID, image: try builder.finish()))
            self.tagID = tagID
        }
        try pair(id, place: Int64(number), &changes) { .link($0) }
        changes.insertions.sort { $0.id < $1.id }
        return id
    }

    private func pair(
        _ id: ObjectID, place: Int64, _ changes: inout ChangeSet, _ kind: (PairPositions) -> ChangeSet.PairChange.Kind
    ) throws {
        guard let tagID, let tags = movie.property(named: "tags"),
            case .pair(let canonical)? = tags.relationship?.truth
        else { return }
        let isForward = canonical == tags.id
        changes.pairs.append(
            .init(
                key: PairKey(property: canonical, source: isForward ? id : tagID, target: isForward ? tagID : id),
                kind: kind(isForward ? PairPositions(inTarget: place) : PairPositions(inSource: place))))
    }

    private func changeThePrevious(_ changes: inout ChangeSet) throws {
        guard let previous = movies[number - 1], let tagID else { return }
        let (image, revision) = try store.read(at: try store.head()) { snapshot in
            guard let row = try snapshot.row(previous) else {
                throw StrataError(.corrupt, "an acknowledged movie is gone")
            }
            return (try row.converted(to: movie), row.revision)
        }
        var builder = try RowBuilder(image, layout: movie.layout)
        let (rating, owner) = try (Self.slot("rating", movie), Self.slot("owner", movie))
        try builder.set(rating, .double(Double(number)))
        try builder.set(owner, .objectID(tagID))
        changes.updates.append(
            .init(
                id: previous, baseRevision: revision, image: try builder.finish(),
                changedSlots: [rating, owner].sorted()))
        if number % 3 == 0 { try pair(previous, place: Int64(-number), &changes) { .move($0) } }
        if number % 4 == 0, let other = movies[number - 3] { try pair(other, place: 0, &changes) { _ in .unlink } }
    }

    private func revision(_ id: ObjectID) throws -> EventNumber {
        try store.read(at: try store.head()) { try $0.row(id)?.revision ?? .zero }
    }
}
