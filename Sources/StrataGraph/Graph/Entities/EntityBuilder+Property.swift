import StrataModel

extension EntityBuilder {
    // MARK: Under one name, for generated code that cannot tell an attribute from a relationship

    /// Declares an attribute.
    public mutating func property<Value: StorableValue>(
        _ path: KeyPath<Leaf, Value>, _ name: String, default value: Value? = nil, _ options: AttributeOption<Value>...
    ) {
        add(path, AttributeDescription(name: name, type: Value.attributeType), value?.attributeValue, options)
    }

    /// Declares an optional attribute.
    public mutating func property<Value: StorableValue>(
        _ path: KeyPath<Leaf, Value?>, _ name: String, default value: Value? = nil, _ options: AttributeOption<Value>...
    ) {
        let attribute = AttributeDescription(name: name, type: Value.attributeType, isOptional: true)
        add(path, attribute, value?.attributeValue, options)
    }

    /// Declares an attribute that is stored as its raw value.
    public mutating func property<Value: RawRepresentable>(
        _ path: KeyPath<Leaf, Value>, _ name: String, default value: Value? = nil, _ options: AttributeOption<Value>...
    ) where Value.RawValue: StorableValue {
        var attribute = AttributeDescription(name: name, type: Value.RawValue.attributeType)
        attribute.attributeValueClassName = String(reflecting: Value.self)
        add(path, attribute, value?.rawValue.attributeValue, options)
    }

    /// Declares an optional attribute that is stored as its raw value.
    public mutating func property<Value: RawRepresentable>(
        _ path: KeyPath<Leaf, Value?>, _ name: String, default value: Value? = nil, _ options: AttributeOption<Value>...
    ) where Value.RawValue: StorableValue {
        var attribute = AttributeDescription(name: name, type: Value.RawValue.attributeType, isOptional: true)
        attribute.attributeValueClassName = String(reflecting: Value.self)
        add(path, attribute, value?.rawValue.attributeValue, options)
    }

    /// Declares an attribute that is stored as a composite.
    @_disfavoredOverload
    public mutating func property<Value: Codable & Sendable>(
        _ path: KeyPath<Leaf, Value>, _ name: String, default value: Value? = nil, _ options: AttributeOption<Value>...
    ) {
        addComposite(path, name, value, options)
    }

    /// Declares a to-one.
    public mutating func property<Target: ManagedObject>(
        _ path: KeyPath<Leaf, Target?>, _ name: String
    ) {
        add(path, name, to: Target.self, isToMany: false, .nullify, nil, [])
    }

    /// Declares a to-many.
    public mutating func property<Member: ManagedObject>(
        _ path: KeyPath<Leaf, ToMany<Member>>, _ name: String
    ) {
        add(path, name, to: Member.self, isToMany: true, .nullify, nil, [])
    }
}
