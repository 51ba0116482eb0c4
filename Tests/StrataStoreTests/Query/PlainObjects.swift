import StrataModel
import StrataStore
import StrataTestSupport

/// The objects of a plain state, as expressions read them.
struct PlainObjects: ExpressionContext {
    let state: PlainState
    let schema: Schema

    func operand(of key: String, in object: ObjectID) throws(StrataError) -> PredicateOperand {
        switch (key, schema.entity(object.entityID)?.name) {
        case ("items", "Owner"):
            return .many(sorted(state.rows.keys.filter { state.rows[$0]?["owner"] == .objectID(object) }))
        case ("tags", _): return .many(sorted(state.tagged.filter { $0[0] == object }.map { $0[1] }))
        case ("items", _): return .many(sorted(state.tagged.filter { $0[1] == object }.map { $0[0] }))
        default: return .one(state.rows[object]?[key] ?? .null)
        }
    }

    private func sorted(_ ids: some Sequence<ObjectID>) -> [AttributeValue] { ids.sorted().map { .objectID($0) } }
}

/// Comparisons with functions, subqueries, collection operators and sets in them.
struct ExpressionGenerator {
    var random: SeededGenerator

    private mutating func pick<T>(_ values: [T]) -> T { values[Int.random(in: values.indices, using: &random)] }

    mutating func comparison(on entity: String) -> ComparisonPredicate {
        let (left, values) = pick(entity == "Owner" ? Self.ofOwners : entity == "Tag" ? Self.ofTags : Self.ofItems)
        let operations: [ComparisonPredicate.Operator] = [
            .equalTo, .notEqualTo, .lessThan, .greaterThan, .greaterThanOrEqualTo, .lessThanOrEqualTo,
        ]
        return ComparisonPredicate(left, pick(operations), pick(values))
    }

    private static let numbers: [FetchExpression] = [
        .constant(.integer(0)), .constant(.integer(2)), .constant(.double(0.5)), .keyPath("year"),
        .function(.add, [.constant(.integer(1)), .constant(.integer(1))]),
    ]
    private static let few: [FetchExpression] = (0...2).map { .constant(.integer($0)) }
    private static let texts: [FetchExpression] = [
        .constant(.string("ABC")), .constant(.string("a")), .keyPath("title"),
    ]

    private static func member(_ path: String) -> FetchExpression { .keyPathOf(.variable("x"), path) }

    private static func counted(_ collection: String, _ predicate: FetchPredicate) -> FetchExpression {
        .keyPathOf(.subquery(.keyPath(collection), variable: "x", predicate), "@count")
    }

    private static func holds(
        _ left: FetchExpression, _ operation: ComparisonPredicate.Operator, _ right: FetchExpression
    ) -> FetchPredicate { .comparison(ComparisonPredicate(left, operation, right)) }

    private static let ofItems: [(FetchExpression, [FetchExpression])] = [
        (.function(.add, [.keyPath("year"), .constant(.integer(1))]), numbers + [.keyPath("owner.age")]),
        (.function(.multiply, [.keyPath("rating"), .keyPath("score")]), numbers),
        (.function(.subtract, [.keyPath("year"), .keyPath("owner.age")]), numbers),
        (.function(.absolute, [.keyPath("year")]), numbers),
        (.function(.length, [.keyPath("title")]), numbers),
        (.function(.uppercase, [.keyPath("title")]), texts),
        (.function(.canonical, [.keyPath("title")]), texts),
        (
            .conditional(.equal("flag", .boolean(true)), .keyPath("year"), .constant(.integer(0))), numbers
        ),
        (counted("tags", holds(member("label"), .equalTo, .constant(.string("a")))), few),
        (counted("tags", holds(member("label"), .equalTo, .keyPath("title"))), few),
        (counted("owner.items", holds(member("year"), .greaterThan, .keyPath("year"))), few),
        (.keyPath("owner.items.@max.year"), numbers), (.keyPath("owner.items.@min.year"), numbers),
        (.keyPath("owner.items.@sum.year"), numbers), (.keyPath("owner.items.@avg.year"), numbers),
        (.keyPath("tags.items.@count"), few), (.keyPath("tags.@distinctUnionOfObjects.label.@count"), few),
        (.element(.keyPath("owner.items"), at: .size), few),
        (.keyPathOf(.element(.keyPath("owner.items"), at: .first), "year"), numbers),
        (.element(.set(.union, .keyPath("tags"), .keyPath("owner.items.tags")), at: .size), few),
        (.element(.set(.minus, .keyPath("owner.items.tags"), .keyPath("tags")), at: .size), few),
    ]

    private static let ofOwners: [(FetchExpression, [FetchExpression])] = [
        (counted("items", .and([holds(member("year"), .equalTo, .constant(.integer(2)))])), few),
        (
            counted(
                "items",
                .and([
                    holds(member("year"), .greaterThan, .constant(.integer(0))),
                    holds(member("title"), .beginsWith, .constant(.string("a"))),
                ])), few
        ),
        (counted("items", holds(member("year"), .greaterThan, .keyPath("age"))), few),
        (counted("items", holds(member("owner.age"), .equalTo, .keyPath("age"))), few),
        (.keyPath("items.@max.year"), few + [.keyPath("age")]), (.keyPath("items.@avg.year"), few),
        (.keyPath("items.tags.@count"), few),
        (.function(.multiply, [.keyPath("age"), .keyPath("items.@count")]), few),
    ]

    private static let ofTags: [(FetchExpression, [FetchExpression])] = [
        (counted("items", holds(member("title"), .equalTo, .keyPath("label"))), few),
        (counted("items", holds(member("owner.name"), .beginsWith, .constant(.string("a")))), few),
        (.keyPath("items.@sum.year"), few), (.function(.length, [.keyPath("label")]), few),
    ]
}
