import Foundation
import StrataModel
import StrataTestSupport

/// Makes random predicates with every kind of node, in the canonical form that parsing gives.
struct RandomTree {
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func predicate(_ depth: Int) -> FetchPredicate {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 2), using: &generator) {
        case 0: return .constant(Bool.random(using: &generator))
        case 2: return .and((0..<Int.random(in: 2...4, using: &generator)).map { _ in predicate(depth - 1) })
        case 3: return .or((0..<Int.random(in: 2...4, using: &generator)).map { _ in predicate(depth - 1) })
        case 4: return .not(predicate(depth - 1))
        default:
            return .comparison(
                ComparisonPredicate(
                    expression(depth - 1), pick(Self.operators), expression(depth - 1),
                    modifier: pick([.direct, .direct, .any, .all]),
                    folding: StringFolding(rawValue: UInt8.random(in: 0...3, using: &generator))))
        }
    }

    mutating func expression(_ depth: Int) -> FetchExpression {
        switch Int.random(in: 0..<(depth > 0 ? 14 : 5), using: &generator) {
        case 0, 1: return .constant(value(2))
        case 2: return .keyPath(path())
        case 3: return .evaluatedObject
        case 4: return .variable(pick(["x", "y", "_local_1", "first"]))
        case 5: return .aggregate((0..<Int.random(in: 0...3, using: &generator)).map { _ in expression(depth - 1) })
        case 6: return .path(path(), of: expression(depth - 1))
        case 7: return call(depth)
        case 8: return .conditional(predicate(depth - 1), expression(depth - 1), expression(depth - 1))
        case 9: return .subquery(expression(depth - 1), variable: pick(["x", "y"]), predicate(depth - 1))
        case 10: return .set(pick(FetchExpression.SetOperation.allCases), expression(depth - 1), expression(depth - 1))
        case 11: return .element(expression(depth - 1), at: index(depth))
        default: return .function(pick(Self.infix), [expression(depth - 1), expression(depth - 1)])
        }
    }

    private mutating func call(_ depth: Int) -> FetchExpression {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return .function(pick([.now, .random]), [])
        case 1:
            return .function(
                pick([.sum, .min, .mode]),
                (0...Int.random(in: 0...2, using: &generator)).map { _ in expression(depth - 1) })
        case 2:
            return .function(.init(rawValue: "substringFromIndex:"), [expression(depth - 1), expression(depth - 1)])
        default:
            return .function(
                pick([.absolute, .length, .onesComplement, .canonical, .noIndex]), [expression(depth - 1)])
        }
    }

    private mutating func index(_ depth: Int) -> FetchExpression.ElementIndex {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return .first
        case 1: return .last
        case 2: return .size
        default:
            let index = expression(depth - 1)
            // Only these words are allowed in brackets.
            return ["first", "last", "size"].contains(index.description.lowercased()) ? .first : .at(index)
        }
    }

    private mutating func path() -> String {
        (0..<Int.random(in: 1...3, using: &generator)).map { _ in pick(Self.names) }.joined(separator: ".")
    }

    mutating func value(_ depth: Int) -> AttributeValue {
        switch Int.random(in: 0..<(depth > 0 ? 14 : 13), using: &generator) {
        case 0: return .null
        case 1: return .boolean(Bool.random(using: &generator))
        case 2: return .integer(pick([0, -1, 1, .max, .min, Int64.random(in: -99...99, using: &generator)]))
        case 3: return .float(pick([0.1, -1.5, .infinity, Float.random(in: -1...1, using: &generator)]))
        case 4, 5:
            return .double(pick([0, -0.5, 1e300, 1e-7, -.infinity, Double.random(in: -9...9, using: &generator)]))
        case 6: return .decimal(Decimal(string: pick(["0.1", "-12345678901234567890.5", "1e40"])) ?? 0)
        case 7: return .string(text())
        case 8: return .date(Date(timeIntervalSinceReferenceDate: Double.random(in: -1e9...1e9, using: &generator)))
        case 9: return .uuid(UUID(uuidString: "85D4FBEE-6EC6-47DF-BFA1-615931903D7E") ?? UUID())
        case 10: return URL(string: "http://x.org/?a=%20\"").map(AttributeValue.url) ?? .null
        case 11: return .data(Data(text().utf8))
        case 12: return .objectID(ObjectID(rawValue: UInt64.random(in: 0...UInt64.max, using: &generator)))
        default: return .composite(["a b": value(depth - 1), "\"": value(depth - 1)])
        }
    }

    private mutating func text() -> String {
        let signs: [Character] = [
            "a", "Ä", "\"", "'", "\\", "\n", "\0", "%", "@", "😀", "e\u{301}", "$", "\u{7F}", "\r\n",
        ]
        return String((0..<Int.random(in: 0...6, using: &generator)).map { _ in pick(signs) })
    }

    mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &generator)]
    }

    private static let names = [
        "a", "name", "in", "SELF2", "first", "größe", "my key", "@count", "@distinctUnionOfObjects", "like", "NULL",
        "_x9",
        "9a", "a-b", "\"", "$x", "ſelf", "a\u{A0}b", "😀", "“q”", "naïve", "名前",
    ]
    private static let operators: [ComparisonPredicate.Operator] = [
        .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .equalTo, .notEqualTo, .matches, .like,
        .beginsWith, .endsWith, .in, .contains, .between,
    ]
    private static let infix: [FetchFunction] = [
        .add, .subtract, .multiply, .divide, .power, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift,
        .modulus,
    ]
}
