import Foundation
import StrataGraph
import StrataModel
import Testing

/// Results that follow changes, when values are erased of what they show.
@Suite(.verifiesStores) struct ErasedResultsTests {
    private let container: PersistentContainer
    private let context: ManagedObjectContext

    init() throws {
        let view = ViewDescription(
            name: "Cities", entityName: "Film", keys: [ViewKey("city")], aggregates: [ViewAggregate("films", .count)])
        container = try ViewMovies.films(["city": .string, "number": .integer64], view)
        context = container.newBackgroundContext()
    }

    @discardableResult
    private func film(_ city: String, _ number: Int64) throws -> ManagedObject {
        let film = try context.insertNewObject(forEntityName: "Film")
        try film.setValue(city, forKey: "city")
        try film.setValue(number, forKey: "number")
        return film
    }

    private func request(_ format: String?, by key: String) throws -> FetchRequest<ManagedObject> {
        var request = FetchRequest<ManagedObject>(entityName: "Film")
        request.predicate = try format.map { try FetchPredicate(format: $0) }
        request.sortDescriptors = [SortDescription(key, isAscending: false)]
        return request
    }

    private func erase(_ object: ManagedObject, isWhole: Bool) throws {
        if isWhole {
            try container.erase([object.objectID], reason: "asked for it")
        } else {
            try container.erase([object.objectID], attributes: ["city"], reason: "asked for it")
        }
        context.refreshAllObjects()
    }

    @Test(arguments: [true, false]) func resultsLoseWhatTheyHadForErasedValues(isWhole: Bool) throws {
        let films = try (0..<6).map { try film($0 < 3 ? "Secret" : "Public", Int64($0)) }
        try context.save()
        let requests = [try request("city == 'Secret'", by: "number"), try request(nil, by: "city")]
        let shown = try requests.map { request in
            let controller = FetchedResultsController(fetchRequest: request, context: context)
            let table = Table<ManagedObject>()
            controller.delegate = table
            try controller.performFetch()
            table.load(controller)
            return (controller: controller, table: table)
        }
        func check() throws {
            for (request, results) in zip(requests, shown) {
                let expected = try context.fetch(request).map(\.objectID)
                #expect(results.controller.fetchedObjects?.map(\.objectID) == expected)
            }
        }
        try check()
        try erase(films[1], isWhole: isWhole)
        try check()
        #expect(shown[0].controller.fetchedObjects?.map(\.objectID) == [films[2].objectID, films[0].objectID])
        if !isWhole { #expect(try films[1].value(forKey: "city") == nil) }
        // What is saved later is placed among what is left.
        try film("Secret", 1)
        try films[3].setValue("Secret", forKey: "city")
        try context.save()
        try check()
    }

    @Test(arguments: [true, false]) func rowsOfAViewForgetErasedValues(isWhole: Bool) async throws {
        let films = try (0..<3).map { try film($0 == 0 ? "Secret" : "Public", Int64($0)) }
        try context.save()
        try await follow(films[0], isWhole: isWhole)
    }

    private func follow(
        _ object: ManagedObject, isWhole: Bool, isolation: isolated (any Actor)? = #isolation
    ) async throws {
        var updates = context.rows(for: ViewFetchRequest("Cities")).makeAsyncIterator()
        #expect(
            try await updates.next(isolation: isolation)?.rows.map(\.first) == [.string("Public"), .string("Secret")])
        try erase(object, isWhole: isWhole)
        let rows = try await updates.next(isolation: isolation)?.rows.map(\.first)
        #expect(rows == (isWhole ? [.string("Public")] : [.null, .string("Public")]))
    }
}
