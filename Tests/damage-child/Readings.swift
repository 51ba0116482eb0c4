import Foundation
import Strata

/// A store read whole, as an app reads it: a digest of each part, or the error that was thrown in its place.
struct Readings {
    private let container: PersistentContainer
    private(set) var parts: [String: String] = [:]
    /// How many objects a context reads before it is asked whether all of them could be read.
    private static let groupSize = 40

    init(_ container: PersistentContainer) {
        self.container = container
        objects(Author.self) { "\($0.name) \($0.born) \(Self.ids($0.books))" }
        objects(Book.self) { book in
            "\(book.title) \(book.year) \(book.rating) \(book.blurb ?? "-") \(book.cover.map(Self.digest) ?? 0) "
                + "\(book.author?.name ?? "-") \(book.series?.name ?? "-") \(Self.ids(book.tags))"
        }
        objects(Tag.self) { tag in "\(tag.label) \(tag.books.count) \(tag.books.map { "\($0.objectID)" })" }
        objects(Series.self) { series in "\(series.name) \(series.volumes.map { "\($0.objectID)" })" }
        for number in 0..<60 { part("fetch \(number)") { try Self.found(by: number, container) } }
    }

    /// A part for each group of objects; a context of its own reads it.
    private mutating func objects<Object: ManagedObject>(_ type: Object.Type, _ text: (Object) -> String) {
        var ids: [ObjectID] = []
        part("all \(type)") { [container] in
            ids = try container.newBackgroundContext().fetchObjectIDs(FetchRequest<Object>()).sorted()
            return Self.digest("\(ids)")
        }
        for start in stride(from: 0, to: ids.count, by: Self.groupSize) {
            let group = ids[start..<min(ids.count, start + Self.groupSize)]
            // Named by its first object, so that a group is not held against another one.
            part("\(type) \(group[start])") { [container] in
                let context = container.newBackgroundContext()
                var digest: UInt64 = 0
                for id in group {
                    let object = try context.existingObject(with: id, as: Object.self)
                    digest = Self.digest("\(digest) \(text(object))")
                }
                // A getter cannot throw, but the context can.
                try context.validateChanges()
                return digest
            }
        }
    }

    private static func found(by number: Int, _ container: PersistentContainer) throws -> UInt64 {
        let context = container.newBackgroundContext()
        let (kind, value) = (number % 12, number / 12)
        switch kind {
        case 0: return try ids(FetchRequest<Book>(format: "title == %@", "book \(value * 31)"), context)
        case 1: return try ids(FetchRequest<Book>(format: "year > %@", 1850 + value * 30), context)
        case 2: return try ids(FetchRequest<Book>(format: "rating >= %@", Double(value)), context)
        case 3: return try ids(FetchRequest<Book>(format: "author.name == %@", "author \(value)"), context)
        case 4: return try ids(FetchRequest<Book>(format: "ANY tags.label == %@", "tag \(value * 3)"), context)
        case 5: return try ids(FetchRequest<Author>(format: "books.@count > %@", value + 5), context)
        case 6: return try ids(FetchRequest<Book>(format: "title BEGINSWITH %@", "book 1\(value)"), context)
        case 7: return try ids(FetchRequest<Book>(format: "blurb CONTAINS %@", "words \(value)"), context)
        case 8:
            var request = try FetchRequest<Book>(format: "year < %@", 1900 + value)
            request.sortDescriptors = [SortDescription("title", isAscending: value % 2 == 0)]
            (request.fetchLimit, request.fetchOffset) = (50, value * 10)
            return try ids(request, context)
        case 9: return try UInt64(context.count(for: FetchRequest<Book>(format: "year == %@", 1800 + value)))
        case 10: return try ids(FetchRequest<Series>(format: "ANY volumes.rating > %@", 4.5), context)
        default: return try ids(FetchRequest<Tag>(format: "books.@count < %@", 80 + value * 10), context)
        }
    }

    private static func ids<Object: ManagedObject>(
        _ request: FetchRequest<Object>, _ context: ManagedObjectContext
    ) throws -> UInt64 {
        let found = try context.fetchObjectIDs(request)
        return digest("\(request.sortDescriptors.isEmpty ? found.sorted() : found)")
    }

    private mutating func part(_ name: String, _ value: () throws -> UInt64) {
        do {
            parts[name] = "\(try value())"
        } catch {
            parts[name] = "error \(Self.code(of: error))"
        }
    }

    static func code(of error: any Error) -> String {
        error is StrataError ? "\(error)".replacing("\n", with: " ") : "untyped \(error)"
    }

    private static func ids<Object: ManagedObject>(_ members: ToMany<Object>) -> String {
        "\(members.count) \(members.map(\.objectID).sorted())"
    }

    private static func digest(_ text: String) -> UInt64 { digest(Data(text.utf8)) }

    /// FNV-1a.
    private static func digest(_ bytes: Data) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
