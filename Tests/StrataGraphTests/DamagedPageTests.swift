import Foundation
import StrataModel
import Testing

@testable import StrataGraph

/// Pages of a view are damaged: what a property shows in their place reaches the caller as an error and is never saved.
@Suite struct DamagedPageTests {
    @Test func aListWithoutItsMembersIsNeverSaved() throws {
        let library = try DamagedLibrary(damaging: .links)
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
        let library = try DamagedLibrary(damaging: .links)
        let movies = library.owner.favoriteMovies
        #expect(movies.count == 300)
        #expect(Set(movies.map(\.title)) == [""])
        #expect(movies.first?.title.isEmpty == true)
        #expect([library.owner].flatMap(\.favoriteMovies).count == 300)
        library.owner.name = "Hanna"
        expectDamage { try library.context.save() }
    }

    @Test func membersByNameAreThrown() throws {
        let library = try DamagedLibrary(damaging: .links)
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
        let library = try DamagedLibrary(damaging: .links)
        let (context, owner) = (library.context, library.owner)
        let hooked = Hooked(context: context)
        hooked.willSaveBody = { _ in for _ in owner.favoriteMovies {} }
        expectDamage { try context.save() }
        context.reset()
        #expect(try context.count(for: FetchRequest<Hooked>()) == 0)
    }

    @Test func anObjectThatReadsAsEmptyIsNeverSaved() throws {
        let library = try DamagedLibrary(damaging: .objects)
        let (context, owner) = (library.context, library.owner)
        #expect(owner.name.isEmpty)
        expectDamage { _ = try context.count(for: FetchRequest<Movie>()) }
        Movie(context: context).title = "new"
        expectDamage { try context.save() }
        expectDamage { try context.save() }
    }
}
