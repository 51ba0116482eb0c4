import StrataModel

/// Movies with three indexes and an owner, and owners whose movies go with them.
enum CountModel {
    static func make() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Movie",
                properties: [
                    .attribute(AttributeDescription(name: "title", type: .string)),
                    .attribute(AttributeDescription(name: "year", type: .integer32)),
                    .attribute(AttributeDescription(name: "rating", type: .double)),
                    .attribute(AttributeDescription(name: "votes", type: .integer32)),
                    .relationship(
                        RelationshipDescription(
                            name: "owner", destinationEntityName: "Owner", inverseName: "movies")),
                ],
                indexes: ["title", "year", "rating"].map {
                    FetchIndexDescription(name: "by_\($0)", elements: [FetchIndexElement($0)])
                }),
            EntityDescription(
                name: "Owner",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string)),
                    .relationship(
                        RelationshipDescription(
                            name: "movies", destinationEntityName: "Movie", inverseName: "owner", isToMany: true,
                            deleteRule: .cascade)),
                ]),
        ])
    }
}
