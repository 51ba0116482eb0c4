import Foundation
import Strata
import Testing

@Suite struct RequestTests {
    let container: PersistentContainer
    let context: ManagedObjectContext

    init() throws {
        let since = FetchRequestTemplate(
            name: "FilmsSince", entityName: "Film",
            where: try FetchPredicate(format: "year >= $YEAR AND title != $TITLE"),
            sortedBy: [SortDescription("year", isAscending: false)], limit: 3)
        let rivals = FetchedPropertyDescription(
            "rivals", of: "Film",
            FetchRequestTemplate(
                name: "", entityName: "Film",
                where: try FetchPredicate(format: "genre == $FETCH_SOURCE.genre AND SELF != $FETCH_SOURCE")))
        var marked = FetchedPropertyDescription(
            "marked", of: "Film",
            FetchRequestTemplate(
                name: "", entityName: "Film",
                where: try FetchPredicate(
                    format: "year == CAST($FETCHED_PROPERTY.userInfo.year, 'NSNumber') AND "
                        + "$FETCHED_PROPERTY.userInfo.none == nil AND $FETCHED_PROPERTY.name == 'marked'")))
        marked.userInfo = ["year": "1962"]
        container = try PersistentContainer(
            name: "Test", entities: filmEntities, fetchRequestTemplates: [since], fetchedProperties: [rivals, marked],
            at: .inMemory, options: .init(durability: .disposable))
        try container.loadPersistentStores()
        context = container.newBackgroundContext()
        makeFilms(in: context)
        try context.save()
    }

    // MARK: Refused when made

    @Test func aRequestThatCannotRunIsRefusedWhenItIsMade() throws {
        let unknown = try #require(throws: StrataError.self) { try FetchRequest<Film>(format: "titel == 'x'") }
        #expect(unknown.code == .unknownKey && unknown.message.contains("title"))
        let type = try #require(throws: StrataError.self) { try FetchRequest<Film>(format: "year > 'x'") }
        #expect(type.code == .wrongType)
        let many = try #require(throws: StrataError.self) { try FetchRequest<Film>(format: "actors.name == 'x'") }
        #expect(many.code == .invalidRequest)
        let syntax = try #require(throws: StrataError.self) { try FetchRequest<Film>(format: "year >") }
        #expect(syntax.code == .invalidRequest)
        let tree = try #require(throws: StrataError.self) { try FetchRequest<Film>(where: .equal("nope", 1)) }
        #expect(tree.code == .unknownKey)
        let order = try #require(throws: StrataError.self) {
            try FetchRequest<Film>(sortedBy: [SortDescription("yeer")])
        }
        #expect(order.code == .unknownKey && order.message.contains("year"))
        #expect(throws: StrataError.self) { try FetchRequest<Film>(limit: -1) }
        var assigned = FetchRequest<Film>()
        assigned.predicate = .equal("nope", 1)
        #expect(throws: StrataError.self) { try assigned.check() }
        #expect(throws: StrataError.self) { try context.check(assigned) }
        let named = FetchRequest<ManagedObject>(entityName: "Nothing")
        #expect(throws: StrataError.self) { try context.check(named) }
    }

    @Test func aRequestForRowsThatCannotRunIsRefusedWhenItIsMade() throws {
        let counted = OutputColumn("films", .function(.count, [.evaluatedObject]))
        func code(_ make: () throws -> RowsFetchRequest) throws -> StrataError.Code {
            try #require(throws: StrataError.self) { try make() }.code
        }
        #expect(try code { try RowsFetchRequest(of: Film.self, columns: [OutputColumn("titel")]) } == .unknownKey)
        #expect(try code { try RowsFetchRequest(of: Film.self, columns: []) } == .invalidRequest)
        let title = [OutputColumn("title")]
        #expect(
            try code { try RowsFetchRequest(of: Film.self, columns: title, where: .equal("year", "x")) } == .wrongType)
        #expect(try code { try RowsFetchRequest(of: Film.self, columns: [counted], groupBy: ["yeer"]) } == .unknownKey)
        #expect(throws: StrataError.self) {
            try RowsFetchRequest(of: Film.self, columns: [counted], groupBy: ["year"], having: .equal("nope", 1))
        }
        #expect(try code { try RowsFetchRequest(of: Film.self, columns: title, limit: -1) } == .invalidRequest)
        let request = try RowsFetchRequest(
            of: Film.self, columns: [OutputColumn("genre"), counted], where: .greaterThan("year", 1970),
            groupBy: ["genre"], having: .greaterThan("films", 1), sortedBy: [SortDescription("films")])
        #expect(try context.fetchRows(request).dictionaries.count == 3)
        for having in ["$films > 1", "films > 1 AND $genre != nil", "$films + 1 > 2"] {
            var variable = request
            variable.having = try FetchPredicate(format: having)
            #expect(try context.fetchRows(variable).dictionaries.count == 3)
        }
        var unknown = request
        unknown.having = try FetchPredicate(format: "flims > 1")
        let refusal = try #require(throws: StrataError.self) { try context.fetchRows(unknown) }
        #expect(refusal.message.contains("did you mean films?"))
        try context.check(request)
        var assigned = request
        assigned.groupBy = ["gender"]
        #expect(throws: StrataError.self) { try assigned.check(of: Film.self) }
        #expect(throws: StrataError.self) { try context.check(assigned) }
    }

    /// What the compiler lets through.
    @Test func aTypedRequestThatCannotRunIsRefusedWhenItIsMade() throws {
        let films = FetchRequest<Film>()
        let pattern = try #require(throws: StrataError.self) { try films.where { $0.title.matches("(") } }
        #expect(pattern.code == .invalidRequest)
        let transient = try #require(throws: StrataError.self) { try films.where { $0.mood == "x" } }
        #expect(transient.code == .invalidRequest && transient.message.contains("transient"))
        #expect(throws: StrataError.self) { try films.sorted(by: \.mood) }
        #expect(throws: StrataError.self) { try films.sorted(by: \.actors) }
        #expect(throws: StrataError.self) { try films.prefetching(\.title) }
        #expect(throws: StrataError.self) { try films.limited(to: -1) }
        #expect(throws: StrataError.self) { try films.where(.equal("actors.name", "x")) }
        #expect(throws: StrataError.self) { try films.where(#Predicate<Film> { $0.mood == "x" }) }
        #expect(throws: StrataError.self) { try BatchDeleteRequest<Film>().where { $0.title.matches("(") } }
        #expect(throws: StrataError.self) { try BatchUpdateRequest<Film>().where { $0.mood == "x" } }
    }

    /// Comparisons that passed once are not looked at again; others of the same shape must be.
    @Test func aComparisonThatIsKnownDoesNotHideAWrongOne() throws {
        for _ in 0..<2 {
            _ = try FetchRequest<Film>(where: .equal("year", 5))
            #expect(throws: StrataError.self) { try FetchRequest<Film>(where: .equal("year", "x")) }
            #expect(throws: StrataError.self) { try FetchRequest<Studio>(where: .equal("year", 5)) }
            _ = try FetchRequest<Film>(where: .equal("code", .string("9B2C3A61-4F5E-4B9D-8F5C-1F2E3D4C5B6A")))
            #expect(throws: StrataError.self) { try FetchRequest<Film>(where: .equal("code", "none")) }
            _ = try FetchRequest<Film>(where: .equal("title", "x") && .equal("actors.@count", 1))
            #expect(throws: StrataError.self) {
                try FetchRequest<Film>(where: .equal("title", "x") && .equal("actors.name", "x"))
            }
            _ = try FetchRequest<Film>(where: .any("actors.name", .equalTo, "x"))
            #expect(throws: StrataError.self) { try FetchRequest<Film>(where: .equal("actors.name", "x")) }
        }
    }

    @Test func objectsAreArguments() throws {
        let studio = try #require(try context.fetch(FetchRequest<Studio>(format: "name == %@", "Mosfilm")).first)
        let actor = try #require(try context.fetch(FetchRequest<Actor>(format: "name == %@", "Actor 3")).first)
        let films = try context.fetch(FetchRequest<Film>(format: "studio == %@ AND ANY actors == %@", studio, actor))
        #expect(Set(films) == Set(studio.films.filter { $0.actors.contains(actor) }) && !films.isEmpty)
        let none: Studio? = nil
        #expect(
            try context.count(for: FetchRequest<Film>(format: "studio == %@", none))
                == context.count(for: FetchRequest<Film>().where { $0.studio == nil }))
        let both = try context.fetch(FetchRequest<Film>(format: "studio IN %@", [studio]))
        #expect(Set(both) == Set(studio.films))
    }

    @Test func requestsCanBeSentAnywhere() async throws {
        let request = try FetchRequest<Film>().where { $0.isSeen }.sorted(by: \.year)
        let count = try await container.performBackgroundTask { try $0.fetch(request).count }
        #expect(count == 15)
    }

    // MARK: Order

    @Test func severalKeysFoldingNaturalOrderAndPlacesForNil() throws {
        let films = try context.fetch(FetchRequest<Film>())
        let byStudio = try context.fetch(
            FetchRequest<Film>().sorted(by: \.studio?.name, isAscending: false).sorted(by: \.year))
        #expect(
            byStudio.map(\.year)
                == films.sorted { ($1.studio?.name ?? "", $0.year) < ($0.studio?.name ?? "", $1.year) }.map(\.year))
        let natural = try context.fetch(
            FetchRequest<Film>().where { $0.title.begins(with: "Part") && $0.year < 1970 }
                .sorted(by: SortDescription(\Film.title, isNatural: true)))
        #expect(natural.map(\.title) == ["Part 9", "Part 10"])
        let nilsLast = try context.fetch(
            FetchRequest<Film>().sorted(by: SortDescription(\Film.note, nullPlacement: .last)))
        #expect(nilsLast.suffix(8).allSatisfy { $0.note == nil } && nilsLast.first?.note != nil)
        let folded = try context.fetch(
            FetchRequest<Film>().where { $0.year < 1966 }.sorted(
                by: \.title, folding: [.caseInsensitive, .diacriticInsensitive]))
        #expect(folded.map(\.title) == ["Éloge", "Mirror", "Nostalghia", "Solaris", "stalk", "Stalker"])
    }

    // MARK: Results

    @Test func objectsIDsAndCountsAgree() throws {
        let request = try FetchRequest<Film>().where { $0.rating > 2 }.sorted(by: \.year).limited(to: 7, offset: 2)
        let films = try context.fetch(request)
        #expect(films.count == 7)
        #expect(try context.fetchObjectIDs(request) == films.map(\.objectID))
        #expect(try context.count(for: request) == 7)
    }

    @Test func aBatchOfObjectsIsMadeWhenItIsLookedAt() throws {
        let fresh = container.newBackgroundContext()
        var request = try FetchRequest<Film>().sorted(by: \.year)
        request.fetchBatchSize = 4
        let films = try fresh.fetchInBatches(request)
        #expect(films.count == 30 && fresh.registeredObjects.isEmpty)
        #expect(films[5].year == 1965)
        #expect(fresh.registeredObjects.count == 4 && fresh.registeredObjects.allSatisfy { !$0.isFault })
        #expect(films.map(\.year) == Array(1960..<1990))
        #expect(films[29] === films[29] && films.last?.year == 1989)
        #expect(films.objectIDs == (try fresh.fetchObjectIDs(request)))
        request.fetchBatchSize = -1
        #expect(throws: StrataError.self) { try fresh.fetchInBatches(request) }
    }

    @Test func relationshipsArePrefetched() throws {
        let fresh = container.newBackgroundContext()
        var request = try FetchRequest<Film>().where { $0.year < 1970 }.prefetching(\.studio).prefetching(\.actors)
        let films = try fresh.fetch(request)
        let inMemory = fresh.registeredObjects
        #expect(inMemory.contains { $0 is Studio } && inMemory.contains { $0 is Actor })
        #expect(inMemory.allSatisfy { !$0.isFault })
        for film in films { #expect(film.actors.allSatisfy { !$0.isFault } && film.studio?.isFault != true) }
        request.relationshipKeyPathsForPrefetching = ["title"]
        #expect(throws: StrataError.self) { try fresh.fetch(request) }
        request.relationshipKeyPathsForPrefetching = ["actors.agnt"]
        #expect(throws: StrataError.self) { try fresh.fetch(request) }
    }

    @Test func valuesComeAlongUnlessTheyAreNotWanted() throws {
        var request = try FetchRequest<Film>().where { $0.year < 1970 }
        // Held, because faults are read when their context goes.
        let contexts = (0..<3).map { _ in container.newBackgroundContext() }
        #expect(try contexts[0].fetch(request).allSatisfy(\.isFault))
        request.returnsObjectsAsFaults = false
        #expect(try contexts[1].fetch(request).allSatisfy { !$0.isFault })
        request.includesPropertyValues = false
        let films = try contexts[2].fetch(request)
        #expect(films.count == 10 && films.allSatisfy(\.isFault))
        withExtendedLifetime(contexts) {}
    }

    @Test func unsavedChangesCountUnlessTheyAreNotWanted() throws {
        let film = Film(context: context)
        film.year = 3000
        var request = try FetchRequest<Film>().where { $0.year == 3000 }
        #expect(try context.count(for: request) == 1)
        request.includesPendingChanges = false
        #expect(try context.count(for: request) == 0)
    }

    @Test func rowsAreGrouped() throws {
        var request = RowsFetchRequest(
            entityName: "Film",
            columns: [OutputColumn("genre"), OutputColumn("films", .function(.count, [.evaluatedObject]))])
        request.groupBy = ["genre"]
        request.sortDescriptors = [SortDescription("genre")]
        let rows = try context.fetchRows(request).dictionaries
        #expect(rows.map { $0["genre"] } == [.string("comedy"), .string("drama"), .string("horror")])
        #expect(rows.allSatisfy { $0["films"] == .integer(10) })
    }

    @Test func anExplanationNamesTheIndex() throws {
        let explanation = try context.explain(FetchRequest<Film>().where { $0.title == "Stalker" })
        #expect("\(explanation)".contains("title"))
    }

    // MARK: Requests within requests

    @Test func aRequestIsAskedForWhatAnotherFinds() throws {
        let studios = try FetchRequest<Studio>().where { $0.country == "JP" }
        let expected = Set(try context.fetch(FetchRequest<Film>().where { $0.studio.country == "JP" }))
        #expect(expected.count > 5)
        let format = try FetchRequest<Film>(format: "studio IN FETCH(%@, nil, NO)", studios)
        #expect(Set(try context.fetch(format)) == expected)
        let tree = FetchPredicate.comparison(ComparisonPredicate(.keyPath("studio"), .in, .fetch(studios)))
        #expect(tree == format.predicate)
        let written = try #require(format.predicate?.description)
        #expect(written == #"studio IN FETCH({:"entity": "Studio", "predicate": "country == \"JP\""}, nil, FALSE)"#)
        #expect(try FetchPredicate(format: written) == tree)
        #expect(try context.fetch(FetchRequest<Film>()).filter { try tree.evaluate(with: $0) }.count == expected.count)
        // It sees unsaved changes as the request around it does.
        let studio = try #require(try context.fetch(studios).first)
        studio.country = "SU"
        #expect(try context.count(for: format) == 0)
        var saved = format
        saved.includesPendingChanges = false
        #expect(try context.count(for: saved) == expected.count)
        try context.save()
        let past = try container.context(asOf: .event(EventNumber(rawValue: context.eventNumber.rawValue - 1)))
        #expect(try past.count(for: format) == expected.count)
    }

    @Test func onlyTheNumberCanBeAskedFor() throws {
        let best = try FetchRequest<Film>(sortedBy: [SortDescription("rating", isAscending: false)], limit: 3)
        let counted = try FetchRequest<Film>(format: "year - 1960 < FETCH(%@, %@, YES)", best, nil as String?)
        #expect(try context.fetch(counted.sorted(by: \.year)).map(\.year) == [1960, 1961, 1962])
        let listed = try context.fetch(
            FetchRequest<Film>(
                where: FetchPredicate(format: "SELF IN FETCH($BEST, nil, NO)")
                    .withSubstitutionVariables(["BEST": best])))
        #expect(Set(listed) == Set(try context.fetch(best)))
    }

    @Test(arguments: [
        "FETCH() == 1", "FETCH('Film', nil) == 1", "FETCH('Film', nil, 7) == 1", "FETCH(5, nil, YES) == 1",
        "FETCH({: 'entity': 'Film', 'predicate': 'yeer >'}, nil, YES) == 1",
        "FETCH({: 'entity': 'Film', 'predicate': 'yeer > 5'}, nil, YES) == 1", "year == FETCH('Film', nil, NO)",
        "FETCH({: 'entity': 'Film', 'limit': -1}, nil, YES) == 1", "FETCH(year, nil, YES) == 1",
        #"FETCH({: 'entity': 'Film', 'predicate': 'FETCH("Film", nil, YES) == 1'}, nil, YES) == 1"#,
    ])
    func aFetchThatIsNoneIsRefusedWhenItIsMade(format: String) {
        #expect(throws: StrataError.self) { try FetchRequest<Film>(format: format) }
    }

    @Test func arithmeticOnACollectionIsDoneForEachMember() throws {
        let request = try FetchRequest<Film>(format: "ANY actors.age + 1 > 55")
        let expected = try context.fetch(FetchRequest<Film>()).filter { $0.actors.contains { ($0.age ?? 0) + 1 > 55 } }
        #expect(Set(try context.fetch(request)) == Set(expected) && !expected.isEmpty)
        #expect(throws: StrataError.self) { try FetchRequest<Film>(format: "actors.age + 1 > 55") }
        #expect(throws: StrataError.self) { try FetchRequest<Film>(format: "ANY actors.age + actors.age > 55") }
        #expect(throws: StrataError.self) { try FetchRequest<Film>(format: "ANY actors.name * 2 > 55") }
    }

    // MARK: Elsewhere

    @Test func aFetchElsewhereFindsTheSame() async throws {
        let request = try FetchRequest<Film>().where { $0.rating > 2 }.sorted(by: \.year)
        let progress = FetchProgress()
        let films = try await context.fetchAsynchronously(request, progress: progress)
        #expect(films.map(\.objectID) == (try context.fetchObjectIDs(request)) && films.count > 5)
        #expect(progress.isFinished && progress.examinedRowCount >= films.count)
        #expect(try await context.countAsynchronously(for: request) == films.count)
    }

    @Test func aFetchElsewhereCanBeCancelled() async throws {
        let progress = FetchProgress()
        progress.cancel()
        await #expect(throws: CancellationError.self) {
            _ = try await context.fetchAsynchronously(FetchRequest<Film>(), progress: progress)
        }
        #expect(progress.isCancelled && progress.isFinished)
        let task = Task { [container] in
            while !Task.isCancelled { await Task.yield() }
            let context = container.newBackgroundContext()
            return try await context.countAsynchronously(for: FetchRequest<Film>().where { $0.rating > 1 })
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    // MARK: Of the model

    @Test func aTemplateIsFilledIn() throws {
        let request: FetchRequest<Film> = try container.fetchRequest(
            fromTemplate: "FilmsSince", substituting: ["YEAR": 1985, "TITLE": "Ran"])
        #expect(try context.fetch(request).map(\.year) == [1988, 1987, 1986])
        func make(_ name: String, _ values: [String: (any FetchArgument)?]) throws -> FetchRequest<Film> {
            try container.fetchRequest(fromTemplate: name, substituting: values)
        }
        #expect(throws: StrataError.self) { try make("FilmsSince", ["YEAR": 1985]) }
        #expect(throws: StrataError.self) { try make("FilmsSince", ["YEAR": "x", "TITLE": "y"]) }
        #expect(throws: StrataError.self) { try make("Nothing", [:]) }
    }

    @Test func aFetchedPropertyFindsWhatItsRequestSays() throws {
        let film = try #require(try context.fetch(FetchRequest<Film>().where { $0.year == 1962 }).first)
        let rivals = try film.fetchedObjects(forKey: "rivals")
        #expect(rivals.count == 9 && rivals.allSatisfy { ($0 as? Film)?.genre == .horror && $0 !== film })
        #expect(throws: StrataError.self) { try film.fetchedObjects(forKey: "friends") }
        #expect(try film.fetchedObjects(forKey: "marked") == [film])
        #expect(try film.value(forKey: "rivals") as? [ManagedObject] == rivals)
        #expect(try film.value(forKeyPath: "rivals.@count") as? Int == 9)
        #expect(try FetchPredicate(format: "rivals.@count == 9 AND ANY rivals.year == 1965").evaluate(with: film))
        let unknown = #expect(throws: StrataError.self) { try film.value(forKey: "friends") }
        #expect(unknown?.code == .unknownKey)
    }

    @Test func aModelWithWrongRequestsIsRefused() throws {
        let template = FetchRequestTemplate(name: "A", entityName: "Nothing")
        let error = try #require(throws: StrataError.self) {
            try PersistentContainer(
                name: "Test", entities: filmEntities, fetchRequestTemplates: [template, template],
                fetchedProperties: [
                    FetchedPropertyDescription("title", of: "Film", FetchRequestTemplate(name: "", entityName: "Film"))
                ], at: .inMemory)
        }
        #expect(error.code == .invalidModel && error.details.count == 4)
    }
}
