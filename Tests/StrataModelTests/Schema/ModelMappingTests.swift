import StrataModel
import Testing

/// The mapping that is inferred from one model to another.
struct ModelMappingTests {
    @Test func namesRenamingsAndChangesAreMapped() throws {
        let old = try ManagedObjectModel(entities: [
            entity("Film", [attribute("title"), attribute("year", .integer16), attribute("note", optional: true)]),
            entity("Gone", [attribute("x")]), entity("Same", [attribute("x")]),
        ])
        let new = try ManagedObjectModel(entities: [
            entity("Same", [attribute("x")]),
            entity(
                "Movie",
                [
                    attribute("name", renamedFrom: "title"), attribute("year", .double),
                    attribute("stars", .integer16, optional: true),
                ], renamedFrom: "Film"),
            entity("Fresh", [attribute("y", optional: true)]),
        ])
        let mapping = try ModelMapping(from: old, to: new)
        #expect(mapping.entities.map(\.kind) == [.copied, .transformed, .added, .removed])
        #expect(mapping.entities.map(\.sourceName) == ["Same", "Film", nil, "Gone"])
        #expect(mapping.entities.map(\.destinationName) == ["Same", "Movie", "Fresh", nil])
        let movie = mapping.entities[1]
        #expect(movie.properties.map(\.destinationName) == ["name", "year", "stars", nil])
        #expect(movie.properties.map(\.sourceName) == ["title", "year", nil, "note"])
        #expect(movie.changes.contains("Movie.title is now called name."))
        #expect(movie.description.hasPrefix("Film -> Movie: transformed\n  "))
        #expect(mapping.entities[0].changes.isEmpty && mapping.entities[0].work == .none)
        #expect(
            mapping.entities[0].description == "Same: copied"
                && mapping.entities[3].description.hasPrefix("Gone: removed"))
        #expect(try ModelMapping(from: new, to: new).entities.allSatisfy { $0.kind == .copied })
    }
}
