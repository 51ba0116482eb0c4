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
/// A property without a value gets the default of the model.
public struct BatchRow<Object: ManagedObject> {
    /// Attributes and to-ones that were given, by name.
    public var values: [String: AttributeValue] {
        get { Dictionary(uniqueKeysWithValues: entries.map { ($0.name, $0.value) }) }
        set { entries = newValue.map { BatchValues.Entry(name: $0.key, value: $0.value) } }
    }
    /// The same, in the order in which they were given.
    private(set) var entries: [BatchValues.Entry] = []
    /// The members of to-manys that were given, by name.
    public var members: [String: [ObjectID]] = [:]
    private let names: [AnyKeyPath: String]
    /// The names of the row before. A row nearly always has the same names in the same order.
    private var usualNames: [String] = []
    /// Whether the names so far are the same.
    private var isUsual = true

    /// A row without values.
    public init() { names = EntityDefinition.of(Object.self).names }

    /// A value by the property's name; a to-one takes the id of its object. A key path names an element of a composite,
    /// as in `address.city`.
    public subscript(name: String) -> AttributeValue? {
        get { entries.first { $0.name == name }?.value }
        set { set(name, newValue) }
    }

    private mutating func set(_ name: String, _ value: AttributeValue?) {
        let index = entries.count
        if let value, index < usualNames.count, usualNames[index] == name, isUsual {
            return entries.append(BatchValues.Entry(name: name, value: value))
        }
        let known = entries.firstIndex { $0.name == name }
        switch (known, value) {
        case (let known?, let value?): entries[known].value = value
        case (let known?, nil): entries.remove(at: known)
        case (nil, let value?): entries.append(BatchValues.Entry(name: name, value: value))
        case (nil, nil): break
        }
        isUsual = entries.count <= usualNames.count && zip(entries, usualNames).allSatisfy { $0.name == $1 }
    }

    /// Returns the values and empties the row for the next one.
    mutating func takeValues() -> BatchValues {
        let taken = BatchValues(entries: entries, members: members)
        if !isUsual || usualNames.count != entries.count { usualNames = entries.map(\.name) }
        isUsual = true
        entries = []
        entries.reserveCapacity(usualNames.count)
        members = [:]
        return taken
    }

    /// The value of an attribute.
    public subscript<Value: StorableValue>(path: KeyPath<Object, Value>) -> Value? {
        get { self[name(path)].flatMap(Value.init(attributeValue:)) }
        set { self[name(path)] = newValue?.attributeValue ?? .null }
    }

    /// The value of an optional attribute.
    public subscript<Value: StorableValue>(path: KeyPath<Object, Value?>) -> Value? {
        get { self[name(path)].flatMap(Value.init(attributeValue:)) }
        set { self[name(path)] = newValue?.attributeValue ?? .null }
    }

    /// The value of an attribute that is stored as a raw value.
    public subscript<Value: RawRepresentable>(path: KeyPath<Object, Value>) -> Value?
    where Value.RawValue: StorableValue {
        get { self[name(path)].flatMap(Value.RawValue.init(attributeValue:)).flatMap(Value.init(rawValue:)) }
        set { self[name(path)] = newValue?.rawValue.attributeValue ?? .null }
    }

    /// The value of an optional attribute that is stored as a raw value.
    public subscript<Value: RawRepresentable>(path: KeyPath<Object, Value?>) -> Value?
    where Value.RawValue: StorableValue {
        get { self[name(path)].flatMap(Value.RawValue.init(attributeValue:)).flatMap(Value.init(rawValue:)) }
        set { self[name(path)] = newValue?.rawValue.attributeValue ?? .null }
    }

    /// The object that a to-one leads to, by its id.
    public subscript<Target: ManagedObject>(path: KeyPath<Object, Target?>) -> ObjectID? {
        get { if case .objectID(let id)? = self[name(path)] { id } else { nil } }
        set { self[name(path)] = newValue.map(AttributeValue.objectID) ?? .null }
    }

    /// The members of a to-many by their ids, in order if it is ordered.
    public subscript<Member: ManagedObject>(path: KeyPath<Object, ToMany<Member>>) -> [ObjectID]? {
        get { members[name(path)] }
        set { members[name(path)] = newValue }
    }

    private func name(_ path: PartialKeyPath<Object>) -> String { names[path] ?? PropertyName.ofAny(path) }
}

/// The values of one row of a step, from a `BatchRow` or a dictionary.
package struct BatchValues: Sendable {
    package struct Entry: Sendable {
        let name: String
        var value: AttributeValue

        package init(name: String, value: AttributeValue) {
            self.name = name
            self.value = value
        }
    }

    /// Each name once.
    let entries: [Entry]
    let members: [String: [ObjectID]]

    /// - Parameter entries: attributes and to-ones, each name once. It is fastest if all rows have one order.
    package init(entries: [Entry], members: [String: [ObjectID]]) {
        self.entries = entries
        self.members = members
    }

    /// The value of an attribute or a to-one; nil if none is given.
    package func value(named name: String) -> AttributeValue? { entries.first { $0.name == name }?.value }

    init(_ values: [String: AttributeValue]) {
        self.init(entries: values.map { Entry(name: $0.key, value: $0.value) }, members: [:])
    }

    /// Values of any type by name, as `setValue(_:forKey:)` takes them; objects stand for their ids.
    ///
    /// - Throws: `wrongType` for a value that no attribute holds, with its key.
    init(any values: [String: Any], entityName: String) throws {
        var entries: [Entry] = []
        var members: [String: [ObjectID]] = [:]
        for (name, value) in values {
            if let single = try Self.single(value) {
                entries.append(Entry(name: name, value: single))
            } else if let list = value as? any Sequence, let ids = try Self.ids(in: list) {
                members[name] = ids
            } else {
                throw StrataError(
                    .wrongType, "\(name) cannot hold a value of type \(type(of: value)).",
                    context: .init(entityName: entityName, key: name))
            }
        }
        self.init(entries: entries, members: members)
    }

    /// The value of an attribute or a to-one; nil for anything else.
    private static func single(_ value: Any) throws -> AttributeValue? {
        guard let value = ManagedObject.unwrapped(value) else { return .null }
        if let object = value as? ManagedObject { return .objectID(object.objectID) }
        return try AttributeValue(any: value, for: nil)
    }

    /// The members of a to-many; nil if an element is neither an object nor an id.
    private static func ids(in list: any Sequence) throws -> [ObjectID]? {
        var ids: [ObjectID] = []
        for element in list {
            guard case .objectID(let id)? = try single(element) else { return nil }
            ids.append(id)
        }
        return ids
    }

    init<Object>(_ row: BatchRow<Object>) { self.init(entries: row.entries, members: row.members) }
}
