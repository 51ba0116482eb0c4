public import Foundation
public import StrataModel

/// An option of an attribute whose values are of a type, as the code that `@Entity` generates uses it.
public struct AttributeOption<Value>: Sendable {
    let kind: AttributeOptionKind

    init(_ kind: AttributeOptionKind) { self.kind = kind }

    /// An index over the attribute, in ascending order.
    public static var indexed: Self { Self(.indexed([])) }
    /// A uniqueness constraint: no two objects of the entity have the same value.
    public static var unique: Self { Self(.unique) }
    /// The attribute may be nil in the store, though its Swift type has no nil: it then reads as zero or false, as a
    /// scalar of Core Data does.
    public static var optional: Self { Self(.optional) }
    /// The attribute is in memory only, and not in the store.
    public static var transient: Self { Self(.transient) }
    /// The history of a deleted object keeps the value readable.
    public static var preservesValueInHistoryOnDeletion: Self { Self(.preserved) }
    /// Values are encrypted before they are stored; see `AttributeDescription.encryption`.
    public static var encrypted: Self { Self(.encrypted(.storeKey)) }
    /// Values are encrypted under the key of a subject, too: of the object itself, or of what a to-one relationship or an
    /// attribute of the entity names. See `AttributeEncryption.subjectKey(_:)`.
    public static func encrypted(subject: EncryptionSubject) -> Self { Self(.encrypted(.subjectKey(subject))) }
    /// The attribute's name in an earlier version of the model.
    public static func renamed(from name: String) -> Self { Self(.renamed(name)) }
    /// Text that is part of the version hash, so that a change of it makes the model another version.
    public static func versionHashModifier(_ text: String) -> Self { Self(.versionHashModifier(text)) }
    /// Values of the app by key, which Strata keeps but does not use.
    public static func userInfo(_ info: [String: String]) -> Self { Self(.userInfo(info)) }
    /// The store computes the value at each save from an expression; see `AttributeDescription.derivationExpression`.
    /// Setting the attribute has no effect.
    public static func derived(_ expression: String) -> Self { Self(.derived(expression)) }
    /// The value is stored as the bytes that the `ValueTransformer` with the registered name makes of it.
    public static func transformable(by name: String) -> Self { Self(.transformable(name)) }
    /// The value, of a `Codable` type or as property lists have them, is stored as bytes.
    public static var transformable: Self { Self(.transformable(nil)) }
    /// A condition on the value, which is `SELF`, with the message of the error if it does not hold.
    public static func check(_ predicate: FetchPredicate, message: String) -> Self {
        Self(.rule(.predicate(ValidationPredicate(predicate, message: message))))
    }
}

extension AttributeOption where Value: OrderedAttribute {
    /// The permitted values, both bounds included.
    public static func range(_ bounds: ClosedRange<Value>) -> Self {
        Self(.range(bounds.lowerBound.attributeValue, bounds.upperBound.attributeValue))
    }

    /// The smallest permitted value.
    public static func range(_ bounds: PartialRangeFrom<Value>) -> Self {
        Self(.range(bounds.lowerBound.attributeValue, nil))
    }

    /// The largest permitted value.
    public static func range(_ bounds: PartialRangeThrough<Value>) -> Self {
        Self(.range(nil, bounds.upperBound.attributeValue))
    }
}

extension AttributeOption where Value: MeasuredAttribute {
    /// The permitted number of characters of a string, or bytes of data.
    public static func length(_ bounds: ClosedRange<Int>) -> Self {
        Self(.rule(.length(minimum: bounds.lowerBound, maximum: bounds.upperBound)))
    }

    /// The smallest permitted number of characters or bytes.
    public static func length(_ bounds: PartialRangeFrom<Int>) -> Self {
        Self(.rule(.length(minimum: bounds.lowerBound, maximum: nil)))
    }

    /// The largest permitted number of characters or bytes.
    public static func length(_ bounds: PartialRangeThrough<Int>) -> Self {
        Self(.rule(.length(minimum: nil, maximum: bounds.upperBound)))
    }
}

extension AttributeOption where Value == String {
    /// A regular expression that the whole string must match.
    public static func pattern(_ expression: String) -> Self { Self(.rule(.pattern(expression))) }
    /// An index that ignores case, diacritics, or both.
    public static func indexed(_ folding: StringFolding) -> Self { Self(.indexed(folding)) }
}

extension AttributeOption where Value == Data {
    /// Large values are stored in files of their own, and read when the attribute is.
    public static var externalStorage: Self { Self(.externalStorage) }
}

/// Types of attributes that a range can limit.
public protocol OrderedAttribute: StorableValue, Comparable {}
extension Int16: OrderedAttribute {}
extension Int32: OrderedAttribute {}
extension Int64: OrderedAttribute {}
extension Int: OrderedAttribute {}
extension Float: OrderedAttribute {}
extension Double: OrderedAttribute {}
extension Decimal: OrderedAttribute {}
extension Date: OrderedAttribute {}

/// Types of attributes whose values have a length.
public protocol MeasuredAttribute: StorableValue {}
extension String: MeasuredAttribute {}
extension Data: MeasuredAttribute {}

/// The effects of attribute options, whatever the type of the attribute.
enum AttributeOptionKind: Sendable {
    case indexed(StringFolding)
    case unique
    case optional
    case transient
    case preserved
    case externalStorage
    case encrypted(AttributeEncryption)
    case renamed(String)
    case versionHashModifier(String)
    case userInfo([String: String])
    case transformable(String?)
    case derived(String)
    case range(AttributeValue?, AttributeValue?)
    case rule(ValidationRule)
}

/// An option as `@Attribute(...)` takes it, whatever the type of the attribute.
///
/// The macro copies its arguments into generated code, where the compiler checks them as `AttributeOption<Value>`.
public struct AnyAttributeOption: Sendable {
    private init() {}

    /// An index over the attribute, in ascending order.
    public static var indexed: Self { Self() }
    /// A uniqueness constraint: no two objects of the entity have the same value.
    public static var unique: Self { Self() }
    /// The attribute may be nil in the store, though its Swift type has no nil: it then reads as zero or false.
    public static var optional: Self { Self() }
    /// The attribute is in memory only, and not in the store.
    public static var transient: Self { Self() }
    /// The history of a deleted object keeps the value readable.
    public static var preservesValueInHistoryOnDeletion: Self { Self() }
    /// Large values are stored in files of their own, and read when the attribute is.
    public static var externalStorage: Self { Self() }
    /// Values are encrypted before they are stored; see `AttributeDescription.encryption`.
    public static var encrypted: Self { Self() }
    /// Values are encrypted under the key of a subject, too: of the object itself, or of what a to-one relationship or an
    /// attribute of the entity names. See `AttributeEncryption.subjectKey(_:)`.
    public static func encrypted(subject: EncryptionSubject) -> Self { Self() }
    /// The attribute's name in an earlier version of the model.
    public static func renamed(from name: String) -> Self { Self() }
    /// Text that is part of the version hash, so that a change of it makes the model another version.
    public static func versionHashModifier(_ text: String) -> Self { Self() }
    /// Values of the app by key, which Strata keeps but does not use.
    public static func userInfo(_ info: [String: String]) -> Self { Self() }
    /// The value is stored as the bytes that the `ValueTransformer` with the registered name makes of it.
    public static func transformable(by name: String) -> Self { Self() }
    /// The value, of a `Codable` type or as property lists have them, is stored as bytes.
    public static var transformable: Self { Self() }
    /// The store computes the value at each save from an expression.
    public static func derived(_ expression: String) -> Self { Self() }
    /// A condition on the value, which is `SELF`, with the message of the error if it does not hold.
    public static func check(_ predicate: FetchPredicate, message: String) -> Self { Self() }
    /// The permitted values, both bounds included.
    public static func range<Bound>(_ bounds: ClosedRange<Bound>) -> Self { Self() }
    /// The smallest permitted value.
    public static func range<Bound>(_ bounds: PartialRangeFrom<Bound>) -> Self { Self() }
    /// The largest permitted value.
    public static func range<Bound>(_ bounds: PartialRangeThrough<Bound>) -> Self { Self() }
    /// The permitted number of characters of a string, or bytes of data.
    public static func length(_ bounds: ClosedRange<Int>) -> Self { Self() }
    /// The smallest permitted number of characters or bytes.
    public static func length(_ bounds: PartialRangeFrom<Int>) -> Self { Self() }
    /// The largest permitted number of characters or bytes.
    public static func length(_ bounds: PartialRangeThrough<Int>) -> Self { Self() }
    /// A regular expression that the whole string must match.
    public static func pattern(_ expression: String) -> Self { Self() }
    /// An index that ignores case, diacritics, or both.
    public static func indexed(_ folding: StringFolding) -> Self { Self() }
}
