import Foundation
import StrataGraph
import StrataModel
import Testing

@Suite(.verifiesStores) struct DeletionTests {
    @Test func cascadeDeletesTheMembers() throws {
        let container = try makeContainer()
        let context = container.newBackgroundContext()
        let owner = FamilyMember(context: context)
        owner.name = "Ann"
        for number in 0..<3 {
            let movie = Movie(context: context)
            movie.title = "\(number)"
            movie.familyMember = owner
        }
        try context.save()
        let other = container.newBackgroundContext()
        other.delete(try other.existingObject(with: owner.objectID))
        #expect(other.deletedObjects.count == 4)
        try other.save()
        #expect(try other.count(for: FetchRequest<Movie>()) == 0)
        #expect(try other.count(for: FetchRequest<FamilyMember>()) == 0)
    }

    @Test func nullifyLeavesTheOthers() throws {
        let container = try makeContainer()
        let context = container.newBackgroundContext()
        let owner = FamilyMember(context: context)
        owner.name = "Ann"
        let movie = Movie(context: context)
        movie.title = "A"
        movie.familyMember = owner
        let second = Movie(context: context)
        second.title = "B"
        second.familyMember = owner
        try context.save()
        context.delete(movie)
        #expect(movie.isDeleted && Array(owner.favoriteMovies) == [second])
        try context.save()
        #expect(movie.managedObjectContext == nil && movie.title == "A")
        #expect(Array(owner.favoriteMovies) == [second] && !movie.isDeleted)
    }

    @Test func noActionLeavesTheMembersPointingAtWhatIsGone() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Shelf",
                properties: [
                    .relationship(
                        RelationshipDescription(
                            name: "books", destinationEntityName: "Book", inverseName: "shelf", isToMany: true,
                            deleteRule: .noAction))
                ]),
            EntityDescription(
                name: "Book",
                properties: [
                    .relationship(
                        RelationshipDescription(name: "shelf", destinationEntityName: "Shelf", inverseName: "books"))
                ]),
        ])
        let container = PersistentContainer(name: "Test", model: model, at: .inMemory)
        try container.loadPersistentStores()
        MadeStores.current?.add(container)
        let context = container.newBackgroundContext()
        let shelf = try context.insertNewObject(forEntityName: "Shelf")
        let book = try context.insertNewObject(forEntityName: "Book")
        try book.setValue(shelf, forKey: "shelf")
        try context.save()
        context.delete(shelf)
        #expect(Array(context.deletedObjects) == [shelf] && context.updatedObjects.isEmpty)
        try context.save()
        // As in Core Data: the book still says where it stood, and what it leads to is a fault that cannot be read.
        let other = container.newBackgroundContext()
        let gone = try other.existingObject(with: book.objectID).value(forKey: "shelf") as? ManagedObject
        #expect(gone?.objectID == shelf.objectID)
        #expect(thrownError { _ = try other.existingObject(with: shelf.objectID) }?.code == .referentialIntegrity)
    }

    @Test func denyIsAnErrorAtSaveAndGoesWithTheMembers() throws {
        let container = try makeContainer(graphEntities)
        let context = container.newBackgroundContext()
        let club = Club(context: context)
        club.title = "Chess"
        let rules = (0..<2).map { number in
            let rule = Rule(context: context)
            rule.text = "\(number)"
            rule.club = club
            return rule
        }
        try context.save()
        context.delete(club)
        let error = thrownError { try context.save() }
        #expect(error?.code == .validationRelationshipDeniedDelete && error?.context.key == "rules")
        #expect(club.isDeleted)
        for rule in rules { context.delete(rule) }
        try context.save()
        #expect(try context.count(for: FetchRequest<Club>()) == 0)
    }

    @Test func deletingANewObjectLeavesNoTrace() throws {
        let container = try makeContainer()
        let context = container.newBackgroundContext()
        let owner = FamilyMember(context: context)
        owner.name = "Ann"
        let movie = Movie(context: context)
        movie.familyMember = owner
        context.delete(movie)
        #expect(owner.favoriteMovies.isEmpty && context.insertedObjects == [owner])
        #expect(try context.count(for: FetchRequest<Movie>()) == 0)
        try context.save()
        #expect(movie.managedObjectContext == nil)
        context.delete(movie)
        try context.save()
    }

    @Test func aLongChainCascadesWithoutTheStack() throws {
        let container = try makeContainer(graphEntities)
        let context = container.newBackgroundContext()
        // Persons do not cascade, playlists do: a chain is made of the model's one cascade, so many lists at once.
        let list = Playlist(context: context)
        list.name = "long"
        for number in 0..<2000 {
            let track = Track(context: context)
            track.title = "\(number)"
            track.playlist = list
        }
        try context.save()
        context.delete(list)
        try context.save()
        #expect(try context.count(for: FetchRequest<Track>()) == 0)
    }

    @Test func anUnreadObjectDeletedElsewhereReadsAsEmptyAndIsDeleted() throws {
        let container = try makeContainer()
        let context = container.newBackgroundContext()
        let movie = Movie(context: context)
        movie.title = "A"
        movie.rating = 3
        try context.save()
        let other = container.newBackgroundContext()
        other.delete(try other.existingObject(with: movie.objectID))
        try other.save()
        #expect(movie.title == "A")
        context.pin()
        context.refresh(movie, mergeChanges: false)
        context.unpin()
        context.refreshAllObjects()
        #expect(movie.isFault)
        #expect(movie.title == "" && movie.rating == 0 && movie.familyMember == nil && movie.isDeleted)
        #expect(thrownError { _ = try context.existingObject(with: movie.objectID) }?.code == .referentialIntegrity)
        try context.save()
    }

    @Test func aWriteToADeletedObjectFailsWhereItIsMade() throws {
        let container = try makeContainer()
        let context = container.newBackgroundContext()
        let movie = Movie(context: context)
        let owner = FamilyMember(context: context)
        let kept = Movie(context: context)
        (movie.title, kept.title, owner.name) = ("gone", "kept", "Ann")
        try context.save()
        context.delete(movie)
        context.delete(owner)
        let new = Movie(context: context)
        context.delete(new)
        var heard: [StrataError] = []
        context.faultingErrorHandler = { heard.append($0) }
        movie.title = "A"
        #expect(heard.map(\.code) == [.deletedObject] && heard.first?.context.key == "title")
        movie.rating = 2
        movie.familyMember = nil
        owner.favoriteMovies.insert(kept)
        new.title = "B"
        #expect(heard.map(\.context.key) == ["title", "rating", "familyMember", "favoriteMovies", "title"])
        #expect(thrownError { try movie.setValue("A", forKey: "title") }?.code == .deletedObject)
        #expect(thrownError { try movie.setPrimitiveValue("A", forKey: "title") }?.code == .deletedObject)
        #expect(context.unreportedErrors.isEmpty && movie.title == "gone" && kept.familyMember == nil)
        context.faultingErrorHandler = nil
        movie.title = "logged"
        try context.save()
        #expect(try container.newBackgroundContext().fetch(FetchRequest<Movie>()).count == 1)
    }

    @Test func aVanishedObjectCanBeMadeAnError() throws {
        let container = try makeContainer()
        let context = container.newBackgroundContext()
        context.shouldDeleteInaccessibleFaults = false
        var heard: [StrataError] = []
        context.faultingErrorHandler = { heard.append($0) }
        let movie = Movie(context: context)
        movie.title = "A"
        try context.save()
        context.refresh(movie, mergeChanges: false)
        let other = container.newBackgroundContext()
        other.delete(try other.existingObject(with: movie.objectID))
        try other.save()
        context.refreshAllObjects()
        #expect(movie.title == "")
        #expect(heard.map(\.code) == [.referentialIntegrity])
        #expect(thrownError { try context.save() }?.code == .referentialIntegrity)
        try context.save()
    }
}
