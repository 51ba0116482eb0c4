import StrataModel
import Testing

struct InverseTests {
    private func inverses(_ entities: EntityDescription...) throws -> [String: String] {
        let model = try ManagedObjectModel(entities: entities)
        var found: [String: String] = [:]
        for entity in model.entities {
            for case .relationship(let relationship) in entity.properties {
                found["\(entity.name).\(relationship.name)"] = relationship.inverseName
            }
        }
        return found
    }

    @Test func theSideThatNamesNoInverseGetsIt() throws {
        #expect(
            try inverses(
                entity("Movie", [toOne("owner", "Person")]),
                entity("Person", [toMany("movies", "Movie", inverse: "owner")]))
                == ["Movie.owner": "movies", "Person.movies": "owner"])
    }

    @Test func relationshipCanBeItsOwnInverse() throws {
        #expect(
            try inverses(
                entity("A", [toOne("spouse", "A", inverse: "spouse"), toMany("friends", "A", inverse: "friends")]))
                == ["A.spouse": "spouse", "A.friends": "friends"])
    }

    @Test func treeWithinOneEntityResolves() throws {
        #expect(
            try inverses(
                entity("A", [toOne("parent", "A"), toMany("children", "A", inverse: "parent", ordered: true)]))
                == ["A.parent": "children", "A.children": "parent"])
    }

    @Test func bothSidesCanBeOrdered() throws {
        #expect(
            try inverses(
                entity("A", [toMany("bs", "B", inverse: "as", ordered: true)]),
                entity("B", [toMany("as", "A", ordered: true)]))
                == ["A.bs": "as", "B.as": "bs"])
    }

    @Test func inverseMayBeInherited() throws {
        #expect(
            try inverses(
                entity("Media", [toOne("owner", "Person")], isAbstract: true), entity("Movie", parent: "Media"),
                entity("Person", [toMany("movies", "Movie", inverse: "owner")]))
                == ["Media.owner": "movies", "Person.movies": "owner"])
    }

    @Test func missingInverseIsRefusedUnlessSaid() {
        #expect(problems(entity("A", [toOne("x", "A")])).count == 1)
        #expect(problems(entity("A", [toOne("x", "A", alone: true), toMany("y", "A", alone: true)])).isEmpty)
        #expect(
            problems(entity("A", [toOne("x", "A", inverse: "x", alone: true)])) == [
                "A.x names the inverse x and says that it has none."
            ])
    }

    @Test func badInversesAreRefused() {
        #expect(
            problems(entity("A", [toOne("x", "B", inverse: "y")]), entity("B")) == [
                "A.x names an unknown inverse, B.y."
            ])
        #expect(
            problems(entity("A", [toOne("x", "B", inverse: "y")]), entity("B", [attribute("y")])) == [
                "A.x names an inverse that is not a relationship, B.y."
            ])
        #expect(
            problems(
                entity("A", [toOne("x", "B", inverse: "y")]), entity("B", [toOne("y", "C", alone: true)]), entity("C"))
                == ["A.x cannot be the inverse of B.y, which leads to C."])
        #expect(
            problems(entity("A", [toOne("x", "B", inverse: "y")]), entity("B", [toOne("y", "A", alone: true)])) == [
                "A.x names the inverse B.y, which says that it has none."
            ])
    }

    @Test func sidesThatDisagreeAreRefused() {
        #expect(
            problems(
                entity("A", [toOne("x", "B", inverse: "y"), toOne("z", "B", inverse: "y")]),
                entity("B", [toOne("y", "A", inverse: "z")])) == [
                    "A.x names the inverse B.y, whose inverse is A.z."
                ])
        #expect(
            problems(
                entity("A", [toOne("x", "B", inverse: "y"), toOne("z", "B", inverse: "y")]),
                entity("B", [toOne("y", "A")])) == ["B.y is named as inverse by A.x and A.z."])
    }

    @Test func storedAndTransientSidesDoNotMix() {
        var transient = RelationshipDescription(name: "y", destinationEntityName: "A", isTransient: true)
        #expect(
            problems(entity("A", [toOne("x", "B", inverse: "y")]), entity("B", [.relationship(transient)])).count == 1)
        transient.hasNoInverse = true
        #expect(problems(entity("A"), entity("B", [.relationship(transient)])).isEmpty)
    }
}
