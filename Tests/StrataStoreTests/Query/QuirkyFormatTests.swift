import Foundation
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// Format strings as people write them, at the edges of the language: read, written, read again, held against each
/// object in memory, and run by every kind of plan.
@Suite struct QuirkyFormatTests {
    /// An entity, a format and its arguments.
    private typealias Case = (entity: String, format: String, arguments: [Any?])

    private static var formats: [Case] {
        [
            // Keywords in any case, spellings, space.
            ("Item", "year = 1 aNd rating => 0", []),
            ("Item", "year=<1||year=>3", []),
            ("Item", "!(year<>1)&&!flag=yes", []),
            ("Item", "nOt(title  bEgInSwItH[cD]'ab')oR title=nIl", []),
            ("Item", "\ttitle\nLIKE\r[c]\u{A0}'a*'", []),
            ("Item", "year Between{0,2}", []),
            ("Item", "year not in {1, 2}", []),
            ("Item", "title == NULL OR title == Nil", []),
            ("Item", "TRUEPREDICATE AND falsepredicate OR TruePredicate", []),
            ("Item", "NOT NOT NOT flag == NO", []),
            ("Item", "((((year))) == (((1))))", []),
            ("Item", "self != nil and SELF.year > 0", []),
            // Literals.
            ("Item", "year == 0x1 OR year == 0b11 OR year == 0o2", []),
            ("Item", "rating < 1.5e0 AND rating > -.5E+1", []),
            ("Item", "rating == 225e-2", []),
            ("Item", "rating == -1.5 OR rating == - 1.5 OR rating == -(1.5)", []),
            ("Item", "rating == +1", []),
            ("Item", "year < 99999999999999999999999999", []),
            ("Item", "rating < 9223372036854775808 AND rating != 9223372036854775808", []),
            ("Item", "{1, 2, nil} CONTAINS year", []),
            ("Item", "NOT {1, 3} CONTAINS year AND {'ab', 'B'} CONTAINS[c] title", []),
            ("Item", "%@ CONTAINS year", [[1, 3]]),
            ("Item", "year > -9223372036854775808", []),
            ("Item", "price == 1.1 OR price == CAST('-2.5', 'NSDecimalNumber')", []),
            ("Item", #"title == "\x61\142\u0063" OR title == '\101'"#, []),
            ("Item", #"title == 'e\u0301' OR title == "a\%b""#, []),
            ("Item", #"title LIKE 'a\\*b' OR title LIKE "a\\%b""#, []),
            ("Item", "title == \"\" OR title == ''", []),
            ("Item", "title == '%@' OR title == \"a%%b\" OR title == 'a%b'", []),
            ("Item", "when == CAST(0, 'NSDate') OR when > CAST(999999999.5, \"NSDate\")", []),
            ("Item", "when >= '2001-01-01' AND when < \"2032-01-01T00:00:00.5+02:00\"", []),
            ("Item", "when BETWEEN {'2001-01-01', '2001-01-01 00:00:02'} OR '2030-01-01' <= when", []),
            ("Item", "when IN {'2001-01-01T00:00:01Z', nil} OR when == CAST('2001-01-01T00:00:02Z', 'NSDate')", []),
            ("Item", "when != '2001-01-01' AND when > %@", ["2000-12-31"]),
            ("Item", "when - CAST('2001-01-01', 'NSDate') < 2", []),
            ("Item", "code == CAST('01000000-0000-0000-0000-000000000001', 'NSUUID')", []),
            ("Item", "flag == 1 OR flag == FALSE OR flag IN {YES}", []),
            // Names.
            ("Item", "#title == 'a' OR #year == 1", []),
            ("Item", "#'title' == 'a' OR #\"year\" = 2", []),
            ("Item", "%K.%K == %@", ["owner", "age", 1]),
            ("Item", "%K == %@ OR owner.%K > %d", ["owner.age", 2, "age", 0]),
            ("Item", "%K IN %@", ["year", [1, 2, nil]]),
            ("Item", "%@ == %K", ["a", "title"]),
            // Specifiers.
            ("Item", "year == %i OR year == %u OR year == %ld OR year == %lld OR year == %lu", [1, 2, 3, -1, 0]),
            ("Item", "rating > %f AND rating < %lf OR score == %g", [0.4, 2.1, 0.1]),
            ("Item", "title == %s OR title BEGINSWITH %c OR year == %x", ["Abc", "z", 2]),
            ("Item", "year %% 2 == %d", [1]),
            ("Item", "flag == %@ AND code != %@", [true, UUID()]),
            (
                "Item", "when BETWEEN %@",
                [[Date(timeIntervalSinceReferenceDate: -10), Date(timeIntervalSinceReferenceDate: 1)]]
            ),
            ("Item", "title IN %@", [Set(["a", "zz", "nothing"])]),
            ("Item", "year BETWEEN %@", [0...2]),
            // Strings.
            ("Item", "title CONTAINS[cd] 'E' OR title ENDSWITH[d] 'e'", []),
            ("Item", "title ==[c] 'straSSE' OR title !=[cd] 'abc'", []),
            ("Item", "title CONTAINS[c] 'B' AND NOT title CONTAINS 'B'", []),
            ("Item", "title CONTAINS[c] '' OR title CONTAINS[cd] 'ß'", []),
            ("Item", "title IN[c] {'ABC', 'ZZ'}", []),
            ("Item", "title MATCHES '[aA].*' AND title LIKE '?*'", []),
            ("Item", #"title MATCHES[c] "a\\d+[bc]?""#, []),
            ("Item", "title <[c] 'b' AND title >= 'A'", []),
            ("Item", "title BETWEEN[cd] {'a', 'b'}", []),
            ("Item", "'abcdef' CONTAINS title", []),
            ("Item", "title IN 'xAbcx'", []),
            ("Item", "'a' IN title", []),
            ("Item", "title BEGINSWITH[n] 'a' AND title LIKE[cdl] 'A*'", []),
            // Functions and arithmetic.
            ("Item", "year + 1 == 2 AND year * 2 - 1 > 0", []),
            ("Item", "year ** 2 == 4 OR 2 ** year == 8", []),
            ("Item", "year / 2 == 1 AND rating / 2 != 0.25", []),
            ("Item", "-year == 1 OR 0 - year == 2", []),
            ("Item", "abs:(year) == 1 OR ABS(rating) > 1", []),
            ("Item", "FUNCTION(title, 'uppercaseString') == 'ABC' OR FUNCTION(title, \"length\") == 1", []),
            ("Item", "lowercase:(title) == 'abc' OR canonical:(title) == 'e'", []),
            ("Item", "length:(title) BETWEEN {1, 2}", []),
            ("Item", "floor:(rating) == ceiling:(rating)", []),
            ("Item", "add:to:(year, 1) == 2 OR modulus:by:(year, 2) == 1", []),
            ("Item", "TERNARY(year > 1, title, 'none') == 'none'", []),
            ("Item", "TERNARY(flag == YES, TERNARY(year > 0, 1, 2), 3) == 2", []),
            ("Item", "CAST(year, 'NSString') == '1' OR CAST(title, 'int') == 7", []),
            ("Item", "when + 5 == CAST(0, 'NSDate') OR when - when == 0", []),
            ("Item", "year & 1 == 1 AND year | 2 == 3 OR year << 1 == 4", []),
            ("Item", "noindex:(year) == 1", []),
            // To-many.
            ("Owner", "items.@count > 1 AND any items.year > 0", []),
            ("Owner", "SOME items.title BEGINSWITH 'a' OR NONE items.flag == YES", []),
            ("Owner", "ALL items.year < 3", []),
            ("Owner", "ANY items != nil", []),
            ("Owner", "NONE items != nil OR ALL items == nil", []),
            ("Tag", "ANY items != nil AND NOT NONE items.owner != nil", []),
            ("Owner", "ANY items.year NOT IN {1, 2}", []),
            ("Owner", "items.@sum.year >= 1 OR items.year.@max == 3 OR items.@min.year == -2", []),
            ("Owner", "items.@avg.rating > 0.5 OR items.@avg.year == 1", []),
            ("Owner", "items.@distinctUnionOfObjects.year.@count == 2 OR items.@unionOfObjects.year.@count > 3", []),
            ("Owner", "items[SIZE] == 2 OR items[size] > 4", []),
            ("Owner", "count:(items) == 1 OR max:(items.year) == 3 OR sum:(items.year) > 4", []),
            ("Owner", "SUBQUERY(items, $i, $i.year > 0 AND $i.flag == YES).@count > 0", []),
            ("Owner", "subquery(items, $a, SUBQUERY($a.tags, $t, $t.label != nil).@count > 0).@count >= 1", []),
            ("Owner", "SUBQUERY(items, $i, $i.owner == SELF AND $i.year == age).@count != 0", []),
            ("Owner", "SUBQUERY(items, $i, $i.title BEGINSWITH[cd] 'A')[SIZE] > 1", []),
            ("Owner", "ANY SUBQUERY(items, $i, $i.year > 1).rating > 0", []),
            ("Owner", "ANY items.tags.label == 'a' OR ANY items.tags.@count > 0", []),
            ("Tag", "ANY items.owner.age > 0 AND label != nil", []),
            ("Tag", "items.@count == 0 OR ALL items.owner.name != 'x'", []),
            ("Item", "tags.@count == 0 AND owner == nil", []),
            ("Item", "owner.name CONTAINS '#' AND owner.items.@count > 2", []),
            ("Item", "owner IN %@ OR SELF IN %@", [[ObjectID](), [ObjectID]()]),
            ("Item", "ANY tags.label IN {'a', 'e', nil}", []),
            ("Item", "ANY tags.label ==[cd] 'E'", []),
            ("Special", "extra > 0 AND year == extra", []),
            ("Special", "extra BETWEEN {year, 3} OR extra IN {year, -1}", []),
        ]
    }

    @Test func everyWayGivesTheSame() throws {
        var random = SeededGenerator(seed: 77)
        var world = try QueryWorld(&random)
        for size in [150, 60] {
            let before = world.state
            let step = try world.mutate(size, &random)
            try world.save(step, from: before)
        }
        var found = 0
        try world.fixture.store.read(at: try world.fixture.store.head()) { snapshot in
            let evaluation = Evaluation(snapshot)
            for (entity, format, arguments) in Self.formats {
                let id = try world.entityID(entity)
                let predicate = try FetchPredicate(format: format, argumentArray: arguments)
                let written = predicate.description
                #expect(try FetchPredicate(format: written) == predicate, "\(format): \(written)")
                #expect(try FetchPredicate(format: written).description == written)
                let all = try snapshot.fetch(
                    try CompiledQuery(StoreRequest(entityID: id), snapshot.schema, access: .scanOnly))
                let wanted = try all.filter { object in
                    try PredicateEvaluator(evaluation.expressions, object: .one(.objectID(object))).holds(predicate)
                }
                let request = StoreRequest(entityID: id, predicate: predicate)
                for access in [
                    CompiledQuery.Access.scanOnly, .planned, .avoidingScans, .disturbed(1), .disturbed(2),
                    .disturbed(3),
                ] {
                    let query = try CompiledQuery(request, snapshot.schema, access: access)
                    #expect(try snapshot.fetch(query) == wanted, "\(access) \(format)")
                    #expect(try snapshot.count(query) == wanted.count, "\(access) \(format)")
                }
                // By what is kept of the shape, too.
                #expect(try snapshot.fetch(request) == wanted, "\(format)")
                #expect(try snapshot.fetch(request) == wanted, "\(format)")
                found += wanted.isEmpty ? 0 : 1
            }
        }
        // Most ask for something that is there.
        #expect(found > Self.formats.count * 3 / 4, "\(found) of \(Self.formats.count)")
    }

    @Test(
        arguments: [
            ("Item", "titel == 'x'", StrataError.Code.unknownKey, "title"),
            ("Item", "owner.nmae == 'x'", .unknownKey, "name"),
            ("Item", "tags.label == 'x'", .invalidRequest, "ANY"),
            ("Owner", "items.year > 3", .invalidRequest, "ANY"),
            ("Item", "year == 'x'", .wrongType, "number"),
            ("Item", "title > 5", .wrongType, "string"),
            ("Item", "title == %@", .wrongType, "string"),
            ("Item", "year BEGINSWITH '1'", .wrongType, "number"),
            ("Item", "flag CONTAINS 'x'", .wrongType, "boolean"),
            ("Item", "when == 'today'", .wrongType, "date"),
            ("Item", "code == 'no uuid'", .wrongType, "UUID"),
            ("Item", "owner == 5", .wrongType, "object"),
            ("Item", "owner > 'x'", .wrongType, "object"),
            ("Item", "title == year", .wrongType, "string"),
            ("Item", "year BETWEEN {1, 2, 3}", .invalidRequest, "two"),
            ("Item", "year BETWEEN 1", .invalidRequest, "two"),
            ("Item", "year IN 5", .invalidRequest, "list"),
            ("Item", "year == {1}", .invalidRequest, "list"),
            ("Item", "title == $NAME", .invalidRequest, "NAME"),
            ("Item", "title MATCHES '('", .invalidRequest, "parenthesis"),
            ("Item", "FUNCTION(title, 'explode') == 1", .invalidRequest, "explode"),
            ("Item", "uppercase:(year) == '1'", .wrongType, "string"),
            ("Owner", "items.@median.year == 1", .invalidRequest, "@median"),
            ("Owner", "SUBQUERY(items, $i, $i.yaer == 1).@count > 0", .unknownKey, "year"),
            // As Realm's testPredicateMisuse has them.
            ("Item", "year != xyz", .unknownKey, "xyz"),
            ("Item", "title IN {3}", .wrongType, "string"),
            ("Item", "year IN {'xyz'}", .wrongType, "number"),
            ("Item", "owner.age IN {'Tim'}", .wrongType, "number"),
            ("Item", "flag == 'Foo'", .wrongType, "boolean"),
            ("Item", "when == 7", .wrongType, "date"),
            ("Item", "rating == 'The'", .wrongType, "number"),
            ("Item", "score == 'Bar'", .wrongType, "number"),
            ("Item", "@count == 0", .wrongType, "@count"),
            ("Item", "year.year == 25", .unknownKey, "year"),
            ("Item", "year.year.year == 25", .unknownKey, "year"),
            ("Item", "title.@count == 1", .unknownKey, "@count"),
            ("Item", "year BETWEEN Foo", .unknownKey, "Foo"),
            ("Item", "year BETWEEN {1}", .invalidRequest, "two"),
            ("Item", "year BETWEEN {'Foo', 'Bar'}", .wrongType, "number"),
            ("Owner", "SUBQUERY(name, $i, $i == 1).@count > 0", .wrongType, "collection"),
        ] as [(String, String, StrataError.Code, String)])
    func whatCannotRunIsRefusedWithItsReason(
        entity: String, format: String, code: StrataError.Code, text: String
    ) throws {
        var random = SeededGenerator(seed: 1)
        let world = try QueryWorld(&random)
        let arguments: [Any?] = format.contains("%@") ? [5] : []
        let predicate = try FetchPredicate(format: format, argumentArray: arguments)
        let request = StoreRequest(entityID: try world.entityID(entity), predicate: predicate)
        do throws(StrataError) {
            _ = try CompiledQuery(request, world.fixture.schema)
            Issue.record("\(format) is not refused")
        } catch {
            #expect(error.code == code, "\(format): \(error)")
            #expect("\(error)".contains(text), "\(format): \(error)")
        }
    }
}
