import StrataModel

/// A value in a typed query: an attribute at the end of a path, or what was made of some.
///
/// A condition is a `ValueExpression<Bool>`. Whether the attribute is optional is not part of the type: every comparison with a
/// missing value is false, `!=` too; only `== nil` and `!= nil` ask for it.
///
/// ```swift
/// try FetchRequest<Movie>().where { $0.rating > 4 && $0.title.contains("stalk", [.caseInsensitive]) }
/// ```
///
/// Terms stand on the left: `$0.rating > 4`, not `4 < $0.rating`. A variable must have the attribute's type: an `Int`
/// is not compared with an `Int32`.
public struct ValueExpression<Value> {
    enum Meaning {
        case value(FetchExpression)
        case condition(FetchPredicate)
    }

    let meaning: Meaning
    /// Whether it may come to nil, or a condition to false because something in it is.
    let mayBeNil: Bool
    /// A Swift value as the store has it.
    let encode: (Value) -> AttributeValue

    init(_ expression: FetchExpression, mayBeNil: Bool, encode: @escaping (Value) -> AttributeValue) {
        meaning = .value(expression)
        self.mayBeNil = mayBeNil
        self.encode = encode
    }

    /// The term as part of a tree.
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

    /// The term as a condition; a Bool attribute asks whether it is true.
    var predicate: FetchPredicate {
        switch meaning {
        case .condition(let predicate): predicate
        case .value(let expression):
            .comparison(ComparisonPredicate(expression, .equalTo, .constant(.boolean(true))))
        }
    }
}

/// Swift values as constants of predicates.
enum QueryConstant {
    /// What a property of the type would be stored as.
    static func of(_ value: some Any) -> AttributeValue {
        switch value {
        case let storable as any StorableValue: return storable.queryConstant
        case let raw as any RawRepresentable:
            if let storable = raw.rawValue as? any StorableValue { return storable.queryConstant }
            return composite(value)
        default: return composite(value)
        }
    }

    /// A value that cannot be encoded is in no row: it equals nothing.
    private static func composite(_ value: some Any) -> AttributeValue {
        guard let value = value as? any Encodable else { return .composite([:]) }
        do { return try AttributeValueEncoder.encode(value) } catch { return .composite([:]) }
    }
}

extension StorableValue {
    /// As a constant of a predicate: the format language has one kind of floating point number, and beside a Float
    /// attribute the double that is written the same is that Float again.
    var queryConstant: AttributeValue {
        guard case .float(let value) = attributeValue else { return attributeValue }
        return .double(Double(value.description) ?? Double(value))
    }
}

extension ValueExpression {
    /// An element of a composite attribute, by its name in the model; dots stand between the names of nested ones.
    public func element<Element: StorableValue>(_ name: String, as type: Element.Type = Element.self)
        -> ValueExpression<Element>
    {
        ValueExpression<Element>(.path(name, of: expression), mayBeNil: true)
    }
}

// MARK: - Logic

extension ValueExpression where Value == Bool {
    /// Both hold.
    public static func && (left: ValueExpression, right: ValueExpression) -> ValueExpression {
        ValueExpression(left.predicate && right.predicate, mayBeNil: left.mayBeNil || right.mayBeNil)
    }

    /// At least one holds.
    public static func || (left: ValueExpression, right: ValueExpression) -> ValueExpression {
        ValueExpression(left.predicate || right.predicate, mayBeNil: left.mayBeNil || right.mayBeNil)
    }

    /// It does not hold; what is false because of a missing value is true then.
    public static prefix func ! (term: ValueExpression) -> ValueExpression {
        ValueExpression(.not(term.predicate), mayBeNil: term.mayBeNil)
    }
}

// MARK: - Comparisons

extension ValueExpression {
    /// Equal; with nil, whether there is no value.
    public static func == (left: ValueExpression, right: Value?) -> ValueExpression<Bool> {
        left.condition(.equalTo, left.constant(orNil: right))
    }

    /// Another value; false where there is none. With nil, whether there is a value.
    public static func != (left: ValueExpression, right: Value?) -> ValueExpression<Bool> {
        left.condition(.notEqualTo, left.constant(orNil: right))
    }

    /// Equal; false where either is missing.
    public static func == (left: ValueExpression, right: ValueExpression) -> ValueExpression<Bool> {
        left.condition(.equalTo, right)
    }

    /// Different; false where either is missing.
    public static func != (left: ValueExpression, right: ValueExpression) -> ValueExpression<Bool> {
        left.condition(.notEqualTo, right)
    }

    private func constant(orNil value: Value?) -> FetchExpression { value.map(constant) ?? .constant(.null) }

    /// Equal to one of the values.
    public func isIn(_ values: some Sequence<Value>) -> ValueExpression<Bool> {
        condition(.in, .aggregate(values.map(constant)))
    }

    /// The value, or `fallback` where there is none.
    public static func ?? (left: ValueExpression, fallback: Value) -> ValueExpression {
        ValueExpression(
            .conditional(left.expression.isNil, left.constant(fallback), left.expression), mayBeNil: false,
            encode: left.encode)
    }
}

extension ValueExpression where Value: Comparable & StorableValue {
    public static func < (left: ValueExpression, right: Value) -> ValueExpression<Bool> {
        left.condition(.lessThan, left.constant(right))
    }

    public static func < (left: ValueExpression, right: ValueExpression) -> ValueExpression<Bool> {
        left.condition(.lessThan, right)
    }

    public static func <= (left: ValueExpression, right: Value) -> ValueExpression<Bool> {
        left.condition(.lessThanOrEqualTo, left.constant(right))
    }

    public static func <= (left: ValueExpression, right: ValueExpression) -> ValueExpression<Bool> {
        left.condition(.lessThanOrEqualTo, right)
    }

    public static func > (left: ValueExpression, right: Value) -> ValueExpression<Bool> {
        left.condition(.greaterThan, left.constant(right))
    }

    public static func > (left: ValueExpression, right: ValueExpression) -> ValueExpression<Bool> {
        left.condition(.greaterThan, right)
    }

    public static func >= (left: ValueExpression, right: Value) -> ValueExpression<Bool> {
        left.condition(.greaterThanOrEqualTo, left.constant(right))
    }

    public static func >= (left: ValueExpression, right: ValueExpression) -> ValueExpression<Bool> {
        left.condition(.greaterThanOrEqualTo, right)
    }

    /// From the one bound to the other, both included.
    public func isBetween(_ lower: Value, _ upper: Value) -> ValueExpression<Bool> {
        condition(.between, .aggregate([constant(lower), constant(upper)]))
    }

    /// In the range.
    public func isIn(_ range: ClosedRange<Value>) -> ValueExpression<Bool> {
        isBetween(range.lowerBound, range.upperBound)
    }

    /// In the range, which ends before its upper bound.
    public func isIn(_ range: Range<Value>) -> ValueExpression<Bool> {
        self >= range.lowerBound && self < range.upperBound
    }
}

extension ValueExpression where Value: RawRepresentable, Value.RawValue: StorableValue {
    /// What an enum is stored as.
    public var rawValue: ValueExpression<Value.RawValue> {
        ValueExpression<Value.RawValue>(expression, mayBeNil: mayBeNil)
    }
}
