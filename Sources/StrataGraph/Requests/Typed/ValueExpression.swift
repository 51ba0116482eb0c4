import StrataModel

/// A value in a typed query: an attribute, or a computation over attributes.
///
/// A condition is a `ValueExpression<Bool>`. The type does not say whether an attribute is optional. Every comparison
/// with nil is false, `!=` too, except `== nil` and `!= nil`.
///
/// ```swift
/// try FetchRequest<Movie>().where { $0.rating > 4 && $0.title.contains("stalk", [.caseInsensitive]) }
/// ```
///
/// Attributes are on the left of an operator: `$0.rating > 4`, not `4 < $0.rating`. Both sides have the same type: an
/// `Int` is not compared with an `Int32`.
public struct ValueExpression<Value> {
    enum Meaning {
        case value(FetchExpression)
        case condition(FetchPredicate)
    }

    let meaning: Meaning
    /// Whether the value may be nil, or the condition false because a part of it is nil.
    let mayBeNil: Bool
    /// Converts a Swift value to the form in which the store keeps it.
    let encode: (Value) -> AttributeValue

    init(_ expression: FetchExpression, mayBeNil: Bool, encode: @escaping (Value) -> AttributeValue) {
        meaning = .value(expression)
        self.mayBeNil = mayBeNil
        self.encode = encode
    }

    /// The expression for the predicate language.
    var expression: FetchExpression {
        switch meaning {
        case .value(let expression): expression
        case .condition(let predicate):
            .conditional(predicate, .constant(.boolean(true)), .constant(.boolean(false)))
        }
    }

    func constant(_ value: Value) -> FetchExpression { .constant(encode(value)) }

    func condition(
        _ comparison: ComparisonPredicate.Operator, _ right: FetchExpression, _ folding: StringFolding = [],
        mayBeNil otherMayBeNil: Bool = false
    ) -> ValueExpression<Bool> {
        ValueExpression<Bool>(
            .comparison(ComparisonPredicate(expression, comparison, right, folding: folding)),
            mayBeNil: mayBeNil || otherMayBeNil)
    }

    func condition(
        _ comparison: ComparisonPredicate.Operator, _ right: ValueExpression, _ folding: StringFolding = []
    ) -> ValueExpression<Bool> {
        condition(comparison, right.expression, folding, mayBeNil: right.mayBeNil)
    }
}

extension ValueExpression where Value: StorableValue {
    init(_ expression: FetchExpression, mayBeNil: Bool) {
        self.init(expression, mayBeNil: mayBeNil) { $0.queryConstant }
    }
}

extension ValueExpression where Value == Bool {
    init(_ predicate: FetchPredicate, mayBeNil: Bool) {
        meaning = .condition(predicate)
        self.mayBeNil = mayBeNil
        encode = { .boolean($0) }
    }

    /// The condition for the predicate language. A Bool attribute becomes a comparison with true.
    var predicate: FetchPredicate {
        switch meaning {
        case .condition(let predicate): predicate
        case .value(let expression):
            .comparison(ComparisonPredicate(expression, .equalTo, .constant(.boolean(true))))
        }
    }
}

/// Converts Swift values to constants of predicates.
enum QueryConstant {
    /// The constant that equals a stored attribute with the same value.
    static func of(_ value: some Any) -> AttributeValue {
        switch value {
        case let storable as any StorableValue: return storable.queryConstant
        case let raw as any RawRepresentable:
            if let storable = raw.rawValue as? any StorableValue { return storable.queryConstant }
            return composite(value)
        default: return composite(value)
        }
    }

    /// A value that cannot be encoded is in no row, so its constant equals nothing.
    private static func composite(_ value: some Any) -> AttributeValue {
        guard let value = value as? any Encodable else { return .composite([:]) }
        do { return try AttributeValueEncoder.encode(value) } catch { return .composite([:]) }
    }
}

extension StorableValue {
    /// The value as a constant of a predicate. The predicate language has only doubles, so a Float becomes the double
    /// with the same decimal digits, which a Float attribute is equal to.
    var queryConstant: AttributeValue {
        guard case .float(let value) = attributeValue else { return attributeValue }
        return .double(Double(value.description) ?? Double(value))
    }
}

extension ValueExpression {
    /// An element of a composite attribute, by its name in the model, or by names with dots between for nested
    /// elements.
    public func element<Element: StorableValue>(_ name: String, as type: Element.Type = Element.self)
        -> ValueExpression<Element>
    {
        ValueExpression<Element>(.path(name, of: expression), mayBeNil: true)
    }
}

// MARK: - Logic

extension ValueExpression where Value == Bool {
    /// Whether both conditions hold.
    public static func && (left: ValueExpression, right: ValueExpression) -> ValueExpression {
        ValueExpression(left.predicate && right.predicate, mayBeNil: left.mayBeNil || right.mayBeNil)
    }

    /// Whether at least one condition holds.
    public static func || (left: ValueExpression, right: ValueExpression) -> ValueExpression {
        ValueExpression(left.predicate || right.predicate, mayBeNil: left.mayBeNil || right.mayBeNil)
    }

    /// Whether the condition does not hold, also where it is false because of nil.
    public static prefix func ! (condition: ValueExpression) -> ValueExpression {
        ValueExpression(.not(condition.predicate), mayBeNil: condition.mayBeNil)
    }
}

// MARK: - Comparisons

extension ValueExpression {
    /// Whether the value is equal to another; with nil, whether there is no value.
    public static func == (left: ValueExpression, right: Value?) -> ValueExpression<Bool> {
        left.condition(.equalTo, left.constant(orNil: right))
    }

    /// Whether the value differs from another, false for nil; with nil, whether there is a value.
    public static func != (left: ValueExpression, right: Value?) -> ValueExpression<Bool> {
        left.condition(.notEqualTo, left.constant(orNil: right))
    }

    /// Whether both are equal; false if either is nil.
    public static func == (left: ValueExpression, right: ValueExpression) -> ValueExpression<Bool> {
        left.condition(.equalTo, right)
    }

    /// Whether they are different; false if either is nil.
    public static func != (left: ValueExpression, right: ValueExpression) -> ValueExpression<Bool> {
        left.condition(.notEqualTo, right)
    }

    private func constant(orNil value: Value?) -> FetchExpression { value.map(constant) ?? .constant(.null) }

    /// Whether the value is equal to one of the values.
    public func isIn(_ values: some Sequence<Value>) -> ValueExpression<Bool> {
        condition(.in, .aggregate(values.map(constant)))
    }

    /// The value, or `fallback` instead of nil.
    public static func ?? (left: ValueExpression, fallback: Value) -> ValueExpression {
        ValueExpression(
            .conditional(left.expression.isNil, left.constant(fallback), left.expression), mayBeNil: false,
            encode: left.encode)
    }
}

extension ValueExpression where Value: Comparable & StorableValue {
    /// Whether the value is less than another; false for nil.
    public static func < (left: ValueExpression, right: Value) -> ValueExpression<Bool> {
        left.condition(.lessThan, left.constant(right))
    }

    /// Whether the value is less than another expression's; false if either is nil.
    public static func < (left: ValueExpression, right: ValueExpression) -> ValueExpression<Bool> {
        left.condition(.lessThan, right)
    }

    /// Whether the value is at most another; false for nil.
    public static func <= (left: ValueExpression, right: Value) -> ValueExpression<Bool> {
        left.condition(.lessThanOrEqualTo, left.constant(right))
    }

    /// Whether the value is at most another expression's; false if either is nil.
    public static func <= (left: ValueExpression, right: ValueExpression) -> ValueExpression<Bool> {
        left.condition(.lessThanOrEqualTo, right)
    }

    /// Whether the value is greater than another; false for nil.
    public static func > (left: ValueExpression, right: Value) -> ValueExpression<Bool> {
        left.condition(.greaterThan, left.constant(right))
    }

    /// Whether the value is greater than another expression's; false if either is nil.
    public static func > (left: ValueExpression, right: ValueExpression) -> ValueExpression<Bool> {
        left.condition(.greaterThan, right)
    }

    /// Whether the value is at least another; false for nil.
    public static func >= (left: ValueExpression, right: Value) -> ValueExpression<Bool> {
        left.condition(.greaterThanOrEqualTo, left.constant(right))
    }

    /// Whether the value is at least another expression's; false if either is nil.
    public static func >= (left: ValueExpression, right: ValueExpression) -> ValueExpression<Bool> {
        left.condition(.greaterThanOrEqualTo, right)
    }

    /// Whether the value is between two bounds, both included.
    public func isBetween(_ lower: Value, _ upper: Value) -> ValueExpression<Bool> {
        condition(.between, .aggregate([constant(lower), constant(upper)]))
    }

    /// Whether the value is in the range.
    public func isIn(_ range: ClosedRange<Value>) -> ValueExpression<Bool> {
        isBetween(range.lowerBound, range.upperBound)
    }

    /// Whether the value is in the range, without the upper bound.
    public func isIn(_ range: Range<Value>) -> ValueExpression<Bool> {
        self >= range.lowerBound && self < range.upperBound
    }
}

extension ValueExpression where Value: RawRepresentable, Value.RawValue: StorableValue {
    /// The raw value, in which an enum is stored.
    public var rawValue: ValueExpression<Value.RawValue> {
        ValueExpression<Value.RawValue>(expression, mayBeNil: mayBeNil)
    }
}
