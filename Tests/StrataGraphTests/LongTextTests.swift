import Foundation
import StrataGraph
import StrataModel
import Testing

/// Texts that are long enough to be known again when they are read next.
@Suite(.verifiesStores) struct LongTextTests {
    private let container: PersistentContainer
    private let context: ManagedObjectContext
    private let movie: Movie

    init() throws {
        container = try makeContainer()
        context = container.newBackgroundContext()
        movie = Movie(context: context)
    }

    private static func text(_ beginning: String, _ count: Int) -> String {
        beginning + String(repeating: "é", count: count)
    }

    @Test(arguments: [1, 2000, 2047, 2048, 2049, 60_000]) func theyReadAsTheyWereWritten(count: Int) throws {
        for beginning in ["a", "b", "c"] {
            let text = Self.text(beginning, count)
            movie.title = text
            for _ in 0..<3 { #expect(movie.title == text) }
        }
        try context.save()
        #expect(movie.title == Self.text("c", count))
        context.refresh(movie, mergeChanges: false)
        #expect(movie.title == Self.text("c", count))
    }

    /// The same number of bytes, another text: in place, in another object, after an undone change.
    @Test func anotherTextOfTheSameSizeIsNotMistaken() throws {
        let other = Movie(context: context)
        (movie.title, other.title) = (Self.text("1", 5000), Self.text("2", 5000))
        for _ in 0..<3 {
            #expect(movie.title.hasPrefix("1"))
            #expect(other.title.hasPrefix("2"))
        }
        try context.save()
        movie.title = Self.text("3", 5000)
        #expect(movie.title.hasPrefix("3"))
        context.rollback()
        #expect(movie.title.hasPrefix("1"))
        #expect(other.title.hasPrefix("2"))
    }
}
