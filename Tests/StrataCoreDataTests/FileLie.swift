import StrataCoreData
import StrataCoreDataFixtures
import StrataTestSupport

/// A change of a sound file that makes it say something that is not so, and the fault that must name it.
struct FileLie {
    let statements: [String]
    let kind: CoreDataFault.Kind
    let entity: String
    let key: Int64?
    let property: String?
    /// Whether something of the file cannot come over as it is, so that the comparison must differ.
    var isLoss = true

    func isNamed(by fault: CoreDataFault) -> Bool {
        fault.kind == kind && fault.entityName == entity && fault.key == key && fault.property == property
            && !fault.sentence.isEmpty && !fault.outcome.isEmpty
    }

    // MARK: The sound file

    /// Authors with portraits, works of both kinds in the authors' lists, tags in the works' lists.
    static func soundFile() -> CoreDataFixture {
        let people = (10..<14).flatMap { key in
            [
                "INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZPORTRAIT, ZNAME) VALUES (\(key), 1, 1, \(key), 'A \(key)')",
                "INSERT INTO ZPORTRAIT (Z_PK, Z_ENT, Z_OPT, ZAUTHOR, ZIMAGE) VALUES (\(key), 2, 1, \(key), x'01FF')",
                "INSERT INTO ZTAG VALUES (\(key), 3, 1, 'tag \(key)')",
            ]
        }
        let works = (10..<26).flatMap { key in
            [
                """
                INSERT INTO ZWORK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPAGES, ZCOPIES, ZWORDS, ZISLENT, ZAUTHOR, Z_FOK_AUTHOR,
                ZBOUGHT, ZPRICE, ZWEIGHT, ZRATING, ZPAGE, ZCODE, ZSHAPE) VALUES (\(key), \(5 + key % 2), 1,
                'Work \(key)', \(key), \(key), \(key), \(key % 2), \(10 + key % 4), \(key * 1024), \(key), '1.5', 0.5,
                0.25, 'https://example.org/\(key)', x'00112233445566778899AABBCCDDEEFF', x'FF')
                """,
                "INSERT INTO Z_3WORKS VALUES (\(10 + key % 3), \(key), 1), (13, \(key), 2)",
            ]
        }
        return LibraryFile.fixture(moreRows: people + works)
    }

    // MARK: Lies

    static func random(_ generator: inout SeededGenerator) -> FileLie {
        let makers = [oneSided, place, tagPlace, entityOfOne, entityOfSeveral, value, key, link, missing, stray, twice]
        return makers[Int.random(in: 0..<makers.count, using: &generator)](&generator)
    }

    private static func work(_ generator: inout SeededGenerator) -> (key: Int64, entity: String) {
        let key = Int64.random(in: 10..<26, using: &generator)
        return (key, key % 2 == 0 ? "Novel" : "Poem")
    }

    private static func oneSided(_ generator: inout SeededGenerator) -> FileLie {
        let key = Int64.random(in: 10..<14, using: &generator)
        let isAuthor = Bool.random(using: &generator)
        let (table, column) = isAuthor ? ("ZAUTHOR", "ZPORTRAIT") : ("ZPORTRAIT", "ZAUTHOR")
        return FileLie(
            statements: ["UPDATE \(table) SET \(column) = NULL WHERE Z_PK = \(key)"], kind: .oneSidedLink,
            entity: isAuthor ? "Author" : "Portrait", key: key, property: isAuthor ? "portrait" : "author")
    }

    private static let places = ["NULL", "'first'", "x'00'", "1 << 60", "-(1 << 50)", "1.5"]

    private static func place(_ generator: inout SeededGenerator) -> FileLie {
        let (key, entity) = work(&generator)
        // The place of the next work of the same author, or none. Of two in a place the greater key is named.
        let place = places.randomElement(using: &generator) ?? ""
        let other = key < 14 ? key + 4 : key - 4
        let isShared = Bool.random(using: &generator)
        let named = isShared ? max(key, other) : key
        return FileLie(
            statements: [
                "UPDATE ZWORK SET Z_FOK_AUTHOR = \(isShared ? "\(other * 1024)" : place) WHERE Z_PK = \(key)"
            ], kind: .unsoundPlace, entity: isShared ? (named % 2 == 0 ? "Novel" : "Poem") : entity, key: named,
            property: "author", isLoss: false)
    }

    private static func tagPlace(_ generator: inout SeededGenerator) -> FileLie {
        let (key, _) = work(&generator)
        let place = (["2"] + places).randomElement(using: &generator) ?? ""
        // The tag 13 is in the same list at 2, and of two in a place the greater key is named.
        let tag = place == "2" ? 13 : 10 + key % 3
        return FileLie(
            statements: ["UPDATE Z_3WORKS SET Z_FOK_3TAGS = \(place) WHERE Z_3TAGS <> 13 AND Z_4WORKS = \(key)"],
            kind: .unsoundPlace, entity: "Tag", key: tag, property: "works", isLoss: false)
    }

    private static func entityOfOne(_ generator: inout SeededGenerator) -> FileLie {
        let key = Int64.random(in: 10..<14, using: &generator)
        let number = ["0", "99", "4", "-1", "NULL", "'Tag'", "1 << 40", "3.5"].randomElement(using: &generator) ?? ""
        let (table, entity) = Bool.random(using: &generator) ? ("ZTAG", "Tag") : ("ZPORTRAIT", "Portrait")
        return FileLie(
            statements: ["UPDATE \(table) SET Z_ENT = \(number) WHERE Z_PK = \(key)"], kind: .wrongEntity,
            entity: entity, key: key, property: nil, isLoss: false)
    }

    private static func entityOfSeveral(_ generator: inout SeededGenerator) -> FileLie {
        let (key, _) = work(&generator)
        let number = ["0", "99", "4", "NULL", "'Novel'", "5.5"].randomElement(using: &generator) ?? ""
        return FileLie(
            statements: ["UPDATE ZWORK SET Z_ENT = \(number) WHERE Z_PK = \(key)"], kind: .unknownEntity,
            entity: "Work", key: key, property: nil)
    }

    /// By column and property: what cannot come over, and what is read although it is of another type.
    private static let values: [(column: String, property: String, lost: [String], read: [String])] = [
        ("ZPAGES", "pages", ["32768", "-32769", "1.5", "'many'", "x'00'", "1e30"], []),
        ("ZCOPIES", "copies", ["2147483648", "-2147483649", "1 << 40", "'x'"], []),
        ("ZWORDS", "words", ["1e19", "1.25", "'9223372036854775808'", "x'FF'"], []),
        ("ZISLENT", "isLent", ["2", "-1", "0.5", "'YES'", "x'01'"], []),
        ("ZWEIGHT", "weight", ["'light'", "x'00'"], []),
        ("ZRATING", "rating", ["1e300", "-1e39", "1e-300", "'good'", "x'00'"], []),
        ("ZBOUGHT", "bought", ["'2020-01-01'", "x'00'"], []),
        ("ZPRICE", "price", ["'0x10'", "'1,5'", "'12 EUR'", "'--1'", "''", "'.'", "'1e'", "x'31'", "1e300"], []),
        ("ZTITLE", "title", ["CAST(x'FF414141' AS TEXT)"], ["x'41414141'"]),
        ("ZPAGE", "page", ["'not a url %% [ '", "''"], ["x'61'"]),
        ("ZCODE", "code", ["x'00'", "7", "'none'"], ["'00112233-4455-6677-8899-AABBCCDDEEFF'"]),
        ("ZSHAPE", "shape", [], ["'text'", "7", "1.5"]),
    ]

    private static func value(_ generator: inout SeededGenerator) -> FileLie {
        let (key, entity) = work(&generator)
        let column = values[Int.random(in: 0..<values.count, using: &generator)]
        let value = (column.lost + column.read).randomElement(using: &generator) ?? ""
        return FileLie(
            statements: ["UPDATE ZWORK SET \(column.column) = \(value) WHERE Z_PK = \(key)"], kind: .unsoundValue,
            entity: entity, key: key, property: column.property, isLoss: column.lost.contains(value))
    }

    private static func key(_ generator: inout SeededGenerator) -> FileLie {
        let (key, entity) = work(&generator)
        let others = ["99", "0", "-1", "10.5", "'Lem'", "x'01'", "9223372036854775807"]
        let other = others.randomElement(using: &generator) ?? ""
        let (column, property) = Bool.random(using: &generator) ? ("ZAUTHOR", "author") : ("ZSEQUEL", "sequel")
        return FileLie(
            statements: ["UPDATE ZWORK SET \(column) = \(other) WHERE Z_PK = \(key)"], kind: .danglingKey,
            entity: entity, key: key, property: property, isLoss: false)
    }

    private static func link(_ generator: inout SeededGenerator) -> FileLie {
        let (key, _) = work(&generator)
        let other = ["99", "-1", "9223372036854775807"].randomElement(using: &generator) ?? ""
        return FileLie(
            statements: ["UPDATE Z_3WORKS SET Z_4WORKS = \(other) WHERE Z_3TAGS = 13 AND Z_4WORKS = \(key)"],
            kind: .danglingKey, entity: "Tag", key: 13, property: "works", isLoss: false)
    }

    private static func missing(_ generator: inout SeededGenerator) -> FileLie {
        let key = Int64.random(in: 10..<14, using: &generator)
        return Bool.random(using: &generator)
            ? FileLie(
                statements: ["UPDATE ZTAG SET ZWORD = NULL WHERE Z_PK = \(key)"], kind: .missingValue, entity: "Tag",
                key: key, property: "word")
            : FileLie(
                statements: ["UPDATE ZAUTHOR SET ZNAME = 'Lem' WHERE Z_PK = \(key)"], kind: .notUnique,
                entity: "Author", key: 1, property: "name", isLoss: false)
    }

    private static func stray(_ generator: inout SeededGenerator) -> FileLie {
        let (key, entity) = work(&generator)
        let column = entity == "Novel" ? "ZMARK1" : "ZMARK"
        return FileLie(
            statements: ["UPDATE ZWORK SET \(column) = 7 WHERE Z_PK = \(key)"], kind: .strayValue, entity: entity,
            key: key, property: nil)
    }

    private static func twice(_ generator: inout SeededGenerator) -> FileLie {
        let (key, _) = work(&generator)
        return FileLie(
            statements: [
                "ALTER TABLE Z_3WORKS RENAME TO OLD",
                "CREATE TABLE Z_3WORKS (Z_3TAGS INTEGER, Z_4WORKS INTEGER, Z_FOK_3TAGS INTEGER)",
                "INSERT INTO Z_3WORKS SELECT * FROM OLD", "DROP TABLE OLD",
                "INSERT INTO Z_3WORKS VALUES (13, \(key), 3)",
            ], kind: .repeatedLink, entity: "Tag", key: 13, property: "works", isLoss: false)
    }
}
