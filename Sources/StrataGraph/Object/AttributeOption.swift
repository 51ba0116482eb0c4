public import Foundation
public import StrataModel

/// Something said about an attribute whose values are `Value`; the strict form that generated descriptions use.
public struct AttributeOption<Value>: Sendable {
    let kind: AttributeOptionKind

    init(_ kind: AttributeOptionKind) { self.kind = kind }

    /// Indexed alone, in ascending order.
    public static var indexed: Self { Self(.indexed([])) }
    /// No two objects of the entity have the same value.
    public static var unique: Self { Self(.unique) }
    /// Kept in memory only; part of the model but not of the store.
    public static var transient: Self { Self(.transient) }
    /// The value stays readable in the history of a deleted object.
    public static var preservesValueInHistoryOnDeletion: Self { Self(.preserved) }
    /// The attribute's name in an earlier version of the model.
    public static func renamed(from name: String) -> Self { Self(.renamed(name)) }
    public static func versionHashModifier(_ text: String) -> Self { Self(.versionHashModifier(text)) }
    public static func userInfo(_ info: [String: String]) -> Self { Self(.userInfo(info)) }
    /// Computed by the store whenever it saves, as `AttributeDescription.derivationExpression` says; setting the attribute
    /// has no effect.
    public static func derived(_ expression: String) -> Self { Self(.derived(expression)) }
    /// Stored as the bytes that the `ValueTransformer` registered as `name` makes.
    public static func transformable(by name: String) -> Self { Self(.transformable(name)) }
    /// A condition over the value as `SELF`, and what is said when it does not hold.
    public static func check(_ predicate: FetchPredicate, message: String) -> Self {
        Self(.rule(.predicate(ValidationPredicate(predicate, message: message))))
    }
}

extension AttributeOption where Value: OrderedAttribute {
    public static func range(_ bounds: ClosedRange<Value>) -> Self {
        Self(.range(bounds.lowerBound.attributeValue, bounds.upperBound.attributeValue))
    }

    public static func range(_ bounds: PartialRangeFrom<Value>) -> Self {
        Self(.range(bounds.lowerBound.attributeValue, nil))
    }

    public static func range(_ bounds: PartialRangeThrough<Value>) -> Self {
        Self(.range(nil, bounds.upperBound.attributeValue))
    }
}

extension AttributeOption where Value: MeasuredAttribute {
    /// Fewest and most characters of a string, or bytes of data.
    public static func length(_ bounds: ClosedRange<Int>) -> Self {
        Self(.rule(.length(minimum: bounds.lowerBound, maximum: bounds.upperBound)))
    }

    public static func length(_ bounds: PartialRangeFrom<Int>) -> Self {
        Self(.rule(.length(minimum: bounds.lowerBound, maximum: nil)))
    }

    public static func length(_ bounds: PartialRangeThrough<Int>) -> Self {
        Self(.rule(.length(minimum: nil, maximum: bounds.upperBound)))
    }
}

extension AttributeOption where Value == String {
    /// A regular expression that the whole string must match.
    public static func pattern(_ expression: String) -> Self { Self(.rule(.pattern(expression))) }
    /// Indexed without regard to case, to diacritics, or to both.
    public static func indexed(_ folding: StringFolding) -> Self { Self(.indexed(folding)) }
}

extension AttributeOption where Value == Data {
    /// Large values are kept in files beside the store and read only when asked for.
    public static var externalStorage: Self { Self(.externalStorage) }
}

/// Types whose values can be bounded by a range.
public protocol OrderedAttribute: StorableValue, Comparable {}
extension Int16: OrderedAttribute {}
extension Int32: OrderedAttribute {}
extension Int64: OrderedAttribute {}
extension Int: OrderedAttribute {}
extension Float: OrderedAttribute {}
extension Double: OrderedAttribute {}
extension Decimal: OrderedAttribute {}
extension Date: OrderedAttribute {}

/// Types whose values have a length.
public protocol MeasuredAttribute: StorableValue {}
extension String: MeasuredAttribute {}
extension Data: MeasuredAttribute {}

enum AttributeOptionKind: Sendable {
    case indexed(StringFolding)
    case unique
    case transient
    case preserved
    case externalStorage
    case renamed(String)
    case versionHashModifier(String)
    case userInfo([String: String])
    case transformable(String)
    case derived(String)
    case range(AttributeValue?, AttributeValue?)
    case rule(ValidationRule)
}

/// The loose form of `AttributeOption`: what `@Attribute(...)` takes, before the attribute's type is known.
///
/// The macro copies the arguments into the generated description, where they are checked as `AttributeOption<Value>`.
public struct AnyAttributeOption: Sendable {
    private init() {}

    public static var indexed: Self { Self() }
    public static var unique: Self { Self() }
    public static var transient: Self { Self() }
    public static var preservesValueInHistoryOnDeletion: Self { Self() }
    public static var externalStorage: Self { Self() }
    public static func renamed(from name: String) -> Self { Self() }
    public static func versionHashModifier(_ text: String) -> Self { Self() }
    public static func userInfo(_ info: [String: String]) -> Self { Self() }
    public static func transformable(by name: String) -> Self { Self() }
    public static func derived(_ expression: String) -> Self { Self() }
    public static func check(_ predicate: FetchPredicate, message: String) -> Self { Self() }
    public static func range<Bound>(_ bounds: ClosedRange<Bound>) -> Self { Self() }
    public static func range<Bound>(_ bounds: PartialRangeFrom<Bound>) -> Self { Self() }
    public static func range<Bound>(_ bounds: PartialRangeThrough<Bound>) -> Self { Self() }
    public static func length(_ bounds: ClosedRange<Int>) -> Self { Self() }
    public static func length(_ bounds: PartialRangeFrom<Int>) -> Self { Self() }
    public static func length(_ bounds: PartialRangeThrough<Int>) -> Self { Self() }
    public static func pattern(_ expression: String) -> Self { Self() }
    public static func indexed(_ folding: StringFolding) -> Self { Self() }
}
