public import StrataModel

/// The values of one object that a batch inserts, by property.
///
/// ```swift
/// row[\.title] = "Stalker"
/// row[\.familyMember] = ann.objectID
/// row[\.actors] = [kaidanovsky.objectID, freindlich.objectID]
/// row["rating"] = 5
/// ```
///
/// What is not given has the default of the model.
public struct BatchRow<Object: ManagedObject> {
    /// Attributes and to-ones that were given, by name.
    public var values: [String: AttributeValue] = [:]
    /// The members of to-manys that were given, by name.
    public var members: [String: [ObjectID]] = [:]
    private let names: [AnyKeyPath: String]

    /// A row without values.
    public init() { names = EntityDefinition.of(Object.self).names }

    /// A value by the property's name; a to-one takes the id of its object.
    public subscript(name: String) -> AttributeValue? {
        get { values[name] }
        set { values[name] = newValue }
    }

    public subscript<Value: StorableValue>(path: KeyPath<Object, Value>) -> Value? {
        get { values[name(path)].flatMap(Value.init(attributeValue:)) }
        set { values[name(path)] = newValue?.attributeValue ?? .null }
    }

    public subscript<Value: StorableValue>(path: KeyPath<Object, Value?>) -> Value? {
        get { values[name(path)].flatMap(Value.init(attributeValue:)) }
        set { values[name(path)] = newValue?.attributeValue ?? .null }
    }

    public subscript<Value: RawRepresentable>(path: KeyPath<Object, Value>) -> Value?
    where Value.RawValue: StorableValue {
        get { values[name(path)].flatMap(Value.RawValue.init(attributeValue:)).flatMap(Value.init(rawValue:)) }
        set { values[name(path)] = newValue?.rawValue.attributeValue ?? .null }
    }

    public subscript<Value: RawRepresentable>(path: KeyPath<Object, Value?>) -> Value?
    where Value.RawValue: StorableValue {
        get { values[name(path)].flatMap(Value.RawValue.init(attributeValue:)).flatMap(Value.init(rawValue:)) }
        set { values[name(path)] = newValue?.rawValue.attributeValue ?? .null }
    }

    /// The object that a to-one leads to, by its id.
    public subscript<Target: ManagedObject>(path: KeyPath<Object, Target?>) -> ObjectID? {
        get { if case .objectID(let id)? = values[name(path)] { id } else { nil } }
        set { values[name(path)] = newValue.map(AttributeValue.objectID) ?? .null }
    }

    /// The members of a to-many by their ids, in order where it is ordered.
    public subscript<Member: ManagedObject>(path: KeyPath<Object, ToMany<Member>>) -> [ObjectID]? {
        get { members[name(path)] }
        set { members[name(path)] = newValue }
    }

    private func name(_ path: PartialKeyPath<Object>) -> String { names[path] ?? PropertyName.ofAny(path) }
}

/// One row of a step, whatever it came from.
struct BatchValues: Sendable {
    var values: [String: AttributeValue]
    var members: [String: [ObjectID]] = [:]
}
