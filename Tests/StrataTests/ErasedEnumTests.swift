import Foundation
import Strata
import Testing

/// A film that must have a genre, and has none by default.
@Entity private final class Evening: ManagedObject {
    var hall: String = ""
    var genre: Genre
}

/// A moment before an erasure, through the app's own classes.
@Suite struct ErasedEnumTests {
    @Test func anErasedCaseReadsAsTheFirstAndIsReported() throws {
        let container = try makeOpenContainer([Evening.self])
        defer { container.close() }
        let context = container.newBackgroundContext()
        let evening = Evening(context: context)
        (evening.hall, evening.genre) = ("large", .horror)
        try context.save()
        try container.setTag("before")
        let id = evening.objectID
        context.reset()
        try container.erase([id], reason: "asked for")
        let past = try container.context(asOf: .tag("before"))
        var reported: [StrataError] = []
        past.faultingErrorHandler = { reported.append($0) }
        let found = try #require(try past.fetch(FetchRequest<Evening>()).first)
        #expect(found.objectID == id && found.hall == "" && found.genre == Genre.allCases.first)
        #expect(reported.map(\.code) == [.wrongType])
    }
}
