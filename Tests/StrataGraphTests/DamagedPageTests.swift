import Foundation
import LMDB
import StrataModel
import Testing

@testable import StrataGraph
@testable import StrataStore

/// Pages of a view are damaged: what a property shows in their place reaches the caller as an error and is never saved.
@Suite struct DamagedPageTests {
    private enum View {
        case objects, links
    }

    /// An owner of 300 films in a store on disk. All pages of one view are zeros.
    private final class Library {
        let directory = URL.temporaryDirectory.appending(component: "pages-\(UUID().uuidString).strata")
        let container: PersistentContainer
        let context: ManagedObjectContext
        let owner: FamilyMember

        init(damaging view: View) throws {
            let first = try Self.open(directory)
            let writer = first.newBackgroundContext()
            let made = FamilyMember(context: writer)
            made.name = "Anna"
            for number in 0..<300 {
                let movie = Movie(context: writer)
                movie.title = "film \(number)"
                movie.familyMember = made
            }
            try writer.save()
            let file = writer.binding.store.file
            let transaction = try file.environment.beginWrite()
            let pages = try transaction.pagesOf([view == .links ? file.tables.links.main : file.tables.objects])
            transaction.abort()
            first.close()
            let handle = try FileHandle(forWritingTo: directory.appending(component: "data.mdb"))
            for page in pages {
                try handle.seek(toOffset: page * 4096)
                try handle.write(contentsOf: Data(count: 4096))
            }
            try handle.close()
            container = try Self.open(directory)
            context = container.newBackgroundContext()
            owner = try #require(context.object(with: made.objectID) as? FamilyMember)
        }

        deinit {
            container.close()
            try? FileManager.default.removeItem(at: directory)
        }

        private static func open(_ directory: URL) throws -> PersistentContainer {
            let container = try PersistentContainer(
                name: "Damaged", entities: [Movie.self, FamilyMember.self, Hooked.self], at: .url(directory))
            try container.loadPersistentStores()
            return container
        }
    }

    private func expectDamage(_ body: () throws -> Void) {
        let error = #expect(throws: StrataError.self) { try body() }
        #expect(error?.code == .corrupt && "\(error as Any)".contains("page "), "\(error as Any)")
    }

    @Test func aListWithoutItsMembersIsNeverSaved() throws {
        let library = try Library(damaging: .links)
        let (context, owner) = (library.context, library.owner)
        var told: [StrataError] = []
        context.faultingErrorHandler = { told.append($0) }
        // They are counted elsewhere.
        let shown = Array(owner.favoriteMovies)
        #expect(told.map(\.code) == [.corrupt])
        #expect(shown.count == 300 && shown.allSatisfy { $0.title.isEmpty })
        // The next fetch throws it, once.
        expectDamage { _ = try context.fetch(FetchRequest<FamilyMember>()) }
        #expect(try context.fetch(FetchRequest<FamilyMember>()).count == 1)
        // Every save throws it, also after a rollback.
        for _ in 0..<3 {
            owner.name = "Hanna"
            expectDamage { try context.save() }
        }
        context.rollback()
        owner.name = "Hanna"
        expectDamage { try context.save() }
        expectDamage { try context.validateChanges() }
        context.reset()
        #expect(context.unreportedErrors.isEmpty)
        try context.existingObject(with: owner.objectID, as: FamilyMember.self).name = "Hanna"
        try context.save()
    }

    /// The members are counted elsewhere, so a walk by their positions goes on where none can be read.
    @Test func membersThatCannotBeReadAreEmptyObjects() throws {
        let library = try Library(damaging: .links)
        let movies = library.owner.favoriteMovies
        #expect(movies.count == 300)
        #expect(Set(movies.map(\.title)) == [""])
        #expect(movies.first?.title.isEmpty == true)
        #expect([library.owner].flatMap(\.favoriteMovies).count == 300)
        library.owner.name = "Hanna"
        expectDamage { try library.context.save() }
    }

    @Test func membersByNameAreThrown() throws {
        let library = try Library(damaging: .links)
        let (context, owner) = (library.context, library.owner)
        expectDamage { _ = try owner.value(forKey: "favoriteMovies") }
        expectDamage { _ = try owner.objectIDs(forRelationshipNamed: "favoriteMovies") }
        expectDamage { try owner.setValue([Movie](), forKey: "favoriteMovies") }
        // What was thrown needs no second telling.
        #expect(context.unreportedErrors.isEmpty)
        owner.name = "Hanna"
        try context.save()
    }

    @Test func damageThatAHookMeetsIsThrownByTheSameSave() throws {
        let library = try Library(damaging: .links)
        let (context, owner) = (library.context, library.owner)
        let hooked = Hooked(context: context)
        hooked.willSaveBody = { _ in for _ in owner.favoriteMovies {} }
        expectDamage { try context.save() }
        context.reset()
        #expect(try context.count(for: FetchRequest<Hooked>()) == 0)
    }

    @Test func anObjectThatReadsAsEmptyIsNeverSaved() throws {
        let library = try Library(damaging: .objects)
        let (context, owner) = (library.context, library.owner)
        #expect(owner.name.isEmpty)
        expectDamage { _ = try context.count(for: FetchRequest<Movie>()) }
        Movie(context: context).title = "new"
        expectDamage { try context.save() }
        expectDamage { try context.save() }
    }
}
