import Foundation
import StrataModel
import StrataStore

/// Works of two entities under an abstract parent, and views of them.
enum FilmViews {
    static func entities(extra: [PropertyDescription] = []) -> [EntityDescription] {
        [
            EntityDescription(
                name: "Work", isAbstract: true,
                properties: [
                    .attribute(AttributeDescription(name: "title", type: .string, isOptional: true)),
                    .attribute(AttributeDescription(name: "year", type: .integer32, isOptional: true)),
                    .attribute(AttributeDescription(name: "gross", type: .decimal, isOptional: true)),
                    .attribute(AttributeDescription(name: "rating", type: .double, isOptional: true)),
                    .attribute(AttributeDescription(name: "weight", type: .float, isOptional: true)),
                    .attribute(AttributeDescription(name: "shown", type: .date, isOptional: true)),
                    .attribute(
                        AttributeDescription(name: "released", type: .boolean, defaultValue: .boolean(false))),
                    .relationship(
                        RelationshipDescription(
                            name: "studio", destinationEntityName: "Studio", inverseName: "works")),
                    .relationship(
                        RelationshipDescription(
                            name: "tags", destinationEntityName: "Tag", inverseName: "works", isToMany: true)),
                ] + extra),
            EntityDescription(
                name: "Tag",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string, isOptional: true)),
                    .relationship(
                        RelationshipDescription(
                            name: "works", destinationEntityName: "Work", inverseName: "tags", isToMany: true)),
                ]),
            EntityDescription(name: "Film", superentityName: "Work"),
            EntityDescription(
                name: "Series", superentityName: "Film",
                properties: [.attribute(AttributeDescription(name: "episodes", type: .integer16, isOptional: true))]),
            EntityDescription(
                name: "Studio",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string)),
                    .attribute(AttributeDescription(name: "stars", type: .integer32, isOptional: true)),
                    .relationship(
                        RelationshipDescription(
                            name: "country", destinationEntityName: "Country", hasNoInverse: true)),
                    .relationship(
                        RelationshipDescription(
                            name: "works", destinationEntityName: "Work", inverseName: "studio", isToMany: true)),
                ]),
            EntityDescription(
                name: "Country",
                properties: [.attribute(AttributeDescription(name: "name", type: .string, isOptional: true))]),
        ]
    }

    static func all() throws -> [ViewDescription] {
        bag().register()
        return [
            try byStudio(), byTitleAndYear, films, everything, try byCountry(), byTime, byHour, ranks, bags, byTag,
            byWork,
        ]
    }

    /// A row for each tag and year: members of a many-to-many.
    static let byTag = ViewDescription(
        name: "ByTag", entityName: "Work", keys: [ViewKey("tags"), ViewKey("year")],
        aggregates: [
            ViewAggregate("works", .count), ViewAggregate("gross", .sum, "gross"),
            ViewAggregate("stars", .sum, "studio.stars"), ViewAggregate("best", .max, "rating"),
            ViewAggregate("titles", .countDistinct, "title"), ViewAggregate("newest", .last, "title", by: "shown"),
            ViewAggregate("bag", ProjectionReference("FilmViews.Bag", inputs: ["title"])),
        ],
        orders: [
            ViewOrder([SortDescription("tags"), SortDescription("works", isAscending: false)]),
            ViewOrder("gross", isRanked: true),
        ])

    /// Members whose truth is a to-one at their end.
    static let byWork = ViewDescription(
        name: "ByWork", entityName: "Studio", keys: [ViewKey("work", keyPath: "works")],
        aggregates: [ViewAggregate("studios", .count), ViewAggregate("stars", .sum, "stars")])

    /// A column that a type of the app makes.
    static let bags = ViewDescription(
        name: "Bags", entityName: "Work", where: nil, keys: [ViewKey("year")],
        aggregates: [
            ViewAggregate("works", .count),
            ViewAggregate("bag", ProjectionReference("FilmViews.Bag", inputs: ["title", "gross", "studio.name"])),
            ViewAggregate("best", .max, "rating"),
        ], orders: [ViewOrder("works")])

    /// Counts how often each combination of values is there. It refuses the title "(".
    static func bag(_ name: String = "FilmViews.Bag") -> ProjectionCode {
        ProjectionCode(name) { before, changes in
            var counts: [String: AttributeValue] = [:]
            if case .composite(let known)? = before { counts = known }
            for change in changes {
                if change.values[0] == .string("("), !change.isRemoval {
                    throw ProjectionFault(object: change.object, reason: "a parenthesis")
                }
                let key = bagKey(change.values)
                var count: Int64 = 0
                if case .integer(let known)? = counts[key] { count = known }
                count += change.isRemoval ? -1 : 1
                guard count >= 0 else { throw ProjectionFault(object: change.object, reason: "it is not there") }
                counts[key] = count == 0 ? nil : .integer(count)
            }
            return .composite(counts)
        }
    }

    static func bagKey(_ values: [AttributeValue]) -> String { values.map { "\($0)" }.joined(separator: ", ") }

    static func byStudio() throws -> ViewDescription {
        ViewDescription(
            name: "ByStudio", entityName: "Work", where: try FetchPredicate(format: "released == YES AND year != nil"),
            keys: [ViewKey("studio")],
            aggregates: [
                ViewAggregate("works", .count), ViewAggregate("gross", .sum, "gross"),
                ViewAggregate("rating", .sum, "rating"), ViewAggregate("mean", .average, "year"),
                ViewAggregate("titles", .countDistinct, "title"), ViewAggregate("best", .max, "rating"),
            ],
            orders: [
                ViewOrder("gross", isAscending: false, isRanked: true), ViewOrder("mean"),
                ViewOrder([SortDescription("titles", isAscending: false), SortDescription("best")]),
            ])
    }

    /// Parts of dates and buckets of numbers as keys; first and last objects.
    static let byTime = ViewDescription(
        name: "ByTime", entityName: "Work",
        keys: [
            ViewKey("y", keyPath: "shown", function: .calendar(.year, timeZone: "Europe/Berlin")),
            ViewKey("m", keyPath: "shown", function: .calendar(.month, timeZone: "Europe/Berlin")),
            ViewKey("years", keyPath: "year", function: .bucket(width: 2)),
            ViewKey("prices", keyPath: "gross", function: .bucket(width: 100)),
        ],
        aggregates: [
            ViewAggregate("works", .count), ViewAggregate("first", .first, "title", by: "shown"),
            ViewAggregate("best", .last, by: "rating"),
            ViewAggregate("newest", .last, "studio.name", by: "year", limit: 3),
            ViewAggregate("oldest", .first, by: "studio.stars", limit: 2),
        ],
        orders: [ViewOrder("works"), ViewOrder([SortDescription("m"), SortDescription("works", isAscending: false)])])

    /// Each work among those of its studio and among all.
    static let ranks = ViewDescription(
        name: "Ranks", entityName: "Work", keys: [ViewKey("studio"), ViewKey("work", keyPath: "SELF")],
        aggregates: [ViewAggregate("rating", .max, "rating"), ViewAggregate("year", .min, "year")],
        orders: [
            ViewOrder([SortDescription("studio"), SortDescription("rating", isAscending: false)], isRanked: true),
            ViewOrder("rating", isRanked: true), ViewOrder("year"),
        ])

    /// Further parts of dates and buckets.
    static let byHour = ViewDescription(
        name: "ByHour", entityName: "Work",
        keys: [
            ViewKey("d", keyPath: "shown", function: .calendar(.day, timeZone: "America/New_York")),
            ViewKey("h", keyPath: "shown", function: .calendar(.hour, timeZone: "America/New_York")),
            ViewKey("ratings", keyPath: "rating", function: .bucket(width: 0.25)),
        ], aggregates: [ViewAggregate("works", .count)])

    /// Across to-ones: a change of a studio or country moves the groups of its works.
    static func byCountry() throws -> ViewDescription {
        ViewDescription(
            name: "ByCountry", entityName: "Work", where: try FetchPredicate(format: "studio.stars > 1"),
            keys: [ViewKey("country", keyPath: "studio.country.name"), ViewKey("at", keyPath: "studio.country")],
            aggregates: [
                ViewAggregate("works", .count), ViewAggregate("gross", .sum, "gross"),
                ViewAggregate("stars", .sum, "studio.stars"), ViewAggregate("best", .max, "studio.stars"),
                ViewAggregate("names", .countDistinct, "studio.name"),
            ], orders: [ViewOrder([SortDescription("at"), SortDescription("stars", isAscending: false)])])
    }

    /// Titles may be longer than a key of LMDB.
    static let byTitleAndYear = ViewDescription(
        name: "ByTitleAndYear", entityName: "Work", keys: [ViewKey("title"), ViewKey("when", keyPath: "year")],
        aggregates: [
            ViewAggregate("works", .count), ViewAggregate("rated", .count, "rating"),
            ViewAggregate("weight", .sum, "weight"), ViewAggregate("first", .min, "shown"),
            ViewAggregate("last", .max, "shown"), ViewAggregate("dearest", .max, "gross"),
        ],
        orders: [
            ViewOrder("works", isAscending: false), ViewOrder([SortDescription("when"), SortDescription("weight")]),
            ViewOrder("last"),
        ])

    static let films = ViewDescription(
        name: "Films", entityName: "Film", keys: [ViewKey("rating")],
        aggregates: [ViewAggregate("works", .count), ViewAggregate("oldest", .min, "year")], includesSubentities: false)

    static let everything = ViewDescription(
        name: "Everything", entityName: "Work",
        aggregates: [
            ViewAggregate("works", .count), ViewAggregate("years", .sum, "year"),
            ViewAggregate("mean", .average, "gross"), ViewAggregate("ratings", .countDistinct, "rating"),
            ViewAggregate("worst", .min, "rating"),
        ])

    static func model(_ views: [ViewDescription]? = nil, extra: [PropertyDescription] = []) throws
        -> ManagedObjectModel
    {
        try ManagedObjectModel(entities: entities(extra: extra)).adding(views: try views ?? all())
    }
}
