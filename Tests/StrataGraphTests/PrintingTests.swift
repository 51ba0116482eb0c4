import Foundation
import StrataGraph
import Testing

/// What `print` shows of the values that an app prints first. An object has one name everywhere: `Movie/p1`.
@Suite(.verifiesStores) struct PrintingTests {
    private let container: PersistentContainer
    private let context: ManagedObjectContext
    private let movie: Movie
    private let ann: FamilyMember

    init() throws {
        container = try makeContainer()
        context = container.newBackgroundContext()
        context.transactionAuthor = "ann"
        movie = Movie(context: context)
        movie.title = "Alien"
        ann = FamilyMember(context: context)
        ann.name = "Ann"
        movie.familyMember = ann
        try context.save()
    }

    private func name(_ object: ManagedObject) -> String { "\(object.entity.name)/p\(object.objectID.row)" }

    @Test func eventsAndChangesNameObjectsAndValues() throws {
        movie.title = "Aliens"
        movie.familyMember = nil
        context.transactionReason = "the sequel"
        try context.save()
        let event = try #require(try container.history(of: movie.objectID).first)
        let changes = event.changes.map(\.description).sorted()
        #expect(changes == ["familyMember: \(name(ann)) -> nil", "title: \"Alien\" -> \"Aliens\""])
        #expect("\(event)".hasPrefix("event \(event.eventNumber): \(name(movie)) updated by ann; "), "\(event)")
        #expect("\(event.transaction)".contains(" by ann, "), "\(event.transaction)")
        #expect("\(event.transaction)".hasSuffix(": the sequel"))
        let change = try #require(try container.changes(in: event.transaction.number).first)
        #expect("\(change)".hasPrefix("\(name(movie)) updated; familyMember: \(name(ann)) -> nil"), "\(change)")
        #expect("\(event.changes)".contains("title: \"Alien\" -> \"Aliens\""), "\(event.changes)")
    }

    @Test func requestsReadAsSentences() throws {
        let good = try FetchRequest<Movie>(
            where: .greaterThan("rating", 4.5), sortedBy: [SortDescription("title", isAscending: false)], limit: 10)
        #expect("\(good)" == "Movie where rating > 4.5, sorted by title descending, limit 10")
        #expect("\(FetchRequest<Movie>())" == "Movie")
        let rows = try RowsFetchRequest(
            of: Movie.self,
            columns: [OutputColumn("title"), OutputColumn("n", .function(.count, [.evaluatedObject]))],
            groupBy: ["title"], sortedBy: [SortDescription("n")])
        #expect("\(rows)" == "title, count:(SELF) AS n of Movie, grouped by title, sorted by n")
        #expect("\(BatchDeleteRequest<Movie>(where: .equal("title", "x")))" == "delete Movie where title == \"x\"")
        #expect("\(BatchUpdateRequest<Movie>().setting(\.rating, to: 2))" == "update Movie, setting rating = 2.0")
        #expect("\(BatchInsertRequest<Movie>([["title": "a"], ["title": "b"]]))" == "insert 2 rows of Movie")
        let order = SortDescription("title", isAscending: false, folding: .caseInsensitive, nullPlacement: .last)
        #expect("\(order)" == "title[c] descending with nil last")
    }

    @Test func errorsAndConflictsNameTheObject() throws {
        let others = container.newBackgroundContext()
        let theirs = try others.existingObject(with: movie.objectID, as: Movie.self)
        theirs.rating = 2
        try others.save()
        movie.rating = 3
        let error = #expect(throws: StrataError.self) { try context.save() }
        let conflict = try #require(error?.context.conflicts.first)
        #expect("\(conflict)" == "\(name(movie)); rating: base 0.0, theirs 2.0, mine 3.0")
        #expect("\(StrataError.Code.unknownKey)" == "unknownKey" && "\(StrataError.Code(rawValue: 7))" == "code 7")
        #expect(try #require(error).detailedDescription.contains(name(movie)))
        #expect("\(try #require(error))".hasSuffix("of this save. [\(name(movie)), 1 conflict: rating]"), "\(error!)")
        context.rollback()
    }

    /// A revert also meets changes that were made here, so its error does not speak of others.
    @Test func aRevertThatIsOvertakenNamesTheProperty() throws {
        movie.rating = 2
        try context.save()
        let transaction = try container.history(of: movie.objectID)[0].transaction.number
        movie.rating = 3
        try context.save()
        let error = try #require(thrownError { try context.revert(transaction) })
        #expect(error.message == "An object was changed since.")
        #expect("\(error)".hasSuffix("An object was changed since. [\(name(movie)), 1 conflict: rating]"), "\(error)")
    }

    @Test func contextsResultsAndContainersSayWhatTheyHold() throws {
        context.name = "import"
        #expect("\(context)" == "context \"import\" at event \(context.eventNumber)")
        movie.rating = 3
        _ = FamilyMember(context: context)
        #expect("\(context)" == "context \"import\" at event \(context.eventNumber); 1 new, 1 updated")
        context.rollback()
        context.delete(ann)
        #expect("\(try context.newChildContext())" == "child context at event \(context.eventNumber)")
        #expect("\(context)".hasSuffix("; 2 deleted"))
        context.rollback()
        #expect("\(container)" == "container Test in memory")
        #expect("\([MergePolicy.error, .overwrite])" == "[error, overwrite]")
        let plain = FetchedResultsController(
            fetchRequest: try FetchRequest<Movie>().sorted(by: \.title), context: context)
        #expect("\(plain)" == "results of Movie, sorted by title: not fetched")
        try plain.performFetch()
        #expect("\(plain)" == "results of Movie, sorted by title: 1 object" && "\(plain.snapshot)" == "1 object")
        let sectioned = FetchedResultsController(
            fetchRequest: try FetchRequest<Movie>().sorted(by: \.title), context: context, sectionsBy: \.title)
        try sectioned.performFetch()
        #expect("\(sectioned.snapshot)" == "1 object; Alien: 1" && "\(sectioned.sections ?? [])" == "[Alien: 1 object]")
        let result = try context.execute(BatchUpdateRequest<Movie>().setting(\.rating, to: 2))
        #expect("\(result)" == "1 object in 1 transaction")
        context.undoManager = ObjectUndoManager()
        movie.rating = 4
        context.processPendingChanges()
        #expect("\(try #require(context.undoManager))" == "undo manager; 1 to undo, 0 to redo")
        context.rollback()
    }

    @Test func anObjectOfTheWrongEntityIsNamed() throws {
        #expect(
            thrownError { try movie.setValue(movie, forKey: "familyMember") }?.message
                == "familyMember takes an object of FamilyMember, not an object of Movie.")
        #expect(
            thrownError { try ann.setValue(movie, forKey: "favoriteMovies") }?.message
                == "favoriteMovies takes an array or a set of objects of Movie, not an object of Movie.")
        #expect(
            thrownError { try movie.setValue("x", forKey: "rating") }?.message
                == "rating takes a double, not a value of type String.")
    }

    @Test func nothingShowsTheCasesAndNumbersBeneath() throws {
        let values: [AttributeValue] = [
            .null, .integer(3), .double(1.5), .string("a\"b"), .boolean(true), .data(Data([1, 2])),
            .objectID(movie.objectID), .composite(["b": .integer(2), "a": .null]),
        ]
        #expect("\(values)" == "[nil, 3, 1.5, \"a\\\"b\", true, 2 bytes, \(movie.objectID), (a: nil, b: 2)]")
        let rows = try context.fetchRows(RowsFetchRequest(entityName: "Movie", columns: [OutputColumn("title")]))
        #expect("\(rows)" == "title: \"Alien\"")
        var texts = ["\(values)", "\(rows)", "\(try container.history(of: movie.objectID))"]
        texts += ["\(movie.objectID.entityID)", "\(try container.changes(from: .event(.zero), to: .now))"]
        for text in texts {
            #expect(!text.contains("rawValue") && !text.contains("AttributeValue."), "\(text)")
        }
    }
}
