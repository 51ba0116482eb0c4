import Foundation
import StrataModel

/// The attributes of an erasure, over all models that a store has had.
struct ErasedProperties {
    /// For values of objects that stay: the attributes by number. Nil erases whole objects.
    let properties: Set<PropertyID>?
    let histories: SchemaHistory

    /// The numbers that an entity's attributes with these names have had. A property that changed its type has several.
    ///
    /// - Throws: `unknownKey`, `invalidRequest` for what is no stored attribute.
    static func numbers(
        of names: [String], in entity: EntitySchema, _ histories: SchemaHistory
    ) throws -> Set<PropertyID> {
        var numbers: Set<PropertyID> = []
        for name in names {
            guard let property = entity.property(named: name) else {
                throw entity.unknownKey(name, .init(entityName: entity.name, key: name))
            }
            guard case .attribute(let attribute) = property.kind, property.storage != nil,
                attribute.derivationExpression == nil
            else {
                throw StrataError(
                    .invalidRequest,
                    "\(entity.name).\(name) is no stored attribute. Erase attributes by their names, or whole objects.",
                    context: .init(entityName: entity.name, key: name))
            }
            numbers.insert(property.id)
        }
        var names = Set(names)
        for schema in try histories.schemas.reversed() {
            for property in schema.entity(entity.id)?.properties ?? [] {
                if numbers.contains(property.id) { names.insert(property.name) }
                if names.contains(property.name), case .attribute = property.kind { numbers.insert(property.id) }
            }
        }
        return numbers
    }

    /// What stands for each erased value of an entity: the default of its attribute, or nil.
    ///
    /// - Throws: `validationMissingMandatoryProperty` for an attribute of an object that stays that must have a value
    ///   and has no default.
    func fillers(of entity: EntityID) throws -> [PropertyID: AttributeValue] {
        // A row that is too old to hold a property reads its first default, which events say, too.
        let born = histories.newest?.assignment.bornDefaults ?? [:]
        var fillers: [PropertyID: AttributeValue] = [:]
        for schema in try histories.schemas {
            for property in schema.entity(entity)?.properties ?? [] {
                guard case .attribute(let attribute) = property.kind else { continue }
                // What is derived from erased values goes with them.
                if properties.map({
                    $0.contains(property.id) || Self.isDerived(attribute, from: $0, schema, entity)
                }) ?? true {
                    fillers[property.id] = born[property.id] ?? .null
                }
            }
        }
        guard let newest = histories.newest?.entity(entity) else { return fillers }
        for property in newest.properties where fillers[property.id]?.isNull ?? false {
            guard case .attribute(let attribute) = property.kind, !attribute.isOptional,
                properties?.contains(property.id) ?? true
            else { continue }
            guard let value = attribute.defaultValue, !value.isNull else {
                if properties == nil { continue }
                throw StrataError(
                    .validationMissingMandatoryProperty,
                    "\(newest.name).\(property.name) must have a value and has no default, so its value cannot be "
                        + "erased alone. Erase the whole object, or make the attribute optional first.",
                    context: .init(entityName: newest.name, key: property.name))
            }
            fillers[property.id] = value
        }
        return fillers
    }

    /// The attributes of an entity that are derived from erased ones, in all models.
    func derived(in entity: EntityID) throws -> Set<PropertyID> {
        guard let properties else { return [] }
        var derived: Set<PropertyID> = []
        for schema in try histories.schemas {
            for property in schema.entity(entity)?.properties ?? [] {
                if case .attribute(let attribute) = property.kind,
                    Self.isDerived(attribute, from: properties, schema, entity)
                {
                    derived.insert(property.id)
                }
            }
        }
        return derived
    }

    private static func isDerived(
        _ attribute: AttributeDescription, from properties: Set<PropertyID>, _ schema: Schema, _ entity: EntityID
    ) -> Bool {
        guard let expression = attribute.derivationExpression, let path = AttributeDerivation(expression)?.path,
            let source = schema.entity(entity)?.property(named: path)
        else { return false }
        return properties.contains(source.id)
    }

    /// Whether the views may hold values of an entity that no event of the newest model removes: entries of an index
    /// that has left the model, and rows of an entity that has.
    func isInOldViews(_ entity: EntityID) throws -> Bool {
        guard let newest = histories.newest?.entity(entity) else { return true }
        let kept = Set(newest.indexes.map(\.id))
        return try histories.schemas.contains { schema in
            schema.entity(entity)?.indexes.contains { !kept.contains($0.id) } ?? false
        }
    }
}
