import Foundation
import StrataGraph
import StrataModel
import Testing

/// Every place that takes the name of an entity or a property suggests the one that was meant.
@Suite struct SuggestionTests {
    let container: PersistentContainer
    let context: ManagedObjectContext
    let movie: Movie

    init() throws {
        container = try makeContainer()
        context = container.newBackgroundContext()
        movie = Movie(context: context)
        movie.title = "A"
        try context.save()
    }

    private func expect(
        _ name: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) {
        let message = thrownError(body, sourceLocation: sourceLocation)?.message ?? ""
        #expect(message.contains("did you mean \(name)?"), "\(message)", sourceLocation: sourceLocation)
    }

    private func request(_ change: (inout FetchRequest<ManagedObject>) -> Void) -> FetchRequest<ManagedObject> {
        var request = FetchRequest<ManagedObject>(entityName: "Movie")
        change(&request)
        return request
    }

    @Test func keysOfObjects() throws {
        expect("title") { _ = try movie.value(forKey: "titel") }
        expect("title") { try movie.setValue("B", forKey: "titel") }
        expect("title") { _ = try movie.primitiveValue(forKey: "titel") }
        expect("title") { _ = try movie.committedValues(forKeys: ["titel"]) }
        expect("familyMember") { _ = try movie.value(forKeyPath: "familyMembr.name") }
        expect("familyMember") { _ = try movie.objectIDs(forRelationshipNamed: "familyMembr") }
        let frozen = try movie.frozen()
        expect("title") { _ = try frozen.value(forKey: "titel") }
        expect("title") { _ = try FetchPredicate(format: "titel == 'A'").evaluate(with: movie) }
    }

    @Test func namesOfEntities() throws {
        expect("Movie") { _ = try context.insertNewObject(forEntityName: "Movei") }
        expect("Movie") { _ = try context.fetch(FetchRequest<ManagedObject>(entityName: "movies")) }
        expect("Movie") {
            _ = try context.fetchRows(RowsFetchRequest(entityName: "Movi", columns: [OutputColumn("title")]))
        }
        expect("Movie") { try context.execute(BatchInsertRequest<ManagedObject>(entityName: "Movi", objects: [[:]])) }
        expect("Movie") {
            _ = try container.objectID(
                forURIRepresentation: try #require(URL(string: "strata://\(container.storeIdentifier)/Movi/p1")))
        }
        expect("Movie") { _ = try container.deletedObjects(ofEntity: "Movi") }
    }

    @Test func keysOfRequests() throws {
        expect("title") { _ = try context.fetch(request { $0.sortDescriptors = [SortDescription("titel")] }) }
        expect("title") { _ = try context.fetch(request { $0.predicate = .equal("titel", "A") }) }
        expect("familyMember") {
            _ = try context.fetch(request { $0.relationshipKeyPathsForPrefetching = ["familyMembr"] })
        }
        let counted = OutputColumn("films", .function(.count, [.evaluatedObject]))
        func rows(_ columns: [OutputColumn], _ change: (inout RowsFetchRequest) -> Void) throws {
            var request = RowsFetchRequest(entityName: "Movie", columns: columns)
            change(&request)
            _ = try context.fetchRows(request)
        }
        expect("title") { try rows([OutputColumn("titel")]) { _ in } }
        expect("title") { try rows([counted]) { $0.groupBy = ["titel"] } }
        expect("films") {
            try rows([counted]) {
                $0.groupBy = ["title"]
                $0.having = .greaterThan("flims", 1)
            }
        }
        expect("films") {
            try rows([counted]) {
                $0.groupBy = ["title"]
                $0.sortDescriptors = [SortDescription("flims")]
            }
        }
        expect("title") { try context.execute(BatchInsertRequest<Movie>([["titel": "B"]])) }
    }

    @Test func tagsAndTemplates() throws {
        try container.setTag("before import")
        expect("before import") { _ = try container.context(asOf: .tag("before inport")) }
    }

    @Test func whatResemblesNothingHasNoSuggestion() throws {
        let error = thrownError { _ = try movie.value(forKey: "nothingLikeIt") }
        #expect(error?.message == "Movie has no property named nothingLikeIt.")
    }
}
