import Foundation
import StrataGraph
import StrataModel
import StrataXcode
import Testing

/// The build plug-in has made the classes of `Films.xcdatamodeld` for this target.
struct GeneratedClassesTests {
    @Test func generatedClassesAreReadAndWrittenLikeAnyOther() throws {
        let container = try PersistentContainer(name: "Films", entities: FilmsModel.entities, at: .inMemory)
        try container.loadPersistentStores()
        let context = container.newBackgroundContext()
        let director = Person(context: context)
        director.name = "Ridley"
        let film = Movie(context: context)
        film.title = "Alien"
        film.director = director
        #expect(film.genre == .default && film.internal == true && film.rating == 0)
        film.genre = .drama
        film.rating = 4.5
        let first = Actor(context: context), second = Actor(context: context)
        first.name = "Sigourney"
        first.default = "Ripley"
        second.name = "Tom"
        film.addToCast([first, second])
        film.insertIntoCast(second, at: 0)
        first.addToFriends(second)
        // All functions that Xcode generates.
        film.removeFromCast(at: 0)
        #expect(film.cast.map(\.name) == ["Sigourney"])
        film.replaceCast(at: 0, with: second)
        film.replaceCast(at: 0, with: second)
        #expect(film.cast.map(\.name) == ["Tom"])
        film.addToCast([first])
        film.replaceCast(at: 1, with: second)
        #expect(film.cast.map(\.name) == ["Tom"])
        film.removeFromCast([second])
        #expect(film.cast.isEmpty)
        film.addToCast([second, first])
        try context.save()

        let other = container.newBackgroundContext()
        let found = try #require(try other.fetch(Movie.ratedAboveRequest(LEAST: 4)).first)
        #expect(found.format == Format(height: 720, width: 1280))
        #expect(found.cast.map(\.name) == ["Tom", "Sigourney"] && found.genre == .drama)
        #expect(found.cast.last?.default == "Ripley" && found.cast.last?.friends.first?.name == "Tom")
        #expect(try other.fetch(try Movie.fetchRequest().where { $0.director.name == "Ridley" }).count == 1)
        #expect(try other.fetch(Person.fetchRequest()).count == 3 && other.fetch(Actor.fetchRequest()).count == 2)
        found.rating = 6
        #expect(throws: StrataError.self) { try other.save() }
    }

    @Test func generatedClassesDescribeTheModelOfTheFile() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let file = try XcodeModelBundle(contentsOf: folder.appending(component: "Films.xcdatamodeld")).model()
        let known = try file.managedObjectModel()
        let container = try PersistentContainer(name: "Films", entities: FilmsModel.entities, at: .inMemory)
        let declared = container.managedObjectModel
        for entity in known.entities {
            let other = try #require(declared.entitiesByName[entity.name])
            #expect(Self.bare(other) == Self.bare(entity), "\(entity.name)")
        }
    }

    /// The parts of an entity that determine how objects are stored, checked and found. A composite of a Swift type
    /// gets its elements from the type, and a transient attribute can have any type.
    private static func bare(_ entity: EntityDescription) -> EntityDescription {
        var entity = entity
        entity.editorInfo = [:]
        entity.managedObjectClassName = nil
        entity.indexes = entity.indexes.map { FetchIndexDescription(name: $0.name, elements: $0.elements) }
        entity.properties = entity.properties.map { property in
            switch property {
            case .attribute(var attribute):
                attribute.editorInfo = [:]
                attribute.attributeValueClassName = nil
                attribute.elements = []
                if attribute.isTransient { attribute.type = .undefined }
                return .attribute(attribute)
            case .relationship(var relationship):
                relationship.editorInfo = [:]
                return .relationship(relationship)
            }
        }
        return entity
    }
}
