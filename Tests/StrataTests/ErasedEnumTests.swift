import Foundation
import Strata
import Testing

/// A film that must have a genre, and has none by default.
@Entity private final class Screening: ManagedObject {
    var hall: String = ""
    var genre: Genre
}

/// A moment before an erasure, through the app's own classes.
@Suite struct ErasedEnumTests {
    @Test func anErasedCaseReadsAsTheFirstAndIsReported() throws {
        let container = try makeOpenContainer([Screening.self])
        defer { container.close() }
        let context = container.newBackgroundContext()
        let screening = Screening(context: context)
        (screening.hall, screening.genre) = ("large", .horror)
        try context.save()
        try container.setTag("before")
        let id = screening.objectID
        context.reset()
        try container.erase([id], reason: "asked for")
        let past = try container.context(asOf: .tag("before"))
        let found = try #require(try past.fetch(FetchRequest<Screening>()).first)
        #expect(found.objectID == id && found.hall == "" && found.genre == Genre.allCases.first)
        let error = #expect(throws: StrataError.self) { try past.fetch(FetchRequest<Screening>()) }
        #expect(error?.code == .wrongType)
    }
}
