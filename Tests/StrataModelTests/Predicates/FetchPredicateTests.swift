import Foundation
import StrataModel
import Testing

struct FetchPredicateTests {
    private let values: [String: AttributeValue] = [
        "name": "Ångström", "rating": 4.5, "count": 3, "price": .decimal(Decimal(string: "0.1") ?? 0),
        "nothing": .null, "flag": true, "when": .date(Date(timeIntervalSinceReferenceDate: 10)),
        "place.city": "Kyiv", "site": .url(URL(filePath: "/x/y")),
    ]

    private func holds(_ predicate: FetchPredicate) throws -> Bool {
        try predicate.evaluate(value: { values[$0] ?? .null })
    }

    @Test func numbersCompareAcrossKinds() throws {
        #expect(try holds(.greaterThan("rating", 4)))
        #expect(try holds(.equal("rating", .float(4.5))))
        #expect(try holds(.equal("rating", .decimal(4.5))))
        #expect(try holds(.equal("count", 3.0)))
        #expect(try holds(.equal("price", 0.1)))
        #expect(try holds(.lessThan("price", .double(0.1000001))))
        #expect(try !holds(.equal("count", "3")))
        #expect(try !holds(.lessThan("name", 3)))
        #expect(try holds(.between("count", 3, 5)))
        #expect(try !holds(.between("count", 4, 5)))
    }

    @Test func everythingIsFalseBesideNilButEquality() throws {
        for value: AttributeValue in [1, "x", true, .null] {
            #expect(try !holds(.lessThan("nothing", value)))
            #expect(try !holds(.greaterThanOrEqual("nothing", value)))
            #expect(try !holds(.lessThanOrEqual("count", .null)))
        }
        #expect(try !holds(.beginsWith("nothing", "")))
        #expect(try !holds(.contains("nothing", "")))
        #expect(try !holds(.matches("nothing", ".*")))
        #expect(try !holds(.between("nothing", 0, 9)))
        #expect(try !holds(.isIn("nothing", [1, 2])))
        #expect(try holds(.isIn("nothing", [1, .null])))
        #expect(try holds(.isNil("nothing")) && holds(.isNotNil("name")))
        #expect(try !holds(.isNil("name")) && !holds(.isNotNil("nothing")))
        #expect(try !holds(.notEqual("nothing", "x")))
        #expect(try !holds(.equal("nothing", "x")))
    }

    @Test func textOperatorsFold() throws {
        #expect(try holds(.beginsWith("name", "Ång")))
        #expect(try !holds(.beginsWith("name", "ang")))
        #expect(try holds(.beginsWith("name", "ANG", [.caseInsensitive, .diacriticInsensitive])))
        #expect(try holds(.endsWith("name", "ström")))
        #expect(try holds(.endsWith("name", "strom", .diacriticInsensitive)))
        #expect(try holds(.contains("name", "gst")))
        #expect(try holds(.contains("name", "GSTR", .caseInsensitive)))
        #expect(try !holds(.contains("name", "GSTR")))
        #expect(try holds(.equal("name", "ångstrÖm", .caseInsensitive)))
        #expect(try holds(.isIn("name", ["x", "ångström"], .caseInsensitive)))
        #expect(try holds(.contains("name", "")))
        #expect(try holds(.matches("name", "\\p{L}{8}")))
        #expect(try holds(.matches("name", "a\\Dg.*", [.caseInsensitive, .diacriticInsensitive])))
        #expect(try !holds(.matches("name", "a\\dg.*", [.caseInsensitive, .diacriticInsensitive])))
        #expect(try holds(.beginsWith("site", "file:")))
    }

    @Test func canonicallyEquivalentTextIsTheSame() throws {
        let decomposed = "A\u{30A}ngstro\u{308}m"
        #expect(try holds(.equal("name", .string(decomposed))))
        #expect(try holds(.beginsWith("name", "A\u{30A}n")))
        #expect(try holds(.like("name", decomposed)))
        #expect(try holds(.isIn("name", [.string(decomposed)])))
        #expect(try !holds(.beginsWith("name", "A")))
        #expect(try FetchPredicate.equal("x", "STRASSE", .caseInsensitive).evaluate(value: { _ in "straße" }))
    }

    @Test(arguments: [
        ("*", true), ("Å?gstr*", true), ("?ngström", true), ("Ångströ", false), ("*m", true), ("*s*t*m", true),
        ("Ångström?", false), ("Ångström*", true), ("\\*", false), ("", false), ("*x*", false),
    ])
    func likeTakesWildcards(pattern: String, expected: Bool) throws {
        #expect(try holds(.like("name", pattern)) == expected)
    }

    @Test func likeCanEscapeAndEndsSoon() throws {
        #expect(try FetchPredicate.like("x", "a\\*\\?\\\\").evaluate(value: { _ in "a*?\\" }))
        let text = String(repeating: "a", count: 20_000)
        #expect(try !FetchPredicate.like("x", "*a*a*a*a*b").evaluate(value: { _ in .string(text) }))
    }

    @Test func compoundsAreLogic() throws {
        #expect(try holds(.equal("count", 3) && .equal("flag", true)))
        #expect(try holds(.equal("count", 4) || .equal("flag", true)))
        #expect(try !holds(!(.equal("count", 4) || .equal("flag", true))))
        #expect(try holds(.and([])) && !holds(.or([])) && holds(.constant(true)) && !holds(.constant(false)))
    }

    @Test func chainsAreFlat() {
        let (a, b, c) = (FetchPredicate.isNil("a"), FetchPredicate.isNil("b"), FetchPredicate.isNil("c"))
        #expect((a && b && c) == .and([a, b, c]))
        #expect((a || b || c) == .or([a, b, c]))
        #expect((a && b || c) == .or([.and([a, b]), c]))
    }

    @Test func toManyIsAskedWithAnyAllOrContains() throws {
        let ids = (1...3).map { AttributeValue.objectID(ObjectID(rawValue: $0)) }
        func holds(_ predicate: FetchPredicate, _ members: [AttributeValue]) throws -> Bool {
            try predicate.evaluate(operand: { _ in .many(members) })
        }
        #expect(try holds(.any("m.rating", .greaterThan, 2), [1, 2, 3]))
        #expect(try !holds(.any("m.rating", .greaterThan, 3), [1, 2, 3]))
        #expect(try !holds(.any("m.rating", .greaterThan, 3), []))
        #expect(try holds(.all("m.rating", .greaterThan, 0), [1, 2, 3]))
        #expect(try !holds(.all("m.rating", .greaterThan, 1), [1, 2, 3]))
        #expect(try holds(.all("m.rating", .greaterThan, 1), []))
        #expect(try holds(.contains("m", ids[1]), ids))
        #expect(try !holds(.contains("m", ids[1]), [ids[0]]))
        #expect(throws: StrataError.self) { try holds(.equal("m", ids[1]), ids) }
    }

    @Test func requestsThatMakeNoSenseAreErrors() {
        #expect(throws: StrataError.self) { try holds(.matches("name", "(")) }
        let bad = FetchPredicate.comparison(ComparisonPredicate(.keyPath("count"), .between, .constant(1)))
        #expect(throws: StrataError.self) { try holds(bad) }
    }

    @Test func predicateReadsAsFormatLanguage() {
        #expect(
            (FetchPredicate.greaterThan("rating", 4.5)
                && .beginsWith("name", "x", [.caseInsensitive, .diacriticInsensitive])).description
                == "rating > 4.5 AND name BEGINSWITH[cd] \"x\"")
        #expect(
            ((FetchPredicate.isNil("a") || .isNotNil("b")) && !.isIn("c.d", [1, "z"])).description
                == "(a == nil OR b != nil) AND NOT c.d IN {1, \"z\"}")
        #expect((!(FetchPredicate.isNil("a") && .isNil("b"))).description == "NOT (a == nil AND b == nil)")
        #expect(FetchPredicate.any("m.t", .contains, "q").description == "ANY m.t CONTAINS \"q\"")
        #expect(FetchPredicate.equal("first.in.x", "a\"\\\n\u{1}").description == #"#first.#in.x == "a\"\\\n\u0001""#)
        #expect(FetchPredicate.between("SELF", 1, 2.0).description == "SELF BETWEEN {1, 2.0}")
        #expect(FetchPredicate.equal("x", true).description == "x == TRUE")
        #expect(
            FetchPredicate.equal("x", .date(Date(timeIntervalSinceReferenceDate: 1.5))).description
                == "x == CAST(1.5, \"NSDate\")")
        #expect(FetchPredicate.and([]).description == "TRUEPREDICATE")
        #expect(FetchPredicate.or([.or([])]).description == "FALSEPREDICATE")
        #expect(FetchPredicate.and([.or([.isNil("a"), .isNil("b")])]).description == "a == nil OR b == nil")
    }
}

struct ValueOrderTests {
    @Test func integersAndDoublesCompareExactly() {
        let big = Int64(1) << 53
        #expect(AttributeValue.integer(big + 1).order(to: .double(Double(big))) == .descending)
        #expect(AttributeValue.double(Double(big)).order(to: .integer(big + 1)) == .ascending)
        #expect(AttributeValue.integer(.max).order(to: .double(0x1p63)) == .ascending)
        #expect(AttributeValue.integer(.min).order(to: .double(-0x1p63)) == .same)
        #expect(AttributeValue.integer(.min).order(to: .double(-.infinity)) == .descending)
        #expect(AttributeValue.integer(-1).order(to: .double(-1.5)) == .descending)
        #expect(AttributeValue.integer(0).order(to: .double(-0.0)) == .same)
        #expect(AttributeValue.integer(0).order(to: .double(.nan)) == nil)
    }

    @Test func decimalsCompareWithEverything() {
        let tenth = AttributeValue.decimal(Decimal(string: "0.1") ?? 0)
        #expect(tenth.order(to: .double(0.1)) == .same)
        #expect(tenth.order(to: .float(0.1)) == .same)
        #expect(tenth.order(to: .integer(0)) == .descending)
        #expect(AttributeValue.integer(1).order(to: tenth) == .descending)
        #expect(tenth.order(to: .double(1e300)) == .ascending)
        #expect(tenth.order(to: .double(-.infinity)) == .descending)
        #expect(tenth.order(to: .double(1e-300)) == .descending)
        #expect(AttributeValue.decimal(0).order(to: .double(1e-300)) == .ascending)
        #expect(AttributeValue.decimal(0).order(to: .double(-1e-300)) == .descending)
        #expect(AttributeValue.decimal(-1).order(to: .double(-1e-300)) == .ascending)
        #expect(AttributeValue.decimal(.nan).order(to: .integer(0)) == nil)
        #expect(AttributeValue.decimal(.nan).order(to: .decimal(.nan)) == nil)
    }

    @Test func textIsOrderedByScalars() {
        #expect(AttributeValue.string("é").order(to: .string("e\u{301}")) == .descending)
        #expect(!AttributeValue.string("é").isEqual(to: .string("e\u{301}")))
        #expect(AttributeValue.string("\u{FFFF}").order(to: .string("😀")) == .ascending)
    }

    @Test func compositesAreEqualByElements() {
        #expect(AttributeValue.composite(["a": 1, "b": .null]).isEqual(to: .composite(["a": 1.0])))
        #expect(!AttributeValue.composite(["a": 1]).isEqual(to: .composite(["a": 2])))
    }
}
