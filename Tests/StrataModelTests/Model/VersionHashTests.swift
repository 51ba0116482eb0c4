import Foundation
import StrataModel
import Testing

/// What tells versions of an entity apart, and what does not.
struct VersionHashTests {
    private func hash(_ entity: EntityDescription) throws -> Data { entity.versionHash }

    private let film = entity(
        "Film", [attribute("title"), attribute("year", .integer16), toOne("maker", "Maker", inverse: "films")],
        unique: [["title"]])

    @Test func theBytesAreTheSameInEveryProcess() {
        let text = film.versionHash.map { String($0, radix: 16) }.joined(separator: " ")
        #expect(film.versionHash.count == 32)
        #expect(
            text == "bb bc 51 da 49 49 de dd a7 36 6e ad d3 20 2c 57 ea d8 39 fb 7d 2c c1 78 59 e 92 5e 23 69 d5 9c")
    }

    @Test func whatIsStoredChangesIt() throws {
        let variants: [EntityDescription] = [
            entity("Movie", film.properties, unique: [["title"]]), entity("Film", film.properties),
            entity("Film", film.properties, parent: "Thing", unique: [["title"]]),
            entity("Film", film.properties, isAbstract: true, unique: [["title"]]),
            entity("Film", Array(film.properties.dropLast()), unique: [["title"]]),
            entity("Film", film.properties + [attribute("new")], unique: [["title"]]),
            changed(1) { $0.type = .integer32 }, changed(1) { $0.isOptional = true }, changed(1) { $0.name = "y" },
            changed(1) { $0.versionHashModifier = "2" },
            changed(0) { $0.derivationExpression = .keyPath("maker.name") },
            related { $0.isToMany = true }, related { $0.deleteRule = .cascade }, related { $0.inverseName = nil },
            related { $0.destinationEntityName = "Studio" }, related { $0.isOptional = false },
            related { $0.maxCount = 1 }, related { $0.isOrdered = true },
        ]
        let hashes = Set(variants.map(\.versionHash) + [film.versionHash])
        #expect(hashes.count == variants.count + 1)
    }

    @Test func theRestDoesNot() {
        var other = film
        other.properties.reverse()
        other.managedObjectClassName = "Other"
        other.userInfo = ["a": "b"]
        other.renamingIdentifier = "Movie"
        other.indexes = [FetchIndexDescription(name: "i", elements: [FetchIndexElement("year")])]
        other.validationPredicates = [ValidationPredicate(.isNotNil("title"), message: "no")]
        other.properties.append(attribute("mood", transient: true))
        #expect(other.versionHash == film.versionHash)
        let variants = [
            changed(1) { $0.defaultValue = 5 }, changed(1) { $0.validationRules = [.range(minimum: 1, maximum: nil)] },
            changed(1) { $0.userInfo = ["a": "b"] }, changed(1) { $0.renamingIdentifier = "when" },
            changed(1) { $0.valueTransformerName = "T" }, changed(1) { $0.attributeValueClassName = "C" },
            changed(1) { $0.preservesValueInHistoryOnDeletion = true },
        ]
        #expect(variants.allSatisfy { $0.versionHash == film.versionHash })
    }

    @Test func modelsAreComparedByTheirEntities() throws {
        let maker = entity("Maker", [toMany("films", "Film", inverse: "maker")])
        let model = try ManagedObjectModel(entities: [film, maker])
        #expect(
            model.entityVersionHashesByName["Film"] == film.versionHash && model.entityVersionHashesByName.count == 2)
        #expect(
            model.isCompatible(with: try ManagedObjectModel(entities: [maker, changed(1) { $0.defaultValue = 5 }])))
        #expect(!model.isCompatible(with: try ManagedObjectModel(entities: [maker, changed(1) { $0.type = .double }])))
        // An inverse that one side names alone is the model's.
        let short = entity("Maker", [toMany("films", "Film")])
        #expect(model.isCompatible(with: try ManagedObjectModel(entities: [film, short])))
    }

    private func changed(_ index: Int, _ change: (inout AttributeDescription) -> Void) -> EntityDescription {
        var film = film
        if case .attribute(var attribute) = film.properties[index] {
            change(&attribute)
            film.properties[index] = .attribute(attribute)
        }
        return film
    }

    private func related(_ change: (inout RelationshipDescription) -> Void) -> EntityDescription {
        var film = film
        if case .relationship(var relationship) = film.properties[2] {
            change(&relationship)
            film.properties[2] = .relationship(relationship)
        }
        return film
    }
}
