import Foundation
import Strata
import StrataTestSupport

@Entity final class Author: ManagedObject {
    @Attribute(.indexed) var name: String = ""
    var born: Int = 0
    @Relationship(inverse: \Book.author) var books: ToMany<Book>
}

@Entity final class Book: ManagedObject {
    @Attribute(.indexed) var title: String = ""
    @Attribute(.indexed) var year: Int = 0
    var rating: Double = 0
    /// Changed by saves on top of what may be damaged.
    @Attribute(.indexed) var touched: Int = 0
    var blurb: String?
    /// Some are longer than a page.
    var cover: Data?
    var author: Author?
    var series: Series?
    @Relationship(inverse: \Tag.books) var tags: ToMany<Tag>
}

@Entity final class Tag: ManagedObject {
    var label: String = ""
    @Relationship(.ordered) var books: ToMany<Book>
}

@Entity final class Series: ManagedObject {
    var name: String = ""
    @Relationship(inverse: \Book.series, .ordered) var volumes: ToMany<Book>
}

/// What is saved on top of a damaged store.
@Entity final class Mark: ManagedObject {
    @Attribute(.indexed) var text: String = ""
    var number: Int = 0
    var content: Data?
    @Relationship(.noInverse) var book: Book?
}

/// Some thousand objects with a history.
enum Library {
    static let entities: [ManagedObject.Type] = [Author.self, Book.self, Tag.self, Series.self, Mark.self]

    static func container(at path: String) throws -> PersistentContainer {
        let container = try PersistentContainer(
            name: "Library", entities: entities, at: .url(URL(filePath: path, directoryHint: .isDirectory)),
            options: .init(durability: .relaxed))
        try container.loadPersistentStores()
        return container
    }

    /// - Parameter halfway: is called before the history, which changes objects and takes pages anew.
    static func fill(
        _ container: PersistentContainer, seed: UInt64, books count: Int, halfway: () throws -> Void
    ) throws {
        var random = SeededGenerator(seed: seed)
        let context = container.newBackgroundContext()
        let authors = (0..<count / 8).map { number in
            let author = Author(context: context)
            (author.name, author.born) = ("author \(number)", 1700 + number)
            return author
        }
        let tags = (0..<40).map { number in
            let tag = Tag(context: context)
            tag.label = "tag \(number)"
            return tag
        }
        let series = (0..<count / 20).map { number in
            let series = Series(context: context)
            series.name = "series \(number)"
            return series
        }
        try context.save()
        var books: [Book] = []
        for number in 0..<count {
            let book = Book(context: context)
            (book.title, book.year) = ("book \(number * 7919 % count)", 1800 + number % 220)
            book.rating = Double(number % 50) / 10
            if number % 3 == 0 { book.blurb = String(repeating: "words \(number) ", count: number % 40) }
            if number % 60 == 0 {
                let size = Int.random(in: 3000..<30_000, using: &random)
                book.cover = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* number) })
            }
            book.author = authors.randomElement(using: &random)
            if number % 2 == 0 { book.series = series.randomElement(using: &random) }
            for tag in tags.shuffled(using: &random).prefix(number % 5) { book.tags.insert(tag) }
            books.append(book)
            if number % 200 == 199 { try context.save() }
        }
        try context.save()
        for round in 0..<8 {
            if round == 5 { try halfway() }
            for book in books.shuffled(using: &random).prefix(count / 20) { book.rating = Double(round) + 0.5 }
            for book in books.shuffled(using: &random).prefix(count / 40) { book.author = authors[round] }
            for tag in tags.shuffled(using: &random).prefix(4) {
                guard let book = books.randomElement(using: &random) else { continue }
                if tag.books.contains(book) { tag.books.remove(book) } else { tag.books.insert(book) }
            }
            if let book = books.popLast() { context.delete(book) }
            try context.save()
        }
    }
}
