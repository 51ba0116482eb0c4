/// A rule that computes the values of one property in a migration, such as a conversion or a computed default.
///
/// It is called for objects that have no value for the property yet: because the property is new, because its type
/// changed, or because it was nil and is now required. It is called once to check whether the migration is possible,
/// and again when the migration runs, so it must return the same value for the same object.
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
    /// The name in the new model of the entity, or of a parent that declares the property.
    public let entityName: String
    /// The property's name in the new model; empty for a rule that deletes objects.
    public let propertyName: String
    /// Computes the value. An error that it throws ends the migration with an error that names the object.
    public let make: @Sendable (MigratedObject) throws -> AttributeValue
    /// The value of a rule that is the same for all objects; nil for one that computes it. It does not replace a value
    /// that can be converted.
    package let constant: AttributeValue?
    /// Whether the rule deletes objects of the entity that do not fit the new model; then it is for no property.
    public let deletesMisfits: Bool

    /// A rule for a property of an entity.
    public init(
        entity entityName: String, property propertyName: String,
        make: @escaping @Sendable (MigratedObject) throws -> AttributeValue
    ) {
        self.entityName = entityName
        self.propertyName = propertyName
        self.make = make
        constant = nil
        deletesMisfits = false
    }

    /// A rule that gives a property of an entity the same value in all objects that have none.
    ///
    /// Those are objects of before the property, objects where it was nil and is now required, and objects whose value
    /// cannot be converted to the type that the property has now. Values that can be converted are converted.
    public init(entity entityName: String, property propertyName: String, value: AttributeValue) {
        self.entityName = entityName
        self.propertyName = propertyName
        make = { _ in value }
        constant = value
        deletesMisfits = false
    }

    private init(deletingMisfitsOf entityName: String) {
        self.entityName = entityName
        propertyName = ""
        make = { _ in .null }
        constant = nil
        deletesMisfits = true
    }

    /// A rule that deletes the objects of an entity that do not fit the new model, such as those of an entity that is
    /// abstract now.
    ///
    /// They are deleted before the migration, in a transaction of its own, by the delete rules of the store's model. If
    /// other objects do not fit either, none is deleted. The name is that in the new model, without subentities.
    public static func deletingMisfits(of entityName: String) -> MigrationRule {
        MigrationRule(deletingMisfitsOf: entityName)
    }
}

/// An object with its values under the old model.
public struct MigratedObject: Sendable {
    /// The object's id, which the migration does not change.
    public let objectID: ObjectID
    /// The entity's name in the old model.
    public let entityName: String
    /// The values of attributes and to-one relationships by their old names.
    public let values: [String: AttributeValue]

    package init(objectID: ObjectID, entityName: String, values: [String: AttributeValue]) {
        self.objectID = objectID
        self.entityName = entityName
        self.values = values
    }

    /// The value of an attribute or to-one by its old name; `null` for nil, and for a name that the old model does not
    /// have.
    public subscript(_ name: String) -> AttributeValue { values[name] ?? .null }
}
