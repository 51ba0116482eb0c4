import Foundation
import StrataModel

/// The attributes of an erasure, over all models that a store has had.
struct ErasedProperties {
    /// The numbers of attributes whose values are erased while the objects stay. Nil erases whole objects.
    let properties: Set<PropertyID>?
    let histories: SchemaHistory

    /// The numbers that the attributes of entities with these names have had.
    ///
    /// - Throws: as for one entity; `invalidRequest` if a number is another attribute's in one of the entities, whose
    ///   values would go, too.
    static func numbers(
        of names: [String], in entities: [EntitySchema], _ histories: SchemaHistory
    ) throws -> Set<PropertyID> {
        var numbers: [EntityID: Set<PropertyID>] = [:]
        for entity in entities { numbers[entity.id] = try Self.numbers(of: names, in: entity, histories) }
        let all = numbers.values.reduce(into: Set()) { $0.formUnion($1) }
        for entity in entities {
            for number in all.subtracting(numbers[entity.id] ?? []) {
                let other = try histories.schemas.reversed().lazy.compactMap { $0.entity(entity.id)?.property(number) }
                guard let other = other.first,
                    let owner = entities.first(where: { numbers[$0.id]?.contains(number) ?? false })
                else { continue }
                throw StrataError(
                    .invalidRequest,
                    "The values of \(owner.name) were under \(entity.name).\(other.name) before a migration. Erase those "
                        + "of \(owner.name) and \(entity.name) one after the other.",
                    context: .init(entityName: entity.name, key: other.name))
            }
        }
        return numbers.isEmpty ? [] : all
    }

    /// The numbers that an entity's attributes with these names have had. A property that changed its type has several,
    /// whatever its name was.
    ///
    /// - Throws: `unknownKey`, `invalidRequest` for what is no stored attribute.
    static func numbers(
        of names: [String], in entity: EntitySchema, _ histories: SchemaHistory
    ) throws -> Set<PropertyID> {
        let lineage = histories.propertyLineage
        var numbers: Set<PropertyID> = []
        for name in names {
            guard let property = try entity.property(named: name) ?? lastProperty(named: name, of: entity.id, histories)
            else {
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
            numbers.formUnion(lineage.withFormers(property.id, in: entity.id))
        }
        var names = Set(names)
        for schema in try histories.schemas.reversed() {
            for property in schema.entity(entity.id)?.properties ?? [] {
                if numbers.contains(property.id) { names.insert(property.name) }
                if names.contains(property.name), case .attribute = property.kind {
                    numbers.formUnion(lineage.withFormers(property.id, in: entity.id))
                }
            }
        }
        return numbers
    }

    /// A property that an entity has lost, as the last model that had it describes it; nil if it never had one of the name.
    private static func lastProperty(
        named name: String, of entity: EntityID, _ histories: SchemaHistory
    ) throws -> PropertySchema? {
        try histories.schemas.reversed().lazy.compactMap { $0.entity(entity)?.property(named: name) }.first
    }

    /// Returns the value that replaces each erased value of an entity: the default of its attribute, or nil.
    ///
    /// An attribute that must have a value gets nil where it has no default, and where the default must be unique.
    func fillers(of entity: EntityID) throws -> [PropertyID: AttributeValue] {
        // A row that is too old to hold a property reads its first default, which events say, too.
        let born = histories.newest?.assignment.bornDefaults ?? [:]
        var fillers: [PropertyID: AttributeValue] = [:]
        for schema in try histories.schemas {
            for property in schema.entity(entity)?.properties ?? [] {
                guard case .attribute(let attribute) = property.kind else { continue }
                // Values derived from erased values are erased with them.
                if properties.map({
                    $0.contains(property.id) || Self.isDerived(attribute, from: $0, schema, entity)
                }) ?? true {
                    fillers[property.id] = born[property.id] ?? .null
                }
            }
        }
        let first = try histories.schemas.lazy.compactMap { $0.entity(entity) }.first
        for (property, owner) in try described(entity) {
            guard let filler = fillers[property.id], case .attribute(let attribute) = property.kind else { continue }
            let isUnique = owner.indexes.contains { index in
                index.isUnique && index.elements.contains { $0.slot == property.slot }
            }
            if isUnique {
                // Rows that are too old to hold the property cannot say nil.
                if first?.property(property.id) != nil { fillers[property.id] = .null }
            } else if filler.isNull, !attribute.isOptional, properties?.contains(property.id) ?? true,
                let value = attribute.defaultValue
            {
                fillers[property.id] = value
            }
        }
        return fillers
    }

    /// The properties of an entity in the newest model that has it, and those that are to be erased and that it has lost
    /// without an heir: each with its entity in the last model that had it. A later model may have them again.
    private func described(_ entity: EntityID) throws -> [(property: PropertySchema, entity: EntitySchema)] {
        guard let last = try histories.lastSchema(with: entity)?.entity(entity) else { return [] }
        var found = last.properties.map { (property: $0, entity: last) }
        let lineage = histories.propertyLineage
        var lost = (properties ?? []).filter { last.property($0) == nil && lineage.heir(of: $0, in: last) == nil }
        for schema in try histories.schemas.reversed() where !lost.isEmpty {
            guard let owner = schema.entity(entity) else { continue }
            for property in owner.properties where lost.remove(property.id) != nil { found.append((property, owner)) }
        }
        return found
    }

    /// - Throws: `validationMissingMandatoryProperty` for an attribute of objects that stay that must have a value and
    ///   for which `fillers` has none.
    func checkMayBeErasedAlone(in entity: EntityID) throws {
        guard let properties else { return }
        let fillers = try fillers(of: entity)
        for (property, owner) in try described(entity) where properties.contains(property.id) {
            guard case .attribute(let attribute) = property.kind, !attribute.isOptional,
                fillers[property.id]?.isNull ?? false
            else { continue }
            throw StrataError(
                .validationMissingMandatoryProperty,
                "\(owner.name).\(property.name) must have a value and has no default that any object may have, so its "
                    + "value cannot be erased alone. Erase the whole object, or make the attribute optional first.",
                context: .init(entityName: owner.name, key: property.name))
        }
    }

    /// The stored attributes that entities have had and that are not derived: erasing their values leaves an object
    /// with nothing but its links.
    static func all(of entities: Set<EntityID>, _ histories: SchemaHistory) throws -> Set<PropertyID> {
        var numbers: Set<PropertyID> = []
        for schema in try histories.schemas {
            for id in entities {
                for property in schema.entity(id)?.properties ?? [] where property.storage != nil {
                    guard case .attribute(let attribute) = property.kind, attribute.derivationExpression == nil else {
                        continue
                    }
                    numbers.insert(property.id)
                }
            }
        }
        return numbers
    }

    /// The attributes of an entity in the newest model that are, or were, derived from erased ones.
    func derived(in entity: EntityID) throws -> Set<PropertyID> {
        // A model without the attribute derives it no more, so its newest value is a copy like the others.
        guard let properties, let newest = histories.newest?.entity(entity) else { return [] }
        var derived: Set<PropertyID> = []
        for schema in try histories.schemas {
            for property in schema.entity(entity)?.properties ?? [] {
                if case .attribute(let attribute) = property.kind, newest.property(property.id) != nil,
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
        // The first step is the attribute itself, or the composite that has it as an element.
        guard let expression = attribute.derivationExpression, let path = AttributeDerivation(expression)?.path,
            let first = path.split(separator: ".").first,
            let source = schema.entity(entity)?.property(named: String(first))
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
