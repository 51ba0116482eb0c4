import Foundation
import StrataGraph
import StrataModel
import Testing

@Suite(.verifiesStores) struct KeyValueTests {
    let container: PersistentContainer
    let context: ManagedObjectContext

    init() throws {
        container = try makeContainer()
        context = container.newBackgroundContext()
    }

    @Test func valuesAreReadAndSetByName() throws {
        let movie = Movie(context: context)
        try movie.setValue("Stalker", forKey: "title")
        try movie.setValue(4, forKey: "rating")
        #expect(movie.title == "Stalker" && movie.rating == 4)
        #expect(try movie.value(forKey: "rating") as? Double == 4)
        let owner = FamilyMember(context: context)
        owner.name = "Ann"
        try movie.setValue(owner, forKey: "familyMember")
        #expect(try owner.value(forKey: "favoriteMovies") as? [ManagedObject] == [movie])
        #expect(try movie.value(forKeyPath: "familyMember.name") as? String == "Ann")
        #expect(try owner.value(forKeyPath: "favoriteMovies.title") as? [String] == ["Stalker"])
        #expect(try owner.value(forKeyPath: "favoriteMovies.@count") as? Int == 1)
        #expect(try owner.value(forKeyPath: "favoriteMovies.@sum.rating") as? Double == 4)
        try owner.setValue([Movie](), forKey: "favoriteMovies")
        #expect(movie.familyMember == nil)
    }

    @Test func severalValuesAreReadAndSetTogether() throws {
        let movie = Movie(context: context)
        let owner = FamilyMember(context: context)
        try movie.setValuesForKeys(["title": "Stalker", "rating": 4, "familyMember": owner])
        #expect(movie.title == "Stalker" && movie.rating == 4 && movie.familyMember === owner)
        let values = try movie.dictionaryWithValues(forKeys: ["title", "rating", "familyMember"])
        #expect(values["title"] as? String == "Stalker" && values["familyMember"] as? FamilyMember === owner)
        let error = thrownError { try movie.setValuesForKeys(["rating": 1, "titel": "Mirror"]) }
        #expect(error?.code == .unknownKey && movie.rating == 4)
        try movie.setValuesForKeys(["familyMember": NSNull()])
        #expect(try movie.dictionaryWithValues(forKeys: ["familyMember"])["familyMember"] is NSNull)
        owner.name = "Ann"
        movie.familyMember = owner
        #expect(try movie.value(forKey: "objectID") as? ObjectID == movie.objectID)
        #expect(try owner.value(forKeyPath: "favoriteMovies.objectID") as? [ObjectID] == [movie.objectID])
    }

    @Test func operatorsOfKeyPathsAreThoseOfPredicates() throws {
        let owner = FamilyMember(context: context)
        owner.name = "Ann"
        #expect(try owner.value(forKeyPath: "favoriteMovies.@sum.rating") as? Double == 0)
        #expect(try owner.value(forKeyPath: "favoriteMovies.@avg.rating") == nil)
        #expect(try owner.value(forKeyPath: "favoriteMovies.@max.title") == nil)
        for (title, rating) in [("Mirror", 1.0), ("Stalker", 4.0), ("Solaris", 1.0)] {
            let movie = Movie(context: context)
            movie.title = title
            movie.rating = rating
            movie.familyMember = owner
        }
        #expect(try owner.value(forKeyPath: "favoriteMovies.@avg.rating") as? Double == 2)
        #expect(try owner.value(forKeyPath: "favoriteMovies.@min.title") as? String == "Mirror")
        #expect(try owner.value(forKeyPath: "favoriteMovies.@max.title") as? String == "Stalker")
        let ratings = try owner.value(forKeyPath: "favoriteMovies.@distinctUnionOfObjects.rating") as? [Double]
        #expect(Set(ratings ?? []) == [1, 4] && ratings?.count == 2)
        #expect(try owner.value(forKeyPath: "favoriteMovies.@distinctUnionOfObjects.rating.@count") as? Int == 2)
        let all = try owner.value(forKeyPath: "favoriteMovies.@unionOfObjects.self") as? [Movie]
        #expect(all?.count == 3)
        for path in ["favoriteMovies.@sum.title", "favoriteMovies.@sum", "favoriteMovies.@nothing", "name.@count"] {
            let error = thrownError { _ = try owner.value(forKeyPath: path) }
            #expect(error?.code == .unknownKey && error?.context.key == path, "\(path)")
        }
    }

    @Test func wrongKeysAndTypesAreTypedErrorsAndChangeNothing() throws {
        let movie = Movie(context: context)
        movie.title = "Stalker"
        let unknown = thrownError { try movie.setValue(1, forKey: "nothing") }
        #expect(
            unknown?.code == .unknownKey && unknown?.context.key == "nothing" && unknown?.context.entityName == "Movie")
        #expect(thrownError { _ = try movie.value(forKey: "nothing") }?.code == .unknownKey)
        #expect(thrownError { try movie.setValue(Date(), forKey: "title") }?.code == .wrongType)
        #expect(thrownError { try movie.setValue("five", forKey: "rating") }?.code == .wrongType)
        #expect(thrownError { try movie.setValue(movie, forKey: "familyMember") }?.code == .wrongType)
        #expect(thrownError { try movie.setValue("Ann", forKey: "familyMember") }?.code == .wrongType)
        #expect(thrownError { _ = try movie.value(forKeyPath: "title.size") }?.code == .unknownKey)
        #expect(movie.title == "Stalker" && movie.rating == 0)
    }

    @Test func plainObjectsNeedNoClass() throws {
        let model = try ManagedObjectModel(entities: container.managedObjectModel.entities)
        let plain = PersistentContainer(name: "Plain", model: model, at: .inMemory)
        try plain.loadPersistentStores()
        let context = plain.newBackgroundContext()
        let movie = try context.insertNewObject(forEntityName: "Movie")
        try movie.setValue("Solaris", forKey: "title")
        let owner = try context.insertNewObject(forEntityName: "FamilyMember")
        try owner.setValue("Ann", forKey: "name")
        try owner.setValue([movie], forKey: "favoriteMovies")
        try context.save()
        let found = try context.fetch(FetchRequest<ManagedObject>(entityName: "Movie"))
        #expect(found == [movie])
        #expect(try found[0].value(forKeyPath: "familyMember.name") as? String == "Ann")
        #expect(thrownError { _ = try context.insertNewObject(forEntityName: "Nothing") }?.code == .unknownEntity)
    }

    @Test func changedAndCommittedValuesTellWhatHappened() throws {
        let movie = Movie(context: context)
        movie.title = "A"
        #expect(movie.changedValues["title"] == .string("A"))
        #expect(try movie.committedValues(forKeys: nil).isEmpty)
        try context.save()
        #expect(movie.changedValues.isEmpty && !movie.hasChanges)
        movie.rating = 2
        movie.title = "A"
        #expect(movie.changedValues == ["rating": .double(2)] && movie.hasChanges && movie.isUpdated)
        #expect(try movie.committedValues(forKeys: ["rating"]) == ["rating": .double(0)])
        movie.rating = 0
        #expect(movie.changedValues.isEmpty && movie.hasChanges && !movie.hasPersistentChangedValues)
        let before = context.eventNumber
        try context.save()
        #expect(context.eventNumber == before && !movie.hasChanges)
    }

    @Test func idsTurnIntoURIsAndBack() throws {
        let movie = Movie(context: context)
        let uri = try container.uriRepresentation(of: movie.objectID)
        #expect(uri.absoluteString == "strata://\(container.storeIdentifier.uuidString)/Movie/p\(movie.objectID.row)")
        #expect(try container.objectID(forURIRepresentation: uri) == movie.objectID)
        let wrong = try #require(URL(string: "strata://\(UUID().uuidString)/Movie/p1"))
        #expect(thrownError { _ = try container.objectID(forURIRepresentation: wrong) }?.code == .validationInvalidURI)
        let noEntity = try #require(URL(string: "strata://\(container.storeIdentifier.uuidString)/Nothing/p1"))
        #expect(thrownError { _ = try container.objectID(forURIRepresentation: noEntity) }?.code == .unknownEntity)
    }

    @Test func keyPathsBecomeNames() throws {
        #expect(PropertyName.of(\Movie.title) == "title")
        #expect(PropertyName.of(\Movie.familyMember?.name) == "familyMember.name")
        #expect(PropertyName.of(\Employee.name) == "name")
        #expect(PropertyName.of(\Employee.boss?.boss?.name) == "boss.boss.name")
        #expect(SortDescription(\Movie.rating, isAscending: false) == SortDescription("rating", isAscending: false))
    }
}
