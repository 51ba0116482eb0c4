import Foundation
import Strata
import Testing

/// The model that comes of the classes is the one they declare.
@Suite struct DeclaredModelTests {
    private let container: PersistentContainer

    init() throws { container = try makeContainer() }

    @Test func entitiesAreNamedAfterTheirClasses() {
        #expect(Movie.entityName == "Movie" && Cinema.Hall.entityName == "Hall")
        let names = container.managedObjectModel.entities.map(\.name)
        #expect(Set(names) == Set(everyEntity.map { $0.entityName } + ["Person", "Employee"]))
    }

    @Test func propertiesStandInTheOrderOfTheirDeclaration() throws {
        let movie = try container.entity("Movie").properties.map(\.name)
        #expect(movie == ["title", "rating", "familyMember"])
        let tie = try container.entity("BowTie").properties.map(\.name)
        #expect(
            tie == [
                "name", "isFavorite", "lastWorn", "rating", "searchKey", "timesWorn", "id", "url", "photoData",
                "tintColor",
            ])
    }

    @Test(
        arguments: [
            ("text", AttributeType.string, false, AttributeValue.string("none")),
            ("flag", .boolean, false, .boolean(true)), ("small", .integer16, false, .integer(-16)),
            ("medium", .integer32, false, .integer(32)), ("large", .integer64, false, .integer(64)),
            ("plain", .integer64, false, .integer(1000)), ("single", .float, false, .float(0.5)),
            ("double", .double, false, .double(-2)), ("money", .decimal, false, .decimal(1.25)),
            ("date", .date, false, .date(Date(timeIntervalSinceReferenceDate: 86_400))), ("uuid", .uuid, true, nil),
            ("url", .uri, true, nil), ("data", .binaryData, false, .data(Data([1, 2, 3]))),
            ("reference", .objectID, true, nil), ("mood", .string, false, .string("calm")),
            ("moodOrNil", .string, true, nil), ("priority", .integer16, true, .integer(2)),
            ("placeOrNil", .composite, true, nil), ("spelledOut", .integer64, true, .integer(3)),
            ("unwrapped", .string, true, nil), ("default", .boolean, false, .boolean(false)),
            ("internal", .integer64, true, nil), ("counter", .integer64, false, .integer(0)),
            ("secret", .string, true, nil),
        ] as [(String, AttributeType, Bool, AttributeValue?)])
    func typesOptionalityAndDefaultsAreThoseOfTheVariable(
        name: String, type: AttributeType, isOptional: Bool, initial: AttributeValue?
    ) throws {
        let attribute = try container.attribute("Kinds", name)
        #expect(attribute.type == type)
        #expect(attribute.isOptional == isOptional)
        #expect(attribute.defaultValue == initial)
    }

    @Test func codableTypesAreComposites() throws {
        for name in ["place", "placeOrNil", "words"] {
            #expect(try container.attribute("Kinds", name).type == .composite)
        }
        #expect(try container.attribute("Kinds", "place").defaultValue != nil)
        #expect(try container.attribute("Kinds", "words").defaultValue != nil)
    }

    @Test func whatIsNotStoredIsNotInTheModel() throws {
        let names = try container.entity("Kinds").properties.map(\.name)
        #expect(names.count == 28)
        #expect(Set(names).isDisjoint(with: ["outside", "expensive", "shout", "limit", "hidden"]))
    }

    @Test func transformableAndTransientAttributesSaySo() throws {
        let tint = try container.attribute("BowTie", "tintColor")
        #expect(tint.type == .transformable && tint.isOptional && tint.valueTransformerName == "TieColor")
        let scratch = try container.attribute("Kinds", "scratch")
        #expect(scratch.isTransient && scratch.isOptional)
    }

    @Test func rulesAreKept() throws {
        let rating = try container.attribute("Movie", "rating").validationRules
        #expect(rating == [.range(minimum: .double(0), maximum: .double(5))])
        let nickname = try container.attribute("Person", "nickname").validationRules
        #expect(nickname == [.length(minimum: nil, maximum: 10), .pattern("[a-z]*")])
        let salary = try container.attribute("Employee", "salary").validationRules
        #expect(salary == [.range(minimum: .decimal(0), maximum: nil)])
    }

    @Test func storageNamesAndHashesAreKept() throws {
        #expect(try container.attribute("BowTie", "photoData").allowsExternalBinaryDataStorage)
        #expect(try container.attribute("Photo", "dateTaken").preservesValueInHistoryOnDeletion)
        let width = try container.attribute("Kinds", "width")
        #expect(width.renamingIdentifier == "old" && width.versionHashModifier == "2")
        #expect(width.userInfo == ["unit": "m"])
    }

    @Test func indexesAndConstraintsAreKept() throws {
        let movie = try container.entity("Movie").indexes
        #expect(movie.map { $0.elements.map(\.propertyPath) } == [["title"]])
        let photo = try container.entity("Photo")
        #expect(Set(photo.indexes.map { $0.elements.map(\.propertyPath) }) == [["dateTaken"], ["dateTaken", "title"]])
        #expect(photo.uniquenessConstraints == [["photoID"]])
        #expect(photo.userInfo == ["app": "Photorama"])
        let nickname = try container.entity("Person").indexes.first?.elements.first
        #expect(nickname == FetchIndexElement("nickname", folding: .caseInsensitive))
    }

    @Test func subclassesAreSubentities() throws {
        let person = try container.entity("Person")
        #expect(person.isAbstract && person.superentityName == nil)
        #expect(person.uniquenessConstraints == [["firstName", "lastName"]])
        let employee = try container.entity("Employee")
        #expect(employee.superentityName == "Person" && !employee.isAbstract)
        #expect(employee.properties.map(\.name) == ["salary", "manager"])
        let manager = try container.entity("Manager")
        #expect(manager.superentityName == "Employee" && manager.renamingIdentifier == "Boss")
        #expect(manager.properties.map(\.name) == ["reports", "title"])
        #expect(manager.uniquenessConstraints.isEmpty && manager.indexes.isEmpty)
    }

    @Test(arguments: [
        ("Movie", "familyMember", "FamilyMember", "favoriteMovies", false),
        ("FamilyMember", "favoriteMovies", "Movie", "familyMember", true),
        ("Node", "parent", "Node", "children", false), ("Node", "children", "Node", "parent", true),
        ("Song", "playlists", "Playlist", "songs", true), ("Playlist", "songs", "Song", "playlists", true),
        ("Rock", "scissors", "Scissors", "rock", false), ("Rock", "paper", "Paper", "rock", false),
        ("Scissors", "paper", "Paper", "scissors", false), ("Scissors", "rock", "Rock", "scissors", false),
        ("Paper", "rock", "Rock", "paper", false), ("Paper", "scissors", "Scissors", "paper", false),
        ("Employee", "manager", "Manager", "reports", false), ("Manager", "reports", "Employee", "manager", true),
        ("Hall", "seats", "Seat", "hall", true), ("Seat", "hall", "Hall", "seats", false),
    ])
    func inversesAreKnownAtBothEnds(
        entity: String, name: String, destination: String, inverse: String, isToMany: Bool
    ) throws {
        let relationship = try container.relationship(entity, name)
        #expect(relationship.destinationEntityName == destination)
        #expect(relationship.inverseName == inverse)
        #expect(relationship.isToMany == isToMany)
    }

    @Test func relationshipsKeepWhatIsSaidOfThem() throws {
        #expect(try container.relationship("FamilyMember", "favoriteMovies").deleteRule == .cascade)
        #expect(try container.relationship("Movie", "familyMember").deleteRule == .nullify)
        let reports = try container.relationship("Manager", "reports")
        #expect(reports.isOrdered && reports.maxCount == 12 && reports.deleteRule == .deny)
        let children = try container.relationship("Node", "children")
        #expect(children.isOrdered && children.deleteRule == .cascade)
        #expect(try container.relationship("Playlist", "cover").hasNoInverse)
        #expect(try !container.relationship("Seat", "hall").isOptional)
    }

    @Test func aRequiredToManyNeedsAMemberUnlessItsMinimumIsNone() throws {
        let model = try PersistentContainer(name: "Toolbox", entities: [Toolbox.self], at: .inMemory).managedObjectModel
        let relationships = try #require(model.entitiesByName["Toolbox"]).relationshipsByName
        #expect(relationships.mapValues(\.minCount) == ["needed": 1, "possible": 0, "several": 2])
        #expect(relationships.values.allSatisfy { !$0.isOptional })
    }
}

@Entity private final class Toolbox: ManagedObject {
    @Relationship(.required, .noInverse) var needed: ToMany<Toolbox>
    @Relationship(.required, .minCount(0), .noInverse) var possible: ToMany<Toolbox>
    @Relationship(.minCount(2), .required, .noInverse) var several: ToMany<Toolbox>
}
