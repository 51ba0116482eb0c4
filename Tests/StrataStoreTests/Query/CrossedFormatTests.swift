import Foundation
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// Every expression of a list beside every other, under any operator, option and quantifier: what is not refused when
/// the request is made runs without an error, and every plan gives what holding each object against it gives.
@Suite struct CrossedFormatTests {
    private static let operators = [
        "==", "!=", "<", "<=", ">", ">=", "BETWEEN", "IN", "LIKE", "MATCHES", "CONTAINS", "BEGINSWITH", "ENDSWITH",
        "NOT IN",
    ]
    private static let options = ["", "", "", "[c]", "[d]", "[cd]", "[n]"]
    private static let quantifiers = ["", "", "", "", "ANY ", "ALL ", "NONE ", "NOT "]

    private static let constants = [
        "1", "0", "-2", "2.25", "1.5", "9223372036854775807", "9223372036854775808", "9007199254740993", "1e200",
        "-1e300", "0x2", "'a'", "'ab'", "''", "'é'", "'1'", "nil", "YES", "FALSE", "{1, 2}", "{}", "{nil}",
        "{'a', 'zz', nil}", "{1, 'a'}", "{0, 2.5}", "{{1}, 2}", "{'a', 'b'}", "CAST(0, 'NSDate')", "'2001-01-01'",
        "CAST('1.1', 'NSDecimalNumber')", "CAST('0.10000000000000000000001', 'NSDecimalNumber')",
        "CAST('01000000-0000-0000-0000-000000000001', 'NSUUID')", "'01000000-0000-0000-0000-000000000001'",
        "CAST('nan', 'double')", "CAST('inf', 'double')", "CAST('nan', 'NSDecimalNumber')", "CAST('x:y', 'NSURL')",
        "{CAST(-5, 'NSDate'), CAST(1, 'NSDate')}", "'a*'", "'a?'", "'[a-z]+'", "'%'", "CAST(1, 'float')",
    ]
    private static let ofItems = [
        "title", "year", "rating", "score", "price", "flag", "when", "code", "owner", "SELF", "owner.name", "owner.age",
        "owner.items", "owner.items.@count", "owner.items.year", "owner.items.title", "tags", "tags.label",
        "tags.@count", "tags.items", "tags.items.year", "tags.items.owner.name", "tags[FIRST].label", "tags[SIZE]",
        "owner.items[0].year", "SUBQUERY(tags, $t, $t.label == title)", "SUBQUERY(tags, $t, $t.label != nil).@count",
        "SUBQUERY(owner.items, $i, $i.year > year).title", "owner.items.@max.year", "owner.items.@sum.rating",
        "owner.items.@avg.score", "owner.items.@min.title", "owner.items.@distinctUnionOfObjects.title",
        "owner.items.@unionOfObjects.year.@count", "year + 1", "year * rating", "rating / score", "price - 1",
        "-year", "year ** 2", "abs:(rating)", "floor:(price)", "length:(title)", "title.length", "uppercase:(title)",
        "canonical:(title)", "TERNARY(flag == YES, year, rating)", "TERNARY(flag == YES, title, year)",
        "CAST(year, 'NSString')", "CAST(title, 'int')", "CAST(when, 'NSNumber')", "when + 1", "when - when",
        "{year, 1}", "{title, owner.name}", "{owner, SELF}", "tags UNION owner.items", "owner.items.tags MINUS tags",
        "max:(year, 1)", "sum:(owner.items.year)", "year & 1", "~year", "year << 1", "title + 'a'",
        "FUNCTION(title, 'capitalizedString')", "owner.self", "owner.items.self", "owner.items[LAST].owner.name",
        "count:(tags)", "median:(owner.items.year)", "mode:(owner.items.title)", "owner.items.year + 1",
        "modulus:by:(year, 2)", "sqrt:(rating)", "year / 0",
    ]
    private static let ofOwners = [
        "name", "age", "items", "items.@count", "items.year", "items.title", "items.flag", "items.tags",
        "items.tags.label", "items.owner", "items.owner.age", "items.when", "items.code", "items.price", "items.score",
        "SUBQUERY(items, $i, $i.year == age)", "SUBQUERY(items, $i, $i.title BEGINSWITH 'a').@count",
        "SUBQUERY(items, $i, SUBQUERY($i.tags, $t, $t.label == $i.title).@count > 0)", "items.@max.when",
        "items.@min.code", "items.@sum.price", "items.@avg.year", "items[FIRST]", "items[age].title",
        "items[LAST].tags.label", "items.year * 2", "items.title[0]", "SELF",
    ]

    @Test(arguments: RandomTesting.seeds) func whatIsNotRefusedRunsAndEveryPlanAgrees(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed &* 31 &+ 7)
        var world = try QueryWorld(&random)
        for size in [70, 30] {
            let before = world.state
            let step = try world.mutate(size, &random)
            try world.save(step, from: before)
        }
        let count = 250
        var found = 0, refused = 0
        try world.fixture.store.read(at: try world.fixture.store.head()) { snapshot in
            for _ in 0..<count {
                let entity = ["Item", "Item", "Special", "Owner"].randomElement(using: &random) ?? "Item"
                let format = Self.format(on: entity, &random)
                switch try Self.check(format, try world.entityID(entity), snapshot, "seed \(seed): \(entity) \(format)")
                {
                case nil: refused += 1
                case let number?: found += number > 0 ? 1 : 0
                }
            }
        }
        #expect(found > count / 20 && refused > count / 20, "\(found) found, \(refused) refused of \(count)")
    }

    private static func format(on entity: String, _ random: inout SeededGenerator) -> String {
        func pick(_ list: [String]) -> String { list.randomElement(using: &random) ?? "" }
        let own = entity == "Owner" ? ofOwners : ofItems
        let left = pick(Int.random(in: 0..<6, using: &random) == 0 ? constants : own)
        let right = pick(Int.random(in: 0..<2, using: &random) == 0 ? constants : own)
        return "\(pick(quantifiers))\(left) \(pick(operators))\(pick(options)) \(right)"
    }

    /// How many objects meet the format; nil when it is refused.
    private static func check(_ format: String, _ entity: EntityID, _ snapshot: Snapshot, _ what: Comment) throws
        -> Int?
    {
        let predicate = try FetchPredicate(format: format)
        let again = try FetchPredicate(format: predicate.description)
        // NaN is no NaN.
        #expect(again == predicate || format.contains("nan"), what)
        #expect(again.description == predicate.description, what)
        let request = StoreRequest(entityID: entity, predicate: predicate)
        do throws(StrataError) {
            _ = try CompiledQuery(request, snapshot.schema, access: .scanOnly)
        } catch {
            return nil
        }
        let all = try snapshot.fetch(
            try CompiledQuery(StoreRequest(entityID: entity), snapshot.schema, access: .scanOnly))
        let evaluation = Evaluation(snapshot)
        let wanted: [ObjectID]
        do {
            wanted = try all.filter {
                try PredicateEvaluator(evaluation.expressions, object: .one(.objectID($0))).holds(predicate)
            }
        } catch {
            Issue.record("\(what.rawValue) throws: \(error)")
            return 0
        }
        for access in [CompiledQuery.Access.scanOnly, .planned, .avoidingScans, .disturbed(1), .disturbed(2)] {
            #expect(try snapshot.fetch(try CompiledQuery(request, snapshot.schema, access: access)) == wanted, what)
        }
        return wanted.count
    }
}
