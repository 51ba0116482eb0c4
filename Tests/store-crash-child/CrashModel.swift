import StrataModel
import StrataTestSupport

enum CrashModel {
    static func make(extras: Int = 0) throws -> ManagedObjectModel {
        let names = (1..<extras + 1).map { "extra\($0)" }
        return try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Movie",
                properties: [
                    .attribute(AttributeDescription(name: "number", type: .integer64)),
                    .attribute(AttributeDescription(name: "rating", type: .double, defaultValue: .double(0))),
                    .attribute(
                        AttributeDescription(
                            name: "picture", type: .binaryData, isOptional: true,
                            allowsExternalBinaryDataStorage: true)),
                    .relationship(
                        RelationshipDescription(
                            name: "tags", destinationEntityName: "Tag", inverseName: "movies", isToMany: true)),
                    .relationship(
                        RelationshipDescription(
                            name: "owner", destinationEntityName: "Tag", inverseName: "owned")),
                ] + names.map { .attribute(AttributeDescription(name: $0, type: .string, isOptional: true)) },
                indexes: [FetchIndexDescription(name: "byRating", elements: [FetchIndexElement("rating")])]
                    + names.map { FetchIndexDescription(name: "by_\($0)", elements: [FetchIndexElement($0)]) },
                uniquenessConstraints: [["number"]]),
            EntityDescription(
                name: "Tag",
                properties: [
                    .attribute(AttributeDescription(name: "label", type: .string)),
                    .relationship(
                        RelationshipDescription(
                            name: "movies", destinationEntityName: "Movie", inverseName: "tags", isToMany: true,
                            isOrdered: true)),
                    .relationship(
                        RelationshipDescription(
                            name: "owned", destinationEntityName: "Movie", inverseName: "owner", isToMany: true)),
                ]),
        ])
    }

    /// With views of the movies, whose definitions and ways to be kept change with the version.
    static func withViews(_ version: Int) throws -> ManagedObjectModel {
        var byOwner = ViewDescription(
            name: "ByOwner", version: version, entityName: "Movie",
            keys: [ViewKey("owner", keyPath: version % 2 == 0 ? "owner.label" : "owner")],
            aggregates: [
                ViewAggregate("movies", .count), ViewAggregate("last", .max, "number"), CountedNumbers.column,
            ], orders: [ViewOrder("movies", isAscending: false)])
        var all = ViewDescription(
            name: "All", version: version / 2 + 1, entityName: "Movie", aggregates: [ViewAggregate("movies", .count)])
        if version % 5 == 0 { byOwner.upkeep = .catchingUp }
        if version % 4 == 0 { all.upkeep = .catchingUp }
        return try make().adding(views: [byOwner, all])
    }

    static func extras(of schema: Schema) -> Int {
        schema.entity(named: "Movie")?.properties.count { $0.name.hasPrefix("extra") } ?? 0
    }
}
