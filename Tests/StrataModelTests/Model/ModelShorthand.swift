import StrataModel

/// Shorthand functions for the models in tests.
func entity(
    _ name: String, _ properties: [PropertyDescription] = [], parent: String? = nil, isAbstract: Bool = false,
    indexes: [FetchIndexDescription] = [], unique: [[String]] = [], rules: [ValidationPredicate] = [],
    renamedFrom: String? = nil
) -> EntityDescription {
    EntityDescription(
        name: name, isAbstract: isAbstract, superentityName: parent, properties: properties, indexes: indexes,
        uniquenessConstraints: unique, validationPredicates: rules, renamingIdentifier: renamedFrom)
}

func attribute(
    _ name: String, _ type: AttributeType = .string, optional: Bool = false, transient: Bool = false,
    default value: AttributeValue? = nil, external: Bool = false, elements: [AttributeDescription] = [],
    rules: [ValidationRule] = [], renamedFrom: String? = nil
) -> PropertyDescription {
    .attribute(
        part(
            name, type, optional: optional, transient: transient, default: value, external: external,
            elements: elements, rules: rules, renamedFrom: renamedFrom))
}

func part(
    _ name: String, _ type: AttributeType = .string, optional: Bool = false, transient: Bool = false,
    default value: AttributeValue? = nil, external: Bool = false, elements: [AttributeDescription] = [],
    rules: [ValidationRule] = [], renamedFrom: String? = nil
) -> AttributeDescription {
    AttributeDescription(
        name: name, type: type, isOptional: optional, isTransient: transient, defaultValue: value,
        allowsExternalBinaryDataStorage: external, elements: elements, validationRules: rules,
        renamingIdentifier: renamedFrom)
}

func toOne(
    _ name: String, _ destination: String, inverse: String? = nil, alone: Bool = false, optional: Bool = true,
    rule: DeleteRule = .nullify, renamedFrom: String? = nil
) -> PropertyDescription {
    .relationship(
        RelationshipDescription(
            name: name, destinationEntityName: destination, inverseName: inverse, hasNoInverse: alone,
            isOptional: optional, deleteRule: rule, renamingIdentifier: renamedFrom))
}

func toMany(
    _ name: String, _ destination: String, inverse: String? = nil, alone: Bool = false, ordered: Bool = false,
    min: Int = 0, max: Int = 0, optional: Bool = true, rule: DeleteRule = .nullify, renamedFrom: String? = nil
) -> PropertyDescription {
    .relationship(
        RelationshipDescription(
            name: name, destinationEntityName: destination, inverseName: inverse, hasNoInverse: alone,
            isToMany: true, isOrdered: ordered, isOptional: optional, minCount: min, maxCount: max,
            deleteRule: rule, renamingIdentifier: renamedFrom))
}

/// The messages of all problems of a model; empty if it is valid.
func problems(_ entities: EntityDescription...) -> [String] {
    do {
        _ = try ManagedObjectModel(entities: entities)
        return []
    } catch {
        return error.details.map(\.message)
    }
}
