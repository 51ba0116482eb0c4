import Foundation
import Strata
import Testing

/// Every kind of request at present, in the past, and with unsaved changes.
///
/// The films of 1985 and later were made after `then`; unsaved, the first film has moved to 1999 and the last is gone.
@Suite struct RequestTimesTests {
    enum Time: CaseIterable { case past, present, unsaved, unsavedLeftOut }

    let container: PersistentContainer
    let context: ManagedObjectContext
    let then: EventNumber

    init() throws {
        let latest = FetchRequestTemplate(
            name: "Since", entityName: "Film", where: try FetchPredicate(format: "year >= $YEAR"),
            sortedBy: [SortDescription("year")])
        let peers = FetchedPropertyDescription(
            "peers", of: "Film",
            FetchRequestTemplate(
                name: "", entityName: "Film", where: try FetchPredicate(format: "year > $FETCH_SOURCE.year")))
        container = try PersistentContainer(
            name: "Test", entities: filmEntities, fetchRequestTemplates: [latest], fetchedProperties: [peers],
            at: .inMemory, options: .init(durability: .disposable))
        try container.loadPersistentStores()
        context = container.newBackgroundContext()
        makeFilms(in: context)
        let late = try context.fetch(FetchRequest<Film>().where { $0.year >= 1985 })
        late.forEach(context.delete)
        try context.save()
        then = context.eventNumber
        let studio = try context.fetch(FetchRequest<Studio>().sorted(by: \.name)).first
        for year in 1985..<1990 {
            let film = Film(context: context)
            film.title = "Late"
            film.year = year
            film.genre = .horror
            film.studio = studio
        }
        try context.save()
        let films = try context.fetch(FetchRequest<Film>().sorted(by: \.year))
        films.first?.year = 1999
        films.last.map(context.delete)
    }

    private func at(_ time: Time) throws -> (ManagedObjectContext, years: [Int]) {
        switch time {
        case .past: (try container.context(asOf: .event(then)), Array(1960..<1985))
        case .present: (container.newBackgroundContext(), Array(1960..<1990))
        case .unsaved: (context, Array(1961..<1989) + [1999])
        case .unsavedLeftOut: (context, Array(1960..<1990))
        }
    }

    private func request(_ time: Time) throws -> FetchRequest<Film> {
        var request = try FetchRequest<Film>().sorted(by: \.year)
        request.includesPendingChanges = time != .unsavedLeftOut
        return request
    }

    @Test(arguments: Time.allCases)
    func objectsIDsCountsAndBatches(time: Time) async throws {
        let (context, years) = try at(time)
        var request = try request(time)
        let films = try context.fetch(request)
        #expect(try context.count(for: request) == years.count && films.count == years.count)
        #expect(try context.fetchObjectIDs(request) == films.map(\.objectID))
        if time != .unsavedLeftOut { #expect(films.map(\.year) == years) }
        request.fetchBatchSize = 7
        #expect(try context.fetchInBatches(request).map(\.objectID) == films.map(\.objectID))
        #expect(try await context.fetchAsynchronously(request).map(\.objectID) == films.map(\.objectID))
        #expect(try await context.countAsynchronously(for: request) == years.count)
        let limited = try request.limited(to: 3, offset: 2)
        #expect(try context.fetch(limited) == Array(films[2..<5]))
    }

    @Test(arguments: Time.allCases)
    func rowsGroupedFilteredAndDistinct(time: Time) throws {
        let (context, years) = try at(time)
        var rows = RowsFetchRequest(
            entityName: "Film",
            columns: [
                OutputColumn("genre"), OutputColumn("films", .function(.count, [.evaluatedObject])),
                OutputColumn("last", .function(.max, [.keyPath("year")])),
            ])
        rows.includesPendingChanges = time != .unsavedLeftOut
        rows.groupBy = ["genre"]
        rows.having = try FetchPredicate(format: "films > 9")
        rows.sortDescriptors = [SortDescription("genre")]
        let found = try context.fetchRows(rows).dictionaries
        // Of thirty in turn drama, comedy, horror; the last five are all horror.
        let genres = years.map { $0 >= 1985 && $0 < 1999 ? 2 : $0 == 1999 ? 0 : ($0 - 1960) % 3 }
        let counts = (0..<3).map { genre in genres.filter { $0 == genre }.count }
        let names = ["drama", "comedy", "horror"]
        let expected = zip(names, counts).filter { $0.1 > 9 }.sorted { $0.0 < $1.0 }
        #expect(found.map { $0["genre"] } == expected.map { .string($0.0) }, "\(found)")
        #expect(found.map { $0["films"] } == expected.map { .integer(Int64($0.1)) })
        var distinct = RowsFetchRequest(entityName: "Film", columns: [OutputColumn("title")])
        distinct.includesPendingChanges = rows.includesPendingChanges
        distinct.returnsDistinctResults = true
        let titles = try context.fetchRows(distinct).dictionaries
        #expect(titles.count == Set(titles.compactMap { $0["title"] }).count)
        #expect(titles.contains { $0["title"] == .string("Late") } == (time != .past))
    }

    @Test(arguments: [Time.past, .present, .unsaved])
    func templatesFetchedPropertiesPrefetchingAndFetchExpressions(time: Time) throws {
        let (context, years) = try at(time)
        let request: FetchRequest<Film> = try container.fetchRequest(
            fromTemplate: "Since", substituting: ["YEAR": 1980])
        #expect(try context.fetch(request).map(\.year) == years.filter { $0 >= 1980 })
        let film = try #require(try context.fetch(FetchRequest<Film>().where { $0.year == 1970 }).first)
        #expect(try film.fetchedObjects(forKey: "peers").count == years.filter { $0 > 1970 }.count)
        let prefetching = try FetchRequest<Film>().where { $0.year > 1970 }.prefetching(\.studio).prefetching(\.actors)
        let films = try context.fetch(prefetching)
        #expect(films.count == years.filter { $0 > 1970 }.count)
        #expect(films.allSatisfy { $0.studio?.isFault != true })
        let late = try FetchRequest<Film>().where { $0.year >= 1985 }
        #expect(
            try context.count(for: FetchRequest<Film>(format: "SELF IN FETCH(%@, nil, NO)", late))
                == years.filter { $0 >= 1985 }.count)
    }

    // MARK: Batches

    @Test func otherContextsHearOfEveryBatch() throws {
        let other = container.newBackgroundContext()
        other.automaticallyMergesChangesFromParent = true
        let held = try #require(try other.fetch(FetchRequest<Film>().where { $0.year == 1965 }).first)
        let gone = try #require(try other.fetch(FetchRequest<Film>().where { $0.year == 1966 }).first)
        #expect(held.rating >= 0 && gone.rating >= 0)
        var heard: [ContextChanges] = []
        let observation = other.observe(.didMerge) { heard.append($0) }
        let writer = container.newBackgroundContext()
        try writer.execute(BatchUpdateRequest<Film>().where { $0.year == 1965 }.setting(\.rating, to: 5))
        try writer.execute(BatchDeleteRequest<Film>().where { $0.year == 1966 })
        try writer.execute(BatchInsertRequest<Film>([["title": "New", "year": 2001]]))
        #expect(try other.count(for: FetchRequest<Film>().where { $0.year == 2001 }) == 1)
        #expect(heard.count == 1 && held.rating == 5)
        #expect(heard.first?.refreshed.contains(held) ?? false)
        #expect(gone.isDeleted && !held.isDeleted)
        #expect(heard.first?.deleted == [gone] && heard.first?.deletedObjectIDs == [gone.objectID])
        withExtendedLifetime(observation) {}
    }

    @Test func theContextThatRunsABatchKeepsItsUnsavedChangesAndHears() throws {
        var heard = 0
        let observation = context.observe(.didMerge) { _ in heard += 1 }
        let moved = try #require(try context.fetch(FetchRequest<Film>().where { $0.year == 1999 }).first)
        try context.execute(BatchUpdateRequest<Film>().where { $0.genre == .drama }.setting(\.note, to: "batch"))
        // The batch went by what is saved; the change that is not stays, and the two meet when it is.
        #expect(moved.year == 1999)
        try context.save()
        #expect(moved.year == 1999 && moved.note == "batch" && heard > 0)
        #expect(
            try container.newBackgroundContext().count(
                for: FetchRequest<Film>().where { $0.year == 1999 && $0.note == "batch" }) == 1)
        let past = try container.context(asOf: .event(then))
        #expect(try past.count(for: FetchRequest<Film>().where { $0.note == "batch" }) == 0)
        withExtendedLifetime(observation) {}
    }

    @Test(arguments: [UniquenessPolicy.reject, .keep, .replace, .merge])
    func anUpsertMeetsWhatIsSavedAndLeavesThePastAlone(policy: UniquenessPolicy) throws {
        let container = try makeOpenContainer(invoiceEntities)
        let context = container.newBackgroundContext()
        let old = Invoice(context: context)
        (old.number, old.customer, old.note) = (1, "Ann", "old")
        try context.save()
        let before = context.eventNumber
        old.total = 9
        let unsaved = Invoice(context: context)
        (unsaved.number, unsaved.customer) = (2, "Unsaved")
        let request = BatchInsertRequest<Invoice>([["number": 1, "customer": "Bob"]], onClash: policy)
        if policy == .reject {
            #expect(throws: StrataError.self) { try context.execute(request) }
        } else {
            try context.execute(request)
        }
        #expect(unsaved.isInserted && unsaved.customer == "Unsaved" && old.total == 9)
        try context.save()
        #expect(old.total == 9 && old.customer == (policy == .keep || policy == .reject ? "Ann" : "Bob"))
        #expect(old.note == (policy == .replace ? nil : "old"))
        let past = try container.context(asOf: .event(before))
        #expect(try past.fetch(FetchRequest<Invoice>()).map(\.customer) == ["Ann"])
    }
}
