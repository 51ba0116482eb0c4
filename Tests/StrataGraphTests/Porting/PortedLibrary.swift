import Foundation
import StrataGraph
import StrataModel

/// A library with every kind of relationship: one-to-many, many-to-many, ordered, one-to-one, and those of an entity
/// with itself. Its names say which object is which.
enum PortedLibrary {
    static var entities: [EntityDescription] {
        [
            EntityDescription(
                name: "Person", isAbstract: true,
                properties: [
                    Porting.attribute("name", .string), Porting.attribute("age", .integer16),
                    Porting.attribute("born", .date),
                ]),
            EntityDescription(
                name: "Author", superentityName: "Person",
                properties: [
                    Porting.attribute("email", .string), Porting.attribute("score", .double),
                    Porting.attribute("active", .boolean, isOptional: false, default: .boolean(true)),
                    Porting.attribute("level", .integer16, isOptional: false, default: .integer(0)),
                    Porting.attribute("key", .uuid), Porting.attribute("cash", .decimal),
                    Porting.attribute("ratio", .float), Porting.many("books", "Book", "author", .cascade),
                    Porting.many("favourites", "Book", "fans"),
                    Porting.many("shelf", "Book", "shelver", isOrdered: true),
                    Porting.many("friends", "Author", "friends"), Porting.one("spouse", "Author", "spouse"),
                    Porting.one("mentor", "Author", "pupils"), Porting.many("pupils", "Author", "mentor"),
                    Porting.one("card", "Card", "holder", .cascade),
                ]),
            EntityDescription(
                name: "Novelist", superentityName: "Author", properties: [Porting.attribute("prize", .string)]),
            EntityDescription(
                name: "Reader", superentityName: "Person",
                properties: [
                    Porting.attribute("visits", .integer32, isOptional: false, default: .integer(0)),
                    Porting.many("loans", "Book", "reader"),
                ]),
            EntityDescription(
                name: "Book",
                properties: [
                    Porting.attribute("name", .string, isOptional: false, default: .string("")),
                    Porting.attribute("pages", .integer32, isOptional: false, default: .integer(0)),
                    Porting.attribute("price", .decimal), Porting.attribute("stars", .float),
                    Porting.attribute("published", .date),
                    Porting.attribute("genre", .integer16, isOptional: false, default: .integer(0)),
                    Porting.attribute("big", .integer64), Porting.one("author", "Author", "books"),
                    Porting.many("fans", "Author", "favourites"), Porting.one("shelver", "Author", "shelf"),
                    Porting.one("reader", "Reader", "loans"),
                ]),
            EntityDescription(
                name: "Card",
                properties: [Porting.attribute("name", .string), Porting.one("holder", "Author", "card")]),
        ]
    }

    static let newYear = Date(timeIntervalSince1970: 946_684_800)
    static let key = "11111111-1111-1111-1111-111111111111"

    /// Makes the objects, unsaved. `pages` is what each book has for every hundred pages of its own.
    @discardableResult
    static func fill(_ context: ManagedObjectContext, pages: Int = 100) throws -> [String: ManagedObject] {
        var made: [String: ManagedObject] = [:]
        func make(_ entity: String, _ name: String, _ values: [String: Any]) throws {
            let object = try context.insertNewObject(forEntityName: entity)
            try object.setValue(name, forKey: "name")
            for (key, value) in values { try object.setValue(value, forKey: key) }
            made[name] = object
        }
        func set(_ name: String, _ key: String, _ targets: String...) throws {
            let objects = targets.compactMap { made[$0] }
            let isOne = ["author", "mentor", "spouse"].contains(key)
            try made[name]?.setValue(isOne ? objects[0] as Any : objects, forKey: key)
        }
        try make(
            "Author", "Ann",
            [
                "age": 30, "born": newYear, "email": "ann@x.org", "score": 1.5, "level": 1,
                "key": UUID(uuidString: key) as Any, "cash": 10.25 as Decimal, "ratio": Float(0.1),
            ])
        try make("Author", "bob", ["age": 25, "active": false, "score": 2.5, "level": 2, "cash": 3 as Decimal])
        try make(
            "Author", "Çelik",
            ["born": newYear.addingTimeInterval(86_400), "email": "CE@x.org", "score": -1.0, "level": 1])
        try make("Novelist", "Dora", ["age": 60, "prize": "Nobel", "email": "", "level": 3])
        try make("Reader", "Rita", ["age": 25, "visits": 7])
        for (index, name) in ["Alpha", "Beta", "Gamma", "Delta", "alphabet", "Été"].enumerated() {
            try make(
                "Book", name,
                [
                    "pages": (index + 1) * pages, "stars": Float(index) / 2, "genre": index % 3,
                    "published": newYear.addingTimeInterval(Double(index) * 86_400), "big": index * 5_000_000_000,
                ])
            if index != 2 { try made[name]?.setValue(Decimal(index) + 0.5, forKey: "price") }
        }
        for (book, author) in [("Alpha", "Ann"), ("Beta", "Ann"), ("Gamma", "bob"), ("Delta", "Dora")] {
            try set(book, "author", author)
        }
        try set("Ann", "favourites", "Gamma", "Delta")
        try set("bob", "favourites", "Gamma")
        try set("Dora", "shelf", "Gamma", "Alpha", "Beta")
        for (pupil, mentor) in [("bob", "Ann"), ("Çelik", "Ann"), ("Dora", "bob")] { try set(pupil, "mentor", mentor) }
        try set("Ann", "spouse", "bob")
        try set("Ann", "friends", "bob", "Çelik")
        try set("Rita", "loans", "Alpha")
        return made
    }
}
