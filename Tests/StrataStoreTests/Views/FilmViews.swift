import Foundation
import StrataModel

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
                ] + extra),
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
        [try byStudio(), byTitleAndYear, films, everything, try byCountry()]
    }

    static func byStudio() throws -> ViewDescription {
        ViewDescription(
            name: "ByStudio", entityName: "Work", where: try FetchPredicate(format: "released == YES AND year != nil"),
            keys: [ViewKey("studio")],
            aggregates: [
                ViewAggregate("works", .count), ViewAggregate("gross", .sum, "gross"),
                ViewAggregate("rating", .sum, "rating"), ViewAggregate("mean", .average, "year"),
                ViewAggregate("titles", .countDistinct, "title"), ViewAggregate("best", .max, "rating"),
            ])
    }

    /// Across to-ones: a change of a studio or country moves the groups of its works.
    static func byCountry() throws -> ViewDescription {
        ViewDescription(
            name: "ByCountry", entityName: "Work", where: try FetchPredicate(format: "studio.stars > 1"),
            keys: [ViewKey("country", keyPath: "studio.country.name"), ViewKey("at", keyPath: "studio.country")],
            aggregates: [
                ViewAggregate("works", .count), ViewAggregate("gross", .sum, "gross"),
                ViewAggregate("stars", .sum, "studio.stars"), ViewAggregate("best", .max, "studio.stars"),
                ViewAggregate("names", .countDistinct, "studio.name"),
            ])
    }

    /// Titles may be longer than a key of LMDB.
    static let byTitleAndYear = ViewDescription(
        name: "ByTitleAndYear", entityName: "Work", keys: [ViewKey("title"), ViewKey("when", keyPath: "year")],
        aggregates: [
            ViewAggregate("works", .count), ViewAggregate("rated", .count, "rating"),
            ViewAggregate("weight", .sum, "weight"), ViewAggregate("first", .min, "shown"),
            ViewAggregate("last", .max, "shown"), ViewAggregate("dearest", .max, "gross"),
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

/// Computes the rows of a view from plain values, by the definition alone.
struct PlainView {
    let view: ViewDescription
    private var groups: [[String]: (keys: [AttributeValue], objects: [[String: AttributeValue]])] = [:]

    init(_ view: ViewDescription, _ objects: [[String: AttributeValue]]) throws {
        self.view = view
        for object in objects where Self.meets(object, view) {
            let keys = view.keys.map { Self.normal(object[$0.keyPath] ?? .null) }
            groups[keys.map { "\($0)" }, default: (keys, [])].objects.append(object)
        }
        if groups.isEmpty, view.keys.isEmpty { groups[[]] = ([], []) }
    }

    /// The two conditions of these tests.
    private static func meets(_ object: [String: AttributeValue], _ view: ViewDescription) -> Bool {
        if view.name == "ByCountry" {
            guard case .integer(let stars)? = object["studio.stars"] else { return false }
            return stars > 1
        }
        return view.predicate == nil || object["released"] == .boolean(true) && object["year", default: .null] != .null
    }

    /// Keys are in the normal form, and there is no negative zero.
    static func normal(_ value: AttributeValue) -> AttributeValue {
        switch value {
        case .string(let text): .string(text.precomposedStringWithCanonicalMapping)
        case .double(let number) where number == 0: .double(0)
        default: value
        }
    }

    /// A text for each row, sorted.
    func rows() throws -> [String] {
        try groups.values.map { group in
            let results = try view.aggregates.map { try Self.result($0, group.objects) }
            return (group.keys + results.map(Self.normal)).map { "\($0)" }.joined(separator: " | ")
        }.sorted()
    }

    private static func result(
        _ aggregate: ViewAggregate, _ objects: [[String: AttributeValue]]
    ) throws -> AttributeValue {
        guard let path = aggregate.keyPath else { return .integer(Int64(objects.count)) }
        let values = objects.compactMap { $0[path] }.filter { !$0.isNull }
        switch aggregate.function {
        case .count: return .integer(Int64(values.count))
        case .countDistinct: return .integer(Int64(Set(values.map { "\(normal($0))" }).count))
        case .min: return values.min { $0.order(to: $1) == .ascending } ?? .null
        case .max: return values.max { $0.order(to: $1) == .ascending } ?? .null
        case .sum: return sum(values, path)
        case .average: return try ValueArithmetic.mean(of: sum(values, path), count: Int64(values.count))
        }
    }

    /// Floating-point numbers are summed from the largest exponent down in 128 bits, which is exact for these tests.
    private static func sum(_ values: [AttributeValue], _ path: String) -> AttributeValue {
        var whole: Int64 = 0
        var decimal = Decimal(0)
        var units: Int128 = 0
        for value in values {
            switch value {
            case .integer(let number): whole += number
            case .decimal(let number): decimal += number
            case .double(let number): units += Int128(number * 0x1p60)
            case .float(let number): units += Int128((Double(number.description) ?? 0) * 0x1p60)
            default: break
            }
        }
        switch path {
        case "gross": return .decimal(decimal)
        case "rating", "weight": return .double(scalbn(Double(units), -60))
        default: return .integer(whole)
        }
    }
}
