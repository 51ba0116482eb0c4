public import StrataModel

/// Collects what the classes of one chain say of their properties, for the entity at its end.
///
/// It is generic over that last class because `\Employee.name` and `\Person.name` are different key paths.
public struct EntityBuilder<Leaf: ManagedObject> {
    var description: EntityDescription
    /// Name by key path, inherited properties too.
    var names: [AnyKeyPath: String] = [:]
    /// Every declared property in the order of accessor indexes, inherited first.
    var order: [String] = []
    var inverses: [String: InverseReference] = [:]
    var destinations: [String: ManagedObject.Type] = [:]
    var valueTypes: [String: Any.Type] = [:]
    var problems: [String] = []
    private var own: [PropertyDescription] = []

    init(name: String) {
        description = EntityDescription(name: name, managedObjectClassName: String(reflecting: Leaf.self))
    }

    /// Called between the parent's properties and the class's own.
    public mutating func beginOwnProperties() {
        own = []
    }

    mutating func finish(options: [EntityOption]) -> EntityDescription {
        description.properties = own
        // Indexes and constraints of inherited properties belong to the parent.
        description.indexes = description.indexes.filter { index in
            index.elements.allSatisfy { element in own.contains { $0.name == element.propertyPath } }
        }
        description.uniquenessConstraints = description.uniquenessConstraints.filter { names in
            names.allSatisfy { name in own.contains { $0.name == name } }
        }
        for option in options { apply(option) }
        return description
    }

    private mutating func apply(_ option: EntityOption) {
        switch option.kind {
        case .abstract: description.isAbstract = true
        case .fullText(let names): description.fullText += names
        case .unique(let names): description.uniquenessConstraints.append(names)
        case .index(let index): description.indexes.append(index)
        case .check(let predicate): description.validationPredicates.append(predicate)
        case .renamed(let name): description.renamingIdentifier = name
        case .versionHashModifier(let text): description.versionHashModifier = text
        case .userInfo(let info): description.userInfo.merge(info) { $1 }
        }
    }

    // MARK: Attributes

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

    /// Declares a to-one that is nullified; generated code that cannot tell an attribute from a relationship calls it.
    public mutating func property<Target: ManagedObject>(_ path: KeyPath<Leaf, Target?>, _ name: String) {
        add(path, name, to: Target.self, isToMany: false, .nullify, nil, [])
    }

    /// Declares a to-many that is nullified; the same.
    public mutating func property<Member: ManagedObject>(_ path: KeyPath<Leaf, ToMany<Member>>, _ name: String) {
        add(path, name, to: Member.self, isToMany: true, .nullify, nil, [])
    }

    /// Declares an attribute of any type, stored as the bytes that the transformer with the registered name makes, or the
    /// standard one.
    public mutating func transformable<Value>(
        _ path: KeyPath<Leaf, Value>, _ name: String, by transformer: String? = nil,
        _ options: AttributeOption<Value>...
    ) {
        var attribute = AttributeDescription(
            name: name, type: .transformable, isOptional: Value.self is any OptionalType.Type)
        attribute.valueTransformerName = transformer
        attribute.attributeValueClassName = String(reflecting: Value.self)
        add(path, attribute, nil, options)
    }

    /// Declares an attribute of any type that is in memory only.
    public mutating func transient<Value>(_ path: KeyPath<Leaf, Value>, _ name: String) {
        addTransient(path, name, .undefined, nil)
    }

    /// Declares an attribute in memory with a default.
    public mutating func transient<Value: StorableValue>(
        _ path: KeyPath<Leaf, Value>, _ name: String, default value: Value
    ) {
        addTransient(path, name, Value.attributeType, value.attributeValue)
    }

    /// Declares an optional attribute in memory with a default.
    public mutating func transient<Value: StorableValue>(
        _ path: KeyPath<Leaf, Value?>, _ name: String, default value: Value
    ) {
        addTransient(path, name, Value.attributeType, value.attributeValue)
    }

    /// Declares an attribute in memory whose default only its class knows.
    @_disfavoredOverload
    public mutating func transient<Value>(_ path: KeyPath<Leaf, Value>, _ name: String, default value: Value) {
        addTransient(path, name, .undefined, nil)
    }

    // MARK: Relationships

    /// Declares a to-one.
    public mutating func relationship<Target: ManagedObject>(
        _ path: KeyPath<Leaf, Target?>, _ name: String, deleteRule: DeleteRule = .nullify,
        inverse: PartialKeyPath<Target>? = nil, _ options: RelationshipOption...
    ) {
        add(path, name, to: Target.self, isToMany: false, deleteRule, inverse, options)
    }

    /// Declares a to-many.
    public mutating func relationship<Member: ManagedObject>(
        _ path: KeyPath<Leaf, ToMany<Member>>, _ name: String, deleteRule: DeleteRule = .nullify,
        inverse: PartialKeyPath<Member>? = nil, _ options: RelationshipOption...
    ) {
        add(path, name, to: Member.self, isToMany: true, deleteRule, inverse, options)
    }
}

/// The key path that names an inverse, and the class where it begins.
struct InverseReference {
    let owner: ManagedObject.Type
    let path: AnyKeyPath
}

extension EntityBuilder {
    mutating func addComposite<Value: Codable & Sendable>(
        _ path: AnyKeyPath, _ name: String, _ value: Value?, _ options: [AttributeOption<Value>]
    ) {
        var attribute = AttributeDescription(
            name: name, type: .composite, isOptional: Value.self is any OptionalType.Type)
        attribute.attributeValueClassName = String(reflecting: Value.self)
        var initial: AttributeValue?
        if let value, ManagedObject.unwrapped(value) != nil {
            do { initial = try AttributeValueEncoder.encode(value) } catch {
                problems.append("\(description.name).\(name): the default value cannot be encoded (\(error))")
            }
        }
        add(path, attribute, initial, options)
    }

    private mutating func addTransient<Value>(
        _ path: KeyPath<Leaf, Value>, _ name: String, _ type: AttributeType, _ initial: AttributeValue?
    ) {
        var attribute = AttributeDescription(name: name, type: type, isOptional: true, isTransient: true)
        attribute.attributeValueClassName = String(reflecting: Value.self)
        add(path, attribute, initial, [AttributeOption<Value>]())
    }

    mutating func add<Value>(
        _ path: AnyKeyPath, _ attribute: AttributeDescription, _ initial: AttributeValue?,
        _ options: [AttributeOption<Value>]
    ) {
        var attribute = attribute
        attribute.defaultValue = initial
        for option in options { apply(option.kind, to: &attribute) }
        if attribute.type == .transformable {
            valueTypes[attribute.name] = (Value.self as? any OptionalType.Type)?.wrappedType ?? Value.self
        }
        enter(path, .attribute(attribute))
    }

    private mutating func apply(_ option: AttributeOptionKind, to attribute: inout AttributeDescription) {
        switch option {
        case .indexed(let folding):
            let element = FetchIndexElement(attribute.name, folding: folding)
            let suffix = folding.isEmpty ? "" : "[folded]"
            description.indexes.append(FetchIndexDescription(name: attribute.name + suffix, elements: [element]))
        case .unique: description.uniquenessConstraints.append([attribute.name])
        case .optional: attribute.isOptional = true
        case .transient: attribute.isTransient = true
        case .preserved: attribute.preservesValueInHistoryOnDeletion = true
        case .externalStorage: attribute.allowsExternalBinaryDataStorage = true
        case .encrypted(let encryption): attribute.encryption = encryption
        case .renamed(let name): attribute.renamingIdentifier = name
        case .versionHashModifier(let text): attribute.versionHashModifier = text
        case .userInfo(let info): attribute.userInfo.merge(info) { $1 }
        case .transformable(let name):
            attribute.type = .transformable
            attribute.valueTransformerName = name
        case .derived(let text):
            do {
                attribute.derivationExpression = try FetchExpression(format: text)
            } catch {
                problems.append("\(description.name).\(attribute.name) cannot be derived: \(error.message)")
            }
        case .range(let minimum, let maximum):
            attribute.validationRules.append(.range(minimum: minimum, maximum: maximum))
        case .rule(let rule): attribute.validationRules.append(rule)
        }
    }

    mutating func add<Target: ManagedObject>(
        _ path: AnyKeyPath, _ name: String, to target: Target.Type, isToMany: Bool, _ deleteRule: DeleteRule,
        _ inverse: PartialKeyPath<Target>?, _ options: [RelationshipOption]
    ) {
        var relationship = RelationshipDescription(
            name: name, destinationEntityName: target.entityName, isToMany: isToMany, deleteRule: deleteRule)
        for option in options {
            switch option.kind {
            case .ordered: relationship.isOrdered = true
            case .required: relationship.isOptional = false
            case .noInverse: relationship.hasNoInverse = true
            case .inverse(let name): relationship.inverseName = name
            case .transient: relationship.isTransient = true
            case .minimum(let count): relationship.minCount = count
            case .maximum(let count): relationship.maxCount = count
            case .renamed(let name): relationship.renamingIdentifier = name
            case .versionHashModifier(let text): relationship.versionHashModifier = text
            case .userInfo(let info): relationship.userInfo.merge(info) { $1 }
            }
        }
        let statesMinimum = options.contains { if case .minimum = $0.kind { true } else { false } }
        if isToMany, !relationship.isOptional, !statesMinimum { relationship.minCount = 1 }
        destinations[name] = target
        if let inverse {
            if relationship.inverseName != nil {
                problems.append("\(description.name).\(name) names its inverse twice")
            }
            inverses[name] = InverseReference(owner: target, path: inverse)
        }
        enter(path, .relationship(relationship))
    }

    private mutating func enter(_ path: AnyKeyPath, _ property: PropertyDescription) {
        names[path] = property.name
        order.append(property.name)
        own.append(property)
    }
}
