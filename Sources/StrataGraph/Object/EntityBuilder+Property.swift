import StrataModel

extension EntityBuilder {
    // MARK: The same under one name, for code that cannot tell an attribute from a relationship

    public mutating func property<Value: StorableValue>(
        _ path: KeyPath<Leaf, Value>, _ name: String, default value: Value? = nil, _ options: AttributeOption<Value>...
    ) {
        add(path, AttributeDescription(name: name, type: Value.attributeType), value?.attributeValue, options)
    }

    public mutating func property<Value: StorableValue>(
        _ path: KeyPath<Leaf, Value?>, _ name: String, default value: Value? = nil, _ options: AttributeOption<Value>...
    ) {
        let attribute = AttributeDescription(name: name, type: Value.attributeType, isOptional: true)
        add(path, attribute, value?.attributeValue, options)
    }

    public mutating func property<Value: RawRepresentable>(
        _ path: KeyPath<Leaf, Value>, _ name: String, default value: Value? = nil, _ options: AttributeOption<Value>...
    ) where Value.RawValue: StorableValue {
        var attribute = AttributeDescription(name: name, type: Value.RawValue.attributeType)
        attribute.attributeValueClassName = String(reflecting: Value.self)
        add(path, attribute, value?.rawValue.attributeValue, options)
    }

    public mutating func property<Value: RawRepresentable>(
        _ path: KeyPath<Leaf, Value?>, _ name: String, default value: Value? = nil, _ options: AttributeOption<Value>...
    ) where Value.RawValue: StorableValue {
        var attribute = AttributeDescription(name: name, type: Value.RawValue.attributeType, isOptional: true)
        attribute.attributeValueClassName = String(reflecting: Value.self)
        add(path, attribute, value?.rawValue.attributeValue, options)
    }

    @_disfavoredOverload
    public mutating func property<Value: Codable & Sendable>(
        _ path: KeyPath<Leaf, Value>, _ name: String, default value: Value? = nil, _ options: AttributeOption<Value>...
    ) {
        addComposite(path, name, value, options)
    }

    public mutating func property<Target: ManagedObject>(
        _ path: KeyPath<Leaf, Target?>, _ name: String
    ) {
        add(path, name, to: Target.self, isToMany: false, .nullify, nil, [])
    }

    public mutating func property<Member: ManagedObject>(
        _ path: KeyPath<Leaf, ToMany<Member>>, _ name: String
    ) {
        add(path, name, to: Member.self, isToMany: true, .nullify, nil, [])
    }
}
