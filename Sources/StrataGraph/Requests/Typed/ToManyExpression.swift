public import StrataModel
import Synchronization

/// The members of a to-many in a typed query.
///
/// ```swift
/// try FetchRequest<FamilyMember>().where {
///     $0.favoriteMovies.any { $0.rating > 4 } && $0.favoriteMovies.count < 10
/// }
/// ```
public struct ToManyExpression<Member: ManagedObject> {
    private let collection: FetchExpression

    init(_ collection: FetchExpression) { self.collection = collection }

    // MARK: Conditions

    /// Whether at least one member meets the condition.
    public func any(_ condition: (ObjectExpression<Member>) -> ValueExpression<Bool>) -> ValueExpression<Bool> {
        let (variable, meaning) = Self.apply(condition)
        return ValueExpression<Bool>(.any(collection, variable, meaning.predicate), mayBeNil: false)
    }

    /// Whether all members meet the condition; true if there are none.
    public func all(_ condition: (ObjectExpression<Member>) -> ValueExpression<Bool>) -> ValueExpression<Bool> {
        let (variable, meaning) = Self.apply(condition)
        // ALL with a key path skips members whose value is nil, but such a member does not meet the condition.
        if !meaning.mayBeNil, let quantified = FetchPredicate.quantified(.all, collection, variable, meaning.predicate)
        {
            return ValueExpression<Bool>(quantified, mayBeNil: false)
        }
        return `where`(variable, .not(meaning.predicate)).isEmpty
    }

    /// Whether no member meets the condition.
    public func none(_ condition: (ObjectExpression<Member>) -> ValueExpression<Bool>) -> ValueExpression<Bool> {
        let (variable, meaning) = Self.apply(condition)
        if let quantified = FetchPredicate.quantified(.any, collection, variable, meaning.predicate) {
            return ValueExpression<Bool>(.not(quantified), mayBeNil: false)
        }
        return `where`(variable, meaning.predicate).isEmpty
    }

    /// The members that meet the condition, for counts, sums and further conditions.
    public func `where`(_ condition: (ObjectExpression<Member>) -> ValueExpression<Bool>) -> ToManyExpression {
        let (variable, meaning) = Self.apply(condition)
        return `where`(variable, meaning.predicate)
    }

    private func `where`(_ variable: String, _ condition: FetchPredicate) -> ToManyExpression {
        ToManyExpression(.subquery(collection, variable: variable, condition))
    }

    /// Whether the object is a member.
    public func contains(_ member: Member) -> ValueExpression<Bool> { contains(member.objectID) }

    /// Whether the object with this id is a member.
    public func contains(_ member: ObjectID) -> ValueExpression<Bool> {
        ValueExpression<Bool>(
            .comparison(ComparisonPredicate(collection, .contains, .constant(.objectID(member)))), mayBeNil: false)
    }

    /// Whether there are no members.
    public var isEmpty: ValueExpression<Bool> { ValueExpression<Bool>(.isEmpty(collection), mayBeNil: false) }

    // MARK: Values

    /// The number of members.
    public var count: ValueExpression<Int> { ValueExpression<Int>(.path("@count", of: collection), mayBeNil: false) }

    /// The sum over the members that have a value; 0 if none has one.
    public func sum<Value: Numeric & StorableValue>(_ property: KeyPath<Member, Value>) -> ValueExpression<Value> {
        aggregate("@sum", property, mayBeNil: false)
    }

    /// The sum over the members that have a value; 0 if none has one.
    public func sum<Value: Numeric & StorableValue>(_ property: KeyPath<Member, Value?>) -> ValueExpression<Value> {
        aggregate("@sum", property, mayBeNil: false)
    }

    /// The mean of the members that have a value; nil if none has one.
    public func average<Value: Numeric & StorableValue>(_ property: KeyPath<Member, Value>) -> ValueExpression<Double> {
        aggregate("@avg", property, mayBeNil: true)
    }

    /// The mean of the members that have a value; nil if none has one.
    public func average<Value: Numeric & StorableValue>(_ property: KeyPath<Member, Value?>) -> ValueExpression<Double>
    {
        aggregate("@avg", property, mayBeNil: true)
    }

    /// The smallest value among the members; nil if none has one.
    public func min<Value: Comparable & StorableValue>(_ property: KeyPath<Member, Value>) -> ValueExpression<Value> {
        aggregate("@min", property, mayBeNil: true)
    }

    /// The smallest value among the members; nil if none has one.
    public func min<Value: Comparable & StorableValue>(_ property: KeyPath<Member, Value?>) -> ValueExpression<Value> {
        aggregate("@min", property, mayBeNil: true)
    }

    /// The largest value among the members; nil if none has one.
    public func max<Value: Comparable & StorableValue>(_ property: KeyPath<Member, Value>) -> ValueExpression<Value> {
        aggregate("@max", property, mayBeNil: true)
    }

    /// The largest value among the members; nil if none has one.
    public func max<Value: Comparable & StorableValue>(_ property: KeyPath<Member, Value?>) -> ValueExpression<Value> {
        aggregate("@max", property, mayBeNil: true)
    }

    private func aggregate<Value: StorableValue>(
        _ name: String, _ property: PartialKeyPath<Member>, mayBeNil: Bool
    ) -> ValueExpression<Value> {
        let path = "\(name).\(PropertyName.ofAny(property))"
        return ValueExpression<Value>(.path(path, of: collection), mayBeNil: mayBeNil)
    }

    // MARK: The member in a condition

    private static func apply(_ condition: (ObjectExpression<Member>) -> ValueExpression<Bool>) -> (
        variable: String, ValueExpression<Bool>
    ) {
        let variable = QueryVariables.next()
        return (variable, condition(ObjectExpression(.variable(variable), mayBeNil: false)))
    }
}

extension FetchPredicate {
    /// Whether at least one member meets a condition that names it by a variable.
    static func any(_ collection: FetchExpression, _ variable: String, _ condition: FetchPredicate) -> FetchPredicate {
        quantified(.any, collection, variable, condition)
            ?? .isNotEmpty(.subquery(collection, variable: variable, condition))
    }

    /// The form `ANY members.attribute > 4`, which indexes serve best.
    ///
    /// - Returns: nil unless the condition compares one attribute of the member with constants that are not nil.
    static func quantified(
        _ modifier: ComparisonPredicate.Modifier, _ collection: FetchExpression, _ variable: String,
        _ condition: FetchPredicate
    ) -> FetchPredicate? {
        guard case .keyPath = collection, case .comparison(let comparison) = condition, comparison.modifier == .direct,
            case .keyPathOf(.variable(variable), let name) = comparison.left, !name.contains("."),
            comparison.right.isConstantWithoutNil
        else { return nil }
        return .comparison(
            ComparisonPredicate(
                .path(name, of: collection), comparison.operator, comparison.right, modifier: modifier,
                folding: comparison.folding))
    }
}

extension FetchExpression {
    fileprivate var isConstantWithoutNil: Bool {
        switch self {
        case .constant(let value): value != .null
        case .aggregate(let parts): parts.allSatisfy(\.isConstantWithoutNil)
        default: false
        }
    }
}

/// Names of the variables that conditions use for members.
///
/// While closures run, each variable has a unique name. Afterwards variables are named by their depth.
enum QueryVariables {
    private static let count = Atomic<UInt64>(0)

    static func next() -> String { "_\(count.add(1, ordering: .relaxed).newValue)" }

    static func name(atDepth depth: Int) -> String {
        let letters = ["x", "y", "z"]
        return depth < letters.count ? letters[depth] : "x\(depth + 1)"
    }
}
