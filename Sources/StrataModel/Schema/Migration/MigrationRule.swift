/// A rule by which a migration makes the values of one property: a conversion that the types do not say, or a default
/// that is computed.
///
/// It is asked for objects that have no value for the property yet: because the property is new, because its type
/// changed, or because it was nil and is now required. It is asked once to see whether the migration can be done, and
/// once more when it is, so the same object must give the same value.
///
/// ```swift
/// options.migrationRules = [
///     MigrationRule(entity: "Person", property: "fullName") { old in
///         guard case .string(let first) = old["firstName"], case .string(let last) = old["lastName"] else {
///             return .null
///         }
///         return .string("\(first) \(last)")
///     }
/// ]
/// ```
public struct MigrationRule: Sendable {
    /// The name that the entity, or a parent that declares the property, has in the new model.
    public let entityName: String
    /// The property's name in the new model.
    public let propertyName: String
    /// The value; what it throws refuses the migration, naming the object.
    public let make: @Sendable (MigratedObject) throws -> AttributeValue

    public init(
        entity entityName: String, property propertyName: String,
        make: @escaping @Sendable (MigratedObject) throws -> AttributeValue
    ) {
        self.entityName = entityName
        self.propertyName = propertyName
        self.make = make
    }
}

/// An object as it is under the old model.
public struct MigratedObject: Sendable {
    public let objectID: ObjectID
    /// The entity's name in the old model.
    public let entityName: String
    /// Attributes and to-one relationships under their old names.
    public let values: [String: AttributeValue]

    package init(objectID: ObjectID, entityName: String, values: [String: AttributeValue]) {
        self.objectID = objectID
        self.entityName = entityName
        self.values = values
    }

    /// The value of an attribute or to-one under its old name; nil is `null`, also for a name the old model has not.
    public subscript(_ name: String) -> AttributeValue { values[name] ?? .null }
}
