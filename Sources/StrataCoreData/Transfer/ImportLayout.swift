import StrataModel

/// The tables of a file with the entities, slots and ids of the new store.
struct ImportLayout {
    /// A column of one entity and the slot that it goes to.
    struct Column {
        enum Kind {
            case attribute(ColumnAttribute)
            case composite([CompositeElement])
            case toOne(LinkColumn)
        }
        let name: String
        let slot: Int
        let column: Int
        let kind: Kind
    }

    /// A column of keys.
    struct LinkColumn {
        /// The index of the target's table.
        let table: Int
        let order: Int?
        let positionSlot: Int?
        let isRequired: Bool
        /// The entities that it may lead to.
        let destinations: Set<EntityID>
    }

    struct Entity {
        let schema: EntitySchema
        let columns: [Column]
        /// Properties that are required and have no column, with the defaults that they get.
        let absent: [(slot: Int, value: AttributeValue)]
    }

    let file: CoreDataFile
    let plan: FilePlan
    let schema: Schema
    /// By table, then by the entity's number in the file.
    let entities: [[Int64: Entity]]
    let keys: [KeyTable]

    /// - Parameter unpacked: the columns of archives whose values are taken.
    init(
        _ file: CoreDataFile, _ plan: FilePlan, _ schema: Schema, unpacked: Set<TransformableUnpacking.Place>
    ) throws(StrataError) {
        self.file = file
        self.plan = plan
        self.schema = schema
        var entities: [[Int64: Entity]] = []
        var keys: [KeyTable] = []
        for (index, table) in plan.tables.enumerated() {
            let columns = Set(unpacked.filter { $0.table == index }.map(\.column))
            var known: [Int64: Entity] = [:]
            for (number, name) in table.entityNames {
                guard let entity = schema.entity(named: name), !entity.isAbstract else { continue }
                known[number] = Self.entity(entity, table.properties[name] ?? [], schema, columns)
            }
            entities.append(known)
            keys.append(try KeyTable(file.database, table, known.mapValues(\.schema.id)))
        }
        self.entities = entities
        self.keys = keys
    }

    private static func entity(
        _ entity: EntitySchema, _ properties: [FilePlan.Property], _ schema: Schema, _ unpacked: Set<Int>
    ) -> Entity {
        var missing = Set(entity.properties.filter { $0.attribute.map { !$0.isTransient } ?? false }.map(\.name))
        let columns = properties.compactMap { property -> Column? in
            guard let slot = entity.property(named: property.name) else { return nil }
            missing.remove(property.name)
            switch property.kind {
            case .attribute(let attribute, let column):
                let read = ColumnAttribute(attribute, isUnpacked: unpacked.contains(column))
                return Column(name: property.name, slot: slot.slot, column: column, kind: .attribute(read))
            case .composite(_, let elements):
                return Column(
                    name: property.name, slot: slot.slot, column: 0, kind: .composite(CompositeElement.list(elements)))
            case .toOne(let relationship, let column, let table, let order):
                let link = LinkColumn(
                    table: table, order: order, positionSlot: positionSlot(of: slot, in: entity),
                    isRequired: !relationship.isOptional,
                    destinations: Set(schema.entity(named: relationship.destinationEntityName)?.entityIDs ?? []))
                return Column(name: property.name, slot: slot.slot, column: column, kind: .toOne(link))
            }
        }
        let absent = missing.compactMap { name -> (slot: Int, value: AttributeValue)? in
            guard let property = entity.property(named: name), let value = property.attribute?.defaultValue else {
                return nil
            }
            return (property.slot, value)
        }
        return Entity(schema: entity, columns: columns, absent: absent)
    }

    /// The entity of a row with its entity's number. That of a table's only entity may be wrong.
    func entity(_ number: Int64?, table: Int) -> Entity? {
        entities[table].count == 1 ? entities[table].first?.value : number.flatMap { entities[table][$0] }
    }

    /// Whether the number of a row's entity is one of its table's.
    func isKnown(_ number: Int64?, table: Int) -> Bool { number.map { entities[table][$0] != nil } ?? false }

    /// A hidden position may have another slot in a subentity.
    private static func positionSlot(of toOne: PropertySchema, in entity: EntitySchema) -> Int? {
        entity.properties.first { property in
            if case .position(let id) = property.kind { id == toOne.id } else { false }
        }?.slot
    }
}
