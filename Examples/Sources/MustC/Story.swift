import Foundation
import Strata

/// The story in eight steps on the main actor, as in an app with a window; each prints what it does.
@MainActor struct Story {
    private let container: PersistentContainer
    private let seed: FamilySeed

    init(_ container: PersistentContainer, _ seed: FamilySeed) {
        self.container = container
        self.seed = seed
    }

    private var context: ManagedObjectContext { container.viewContext }

    func tell() async throws {
        try await plant()
        try saveIfNeeded()
        try persist()
        try fetchInBatches()
        try askWithPredicates()
        try followAList()
        try await saveInTheBackground()
        try deleteByTheRules()
        goodbye()
    }

    private func title(_ number: Int, _ text: String) { print("\n\(number). \(text)") }

    private func movie(_ title: String) throws -> Movie { try context.movie(title) }
    private func member(_ name: String) throws -> FamilyMember { try context.member(name) }

    private func plant() async throws {
        title(1, "A family with its favorite movies, made in the background")
        context.automaticallyMergesChangesFromParent = true
        try await container.performBackgroundTask { [seed] context in try seed.plant(in: context) }
        for member in try context.fetch(FetchRequest<FamilyMember>().sorted(by: \.name)) {
            print("   \(member.name): \(member.favoriteMovies.map(\.title).joined(separator: ", "))")
        }
    }

    private func saveIfNeeded() throws {
        title(2, "saveContextIfNeeded")
        print("   Nothing has changed; saved: \(try container.saveContextIfNeeded())")
        try movie("Momo").familyMember = member("Ben")
        print("   Ben has taken over Momo; saved: \(try container.saveContextIfNeeded())")
        print("   Anna has \(try member("Anna").favoriteMovies.count) movies now")
    }

    private func persist() throws {
        title(3, "persist { }")
        try context.persist {
            let paddington = Movie(context: context)
            paddington.title = "Paddington"
            paddington.familyMember = try member("Cleo")
        }
        print("   Saved: Cleo has \(try member("Cleo").favoriteMovies.count) movies")
        do {
            try context.persist { _ = Movie(context: context) }
        } catch let error as StrataError {
            print("   A movie without a title is refused with code \(error.code.rawValue): \(error.message)")
            print("   It was rolled back; changes left: \(context.hasChanges)")
        }
    }

    private func fetchInBatches() throws {
        title(4, "A batch size")
        let background = container.newBackgroundContext()
        var request = try FetchRequest<Movie>().sorted(by: \.title)
        request.fetchBatchSize = 4
        let movies = try background.fetchInBatches(request)
        print("   \(movies.count) movies found, \(background.registeredObjects.count) of them read")
        print("   The first is \(movies[0].title): \(background.registeredObjects.count) read")
        print("   The fifth is \(movies[4].title): \(background.registeredObjects.count) read")
    }

    private func askWithPredicates() throws {
        title(5, "Predicates and compound predicates")
        try show(FetchRequest<Movie>(format: "title BEGINSWITH[c] %@", "the"))
        try show(FetchRequest<Movie>().where { $0.familyMember.name == "Anna" })
        let long = FetchPredicate(for: Movie.self) { $0.title.count > 12 }
        let ofBen = try FetchPredicate(format: "familyMember.name = %@", "Ben")
        try show(FetchRequest<Movie>(where: long.and(ofBen)))
        try show(FetchRequest<Movie>(where: long.or(ofBen)))
        try show(FetchRequest<Movie>(where: .and([.not(long), .not(ofBen)])))
    }

    private func show(_ request: FetchRequest<Movie>) throws {
        let titles = try context.fetch(request.sorted(by: \.title)).map(\.title)
        print("   \(request.predicate.map(String.init(describing:)) ?? "all")")
        print("      \(titles.joined(separator: ", "))")
    }

    private func followAList() throws {
        title(6, "A list that follows every change, and events with the objects")
        let list = try MovieList(context)
        print("   \(list.titles.joined(separator: ", "))")
        let inMemory = context.observe(.objectsDidChange) { Self.tell("changed in memory", $0) }
        let onDisk = context.observe(.didSave) { Self.tell("saved", $0) }
        let dune = Movie(context: context)
        dune.title = "Dune"
        context.delete(try movie("The Red Balloon"))
        try movie("Ronja").title = "Zazie in the Metro"
        try movie("Paddington").familyMember = member("Ben")
        try context.save()
        print("   \(list.titles.joined(separator: ", "))")
        inMemory.cancel()
        onDisk.cancel()
    }

    private static func tell(_ event: String, _ changes: ContextChanges) {
        func titles(_ objects: Set<ManagedObject>) -> String {
            let names = objects.map { ($0 as? Movie)?.title ?? ($0 as? FamilyMember)?.name ?? "?" }
            return names.isEmpty ? "none" : names.sorted().joined(separator: ", ")
        }
        print(
            "   \(event): inserted \(titles(changes.inserted)); updated \(titles(changes.updated));"
                + " deleted \(titles(changes.deleted))")
    }

    private func saveInTheBackground() async throws {
        title(7, "Saving in the background while the view context merges automatically")
        let list = try MovieList(context)
        let dune = try movie("Dune")
        let (merged, announce) = AsyncStream.makeStream(of: Int.self)
        let observation = context.observe(.didMerge) { announce.yield($0.insertedObjectIDs.count) }
        let id = dune.objectID
        try await container.performBackgroundTask { context in
            let dune = try context.existingObject(with: id, as: Movie.self)
            dune.title = "Dune: Part One"
            let heidi = Movie(context: context)
            heidi.title = "Heidi"
            try context.save()
        }
        for await count in merged {
            print("   The view context has merged; objects inserted: \(count)")
            break
        }
        observation.cancel()
        print("   The object on screen shows \(dune.title) by itself")
        print("   \(list.titles.joined(separator: ", "))")
    }

    private func deleteByTheRules() throws {
        title(8, "Delete rules: nullify and cascade")
        let ben = try member("Ben")
        let count = ben.favoriteMovies.count
        try context.persist { context.delete(try movie("Momo")) }
        print(
            "   Momo is deleted (nullify): Ben stays, with \(count - 1) of \(count) movies: \(ben.favoriteMovies.count)"
        )
        let movies = try context.count(for: FetchRequest<Movie>())
        let cleo = try member("Cleo")
        let own = cleo.favoriteMovies.count
        try context.persist { context.delete(cleo) }
        print(
            "   Cleo is deleted (cascade) with her \(own) movies: \(movies) movies before, "
                + "\(try context.count(for: FetchRequest<Movie>())) after")
    }

    private func goodbye() {
        guard let path = container.storeURL?.path else { return }
        print("\nThe store stays here: \(path)\nTo see who wrote what: bin/strata log \(path)")
    }
}
