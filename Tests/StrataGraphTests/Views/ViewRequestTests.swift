import Foundation
import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

/// Rows of declared views beside a request that groups the objects themselves: in contexts with unsaved changes, at
/// past moments, after batches and reverts.
@Suite(.verifiesStores) struct ViewRequestTests {
    @Test(arguments: RandomTesting.seeds)
    func rowsAreThoseOfAGroupingRequest(seed: UInt64) throws {
        var run = try RandomViewRun(seed: seed)
        for step in 0..<60 {
            let done = try run.step()
            if let problem = try run.difference(run.context) {
                Issue.record("seed \(seed), step \(step), \(done): \(problem)")
                return
            }
        }
        for eventNumber in run.moments.shuffled(using: &run.generator).prefix(6) {
            let past = try run.container.context(asOf: .event(eventNumber))
            let problem = try run.difference(past)
            #expect(problem == nil, "seed \(seed), event \(eventNumber)")
        }
    }

    @Test func requestsDescribeThemselvesAndNameWhatIsMissing() throws {
        let run = try RandomViewRun(seed: 1)
        let request = ViewFetchRequest(
            "ByShelf", where: try FetchPredicate(format: "items > 1"), sortedBy: [SortDescription("items")], limit: 3)
        #expect("\(request)".hasPrefix("ByShelf where items > 1"))
        let error = #expect(throws: StrataError.self) { try run.context.rows(of: "ByShelve") }
        #expect(error?.message.contains("ByShelf") == true)
        #expect(try run.context.rows(of: "All").map { Array($0) }.first?.first == .integer(0))
    }

    @Test func aClassDeclaresAViewByKeyPaths() throws {
        let source = ViewSource(Movie.self, named: "Ratings")
            .where { $0.rating > 1 }
            .grouped(by: \.familyMember, as: "member")
            .counting(as: "movies").averaging(\.rating, as: "mean").countingDistinct(\.title, as: "titles")
        let container = try PersistentContainer(
            name: "Views", entities: [Movie.self, FamilyMember.self], views: [source.description], at: .inMemory,
            options: .init(durability: .disposable))
        try container.loadPersistentStores()
        MadeStores.current?.add(container)
        let context = container.newBackgroundContext()
        for rating in [1.0, 2, 4] {
            let movie = Movie(context: context)
            movie.title = "A"
            movie.rating = rating
        }
        let unsaved = try context.rows(of: "Ratings")
        #expect(unsaved.names == ["member", "movies", "mean", "titles"])
        #expect(unsaved.values == [.null, .integer(2), .double(3), .integer(1)])
        try context.save()
        #expect(try context.rows(of: "Ratings") == unsaved)
    }
}

extension ViewRequestTests {
    @Test func anObjectIsRankedWithUnsavedChangesAndAtPastMoments() throws {
        let source = ViewSource(Movie.self, named: "Board")
            .ranked(by: [SortDescription("member"), SortDescription("rating", isAscending: false)])
            .grouped(by: \.familyMember, as: "member").grouped(by: \.objectID, as: "movie")
            .maximum(\.rating, as: "rating")
        let container = try PersistentContainer(
            name: "Ranks", entities: [Movie.self, FamilyMember.self], views: [source.description], at: .inMemory,
            options: .init(durability: .disposable))
        try container.loadPersistentStores()
        MadeStores.current?.add(container)
        let context = container.newBackgroundContext()
        var movies: [Movie] = []
        for number in 0..<40 {
            let movie = Movie(context: context)
            movie.title = "\(number)"
            movie.rating = Double(number % 20) / 4
            movies.append(movie)
        }
        try context.save()
        let moment = context.eventNumber
        let board = ViewFetchRequest("Board", where: .equal("member", .null)).sorted(by: "rating", ascending: false)
        func rank(_ movie: Movie, _ context: ManagedObjectContext) throws -> ViewRank? {
            try context.rank(of: .equal("movie", .objectID(movie.objectID)), in: board)
        }
        #expect(try rank(movies[18], context) == ViewRank(rank: 3, index: 2, count: 40))
        #expect(try rank(movies[38], context) == ViewRank(rank: 3, index: 3, count: 40))
        movies[0].rating = 5
        context.delete(movies[19])
        #expect(try rank(movies[18], context) == ViewRank(rank: 3, index: 2, count: 39))
        #expect(try rank(movies[0], context)?.rank == 1)
        let around = try context.fetchRows(
            around: .equal("movie", .objectID(movies[18].objectID)), before: 5, after: 1, in: board)
        #expect(around?.rows.map { $0.last } == [5, 4.75, 4.5, 4.5].map { .double($0) })
        try context.save()
        #expect(try rank(movies[18], context) == ViewRank(rank: 3, index: 2, count: 39))
        let past = try container.context(asOf: .event(moment))
        #expect(try rank(movies[38], past) == ViewRank(rank: 3, index: 3, count: 40))
        #expect(try rank(movies[19], context) == nil)
    }
}

private struct RandomViewRun {
    let container: PersistentContainer
    let context: ManagedObjectContext
    var generator: SeededGenerator
    private(set) var moments: [EventNumber] = []

    init(seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        container = PersistentContainer(
            name: "Views", model: try Self.model(), at: .inMemory, options: .init(durability: .disposable))
        try container.loadPersistentStores()
        MadeStores.current?.add(container)
        context = container.newBackgroundContext()
        context.mergePolicy = .mergeByPropertyObjectTrump
    }

    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Item",
                properties: [
                    .attribute(AttributeDescription(name: "price", type: .decimal, isOptional: true)),
                    .attribute(AttributeDescription(name: "pieces", type: .integer64, isOptional: true)),
                    .attribute(AttributeDescription(name: "score", type: .double, isOptional: true)),
                    .attribute(AttributeDescription(name: "kind", type: .string, isOptional: true)),
                    .relationship(
                        RelationshipDescription(name: "shelf", destinationEntityName: "Shelf", inverseName: "items")),
                ]),
            EntityDescription(
                name: "Shelf",
                properties: [
                    .attribute(AttributeDescription(name: "label", type: .string, isOptional: true)),
                    .relationship(
                        RelationshipDescription(
                            name: "items", destinationEntityName: "Item", inverseName: "shelf", isToMany: true,
                            deleteRule: .nullify)),
                ]),
        ]).adding(views: [
            ViewDescription(
                name: "ByShelf", entityName: "Item", where: try FetchPredicate(format: "pieces > 2 OR kind == 'a'"),
                keys: [ViewKey("shelf"), ViewKey("kind")],
                aggregates: [
                    ViewAggregate("items", .count), ViewAggregate("total", .sum, "pieces"),
                    ViewAggregate("least", .min, "price"), ViewAggregate("most", .max, "score"),
                    ViewAggregate("priced", .count, "price"), ViewAggregate("mean", .average, "pieces"),
                ],
                orders: [
                    ViewOrder("total", isAscending: false),
                    ViewOrder([SortDescription("shelf"), SortDescription("mean")]),
                ]),
            ViewDescription(
                name: "All", entityName: "Item",
                aggregates: [
                    ViewAggregate("items", .count), ViewAggregate("least", .min, "pieces"),
                    ViewAggregate("most", .max, "price"),
                ]),
        ])
    }

    // MARK: Steps

    mutating func step() throws -> String {
        var done: [String] = []
        for _ in 0..<Int.random(in: 1...4, using: &generator) { done.append(try change()) }
        switch Int.random(in: 0..<6, using: &generator) {
        case 0...2:
            do {
                try context.save()
                done.append("save")
            } catch let error as StrataError {
                // Another context may have deleted what this one has changed.
                context.rollback()
                context.refreshAllObjects()
                done.append("refused: \(error.code)")
            }
            moments.append(try container.eventNumber(at: .now))
        case 3:
            context.rollback()
            done.append("rollback")
            done.append(try batch())
            if Bool.random(using: &generator) { context.refreshAllObjects() }
        default: break
        }
        return done.joined(separator: ", ")
    }

    private func objects(_ entity: String) throws -> [ManagedObject] {
        try context.fetch(FetchRequest<ManagedObject>(entityName: entity)).sorted { $0.objectID < $1.objectID }
    }

    private mutating func change() throws -> String {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0:
            if try objects("Shelf").count < 4 { _ = try context.insertNewObject(forEntityName: "Shelf") }
            return "shelf"
        case 1...3:
            let item = try context.insertNewObject(forEntityName: "Item")
            for _ in 0..<4 { try set(item) }
            return "insert"
        case 4...7:
            guard let item = try objects("Item").randomElement(using: &generator) else { return "-" }
            try set(item)
            return "set"
        default:
            let entity = Int.random(in: 0..<4, using: &generator) == 0 ? "Shelf" : "Item"
            guard let object = try objects(entity).randomElement(using: &generator) else { return "-" }
            context.delete(object)
            return "delete \(entity)"
        }
    }

    private mutating func set(_ item: ManagedObject) throws {
        let isNil = Int.random(in: 0..<5, using: &generator) == 0
        switch Int.random(in: 0..<5, using: &generator) {
        case 0:
            let price = Decimal(Int.random(in: -5...40, using: &generator)) / 4
            try item.setValue(isNil ? nil : price, forKey: "price")
        case 1: try item.setValue(isNil ? nil : Int64.random(in: -3...9, using: &generator), forKey: "pieces")
        case 2: try item.setValue(isNil ? nil : Double(Int.random(in: -3...9, using: &generator)) / 8, forKey: "score")
        case 3: try item.setValue(isNil ? nil : ["a", "b", "ä"].randomElement(using: &generator), forKey: "kind")
        default: try item.setValue(isNil ? nil : try objects("Shelf").randomElement(using: &generator), forKey: "shelf")
        }
    }

    private mutating func batch() throws -> String {
        let other = container.newBackgroundContext()
        switch Int.random(in: 0..<4, using: &generator) {
        case 0:
            let rows: [[String: AttributeValue]] = (0..<5).map { ["pieces": .integer($0), "kind": .string("b")] }
            _ = try other.execute(BatchInsertRequest<ManagedObject>(entityName: "Item", rows))
            return "batch insert"
        case 1:
            _ = try other.execute(
                BatchUpdateRequest<ManagedObject>(
                    entityName: "Item", where: try FetchPredicate(format: "pieces < 4"),
                    setting: ["pieces": try FetchExpression(format: "pieces + 1")]))
            return "batch update"
        case 2:
            _ = try other.execute(
                BatchDeleteRequest<ManagedObject>(entityName: "Item", where: try FetchPredicate(format: "pieces > 8")))
            return "batch delete"
        default:
            guard let last = try container.transactions().last?.number else { return "-" }
            // What cannot be reverted any more is no failure here.
            do {
                try other.revert(last)
                try other.save()
            } catch let error as StrataError {
                return "no revert: \(error.code)"
            }
            return "revert"
        }
    }

    // MARK: Comparing

    /// What a view says that a request over the objects does not, in a context that may have unsaved changes.
    func difference(_ context: ManagedObjectContext) throws -> String? {
        for (view, keys, columns, predicate) in [
            (
                "ByShelf", ["shelf", "kind"],
                ["count:(SELF)", "sum:(pieces)", "min:(price)", "max:(score)", "count:(price)", "average:(pieces)"],
                "pieces > 2 OR kind == 'a'"
            ), ("All", [], ["count:(SELF)", "min:(pieces)", "max:(price)"], "TRUEPREDICATE"),
        ] {
            var request = RowsFetchRequest(
                entityName: "Item",
                columns: try keys.map { OutputColumn($0) }
                    + columns.map { OutputColumn($0, try FetchExpression(format: $0)) },
                where: try FetchPredicate(format: predicate))
            request.groupBy = keys
            // A view with text among its keys does not answer the request; that of everything does.
            let usesView = try context.explain(request).steps.contains { $0.operation == .view }
            if usesView != keys.isEmpty { return "\(view) \(usesView ? "answers" : "does not answer")" }
            let expected = try context.fetchRows(request).map { $0.map { "\($0)" }.joined(separator: " | ") }
            let found = try context.rows(of: view).map { $0.map { "\($0)" }.joined(separator: " | ") }
            if Set(found) != Set(expected) || found.count != expected.count {
                return "\(view) has \(found.filter { !expected.contains($0) }), "
                    + "not \(expected.filter { !found.contains($0) })"
            }
        }
        return try orderedDifference(context)
    }

    /// What the first rows in a declared order have that all rows do not, or the reverse.
    private func orderedDifference(_ context: ManagedObjectContext) throws -> String? {
        let rows = try context.rows(of: "ByShelf").map(Array.init)
        for isAscending in [true, false] {
            let totals = rows.map { $0[3] }.sorted {
                ($0.order(to: $1) == .ascending) == isAscending && !$0.isEqual(to: $1)
            }
            let request = ViewFetchRequest(
                "ByShelf", sortedBy: [SortDescription("total", isAscending: isAscending)], limit: 2, offset: 1)
            let found = try context.fetchRows(request).map { $0[$0.startIndex + 3] }
            if found != Array(totals.dropFirst().prefix(2)) { return "totals \(found) of \(totals)" }
        }
        for row in rows {
            let one = FetchPredicate.and([.equal("shelf", row[0]), .equal("kind", row[1])])
            let found = try context.fetchRows(ViewFetchRequest("ByShelf", where: one)).map(Array.init)
            if found != [row] { return "\(one) has \(found), not \(row)" }
            let ofShelf = rows.filter { $0[0].isEqual(to: row[0]) }.map { $0[7] }
            let first = try context.fetchRows(
                ViewFetchRequest(
                    "ByShelf", where: .equal("shelf", row[0]), sortedBy: [SortDescription("mean")], limit: 1))
            let least =
                ofShelf.contains(where: \.isNull) ? .null : ofShelf.min { $0.order(to: $1) == .ascending } ?? .null
            if first.first.map({ $0[$0.startIndex + 7] }) != least { return "least mean \(first) of \(ofShelf)" }
        }
        return nil
    }
}
