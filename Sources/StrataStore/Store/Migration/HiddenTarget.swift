import StrataModel

/// Finds the target that a to-one had before models in between could not show it, because they led to fewer entities.
struct HiddenTarget {
    /// The numbers of the to-one in this model and earlier ones.
    private let numbers: Set<PropertyID>
    /// Those of its inverse, by the entity of the target; nil if the inverse is no to-one.
    private let inverseNumbers: [EntityID: Set<PropertyID>]?
    private let models: [Schema]

    /// Nil if the last model that had the to-one could show all that earlier ones led to, at both ends of a one-to-one.
    ///
    /// - Parameter models: the models up to the old one, oldest first.
    init?(_ property: PropertySchema, of entity: EntityID, to new: Schema, _ models: [Schema]) {
        guard let relationship = property.relationship else { return nil }
        let inverse = relationship.isInverseToMany ? nil : relationship.inverse
        // Nearly every migration ends here, without a look at the objects.
        let ends = [property.id, inverse].compactMap(\.self)
        guard ends.contains(where: { Self.isNarrowed(Self.destinations(of: $0, new, models)) }) else { return nil }
        self.models = models
        numbers = Self.numbers(of: property.id, in: entity, new, models)
        let targets = new.entity(relationship.destination)?.concreteEntityIDs ?? []
        inverseNumbers = inverse.map { inverse in
            Dictionary(uniqueKeysWithValues: targets.map { ($0, Self.numbers(of: inverse, in: $0, new, models)) })
        }
    }

    /// The entities to which a to-one led in each model that had it, under any of its numbers.
    private static func destinations(of toOne: PropertyID, _ new: Schema, _ models: [Schema]) -> [Set<EntityID>] {
        let numbers = Schema.lineage(of: toOne, new.assignment.replaced[toOne] ?? [], through: models + [new])
        return models.compactMap { schema in
            let relationships = numbers.compactMap { schema.property($0)?.relationship }
            return relationships.isEmpty
                ? nil
                : relationships.reduce(into: []) {
                    $0.formUnion(schema.entity($1.destination)?.concreteEntityIDs ?? [])
                }
        }
    }

    /// Whether the last model leads to fewer entities than one before.
    private static func isNarrowed(_ destinations: [Set<EntityID>]) -> Bool {
        guard let last = destinations.last else { return false }
        return !destinations.allSatisfy { $0.isSubset(of: last) }
    }

    /// The numbers of a to-one in this model and earlier ones, in the objects of an entity.
    private static func numbers(
        of toOne: PropertyID, in entity: EntityID, _ new: Schema, _ models: [Schema]
    ) -> Set<PropertyID> {
        let later = models + [new]
        let formers = new.assignment.formers(of: toOne, in: entity)
        return Set(
            Schema.lineage(of: toOne, formers, through: later).filter { number in
                guard let last = models.lastIndex(where: { $0.entity(entity)?.property(number) != nil }) else {
                    return false
                }
                let heir = Schema.last(of: number, in: entity, through: Array(later[last...]))
                // Nothing has taken over from the to-one of an entity that lost it while a relative of the entity kept it.
                return heir == toOne || heir == number && new.entity(entity)?.property(number) == nil
            })
    }

    /// The last target that an object was given, with the number that led to it; nil if a save has made the to-one nil
    /// since.
    func find(_ id: ObjectID, _ row: SnapshotRow, _ log: LogReader) throws -> (target: ObjectID, number: PropertyID)? {
        try find(numbers, id, row, log)
    }

    /// Whether the last target that another object was given by the inverse is this one; true if the inverse is no to-one.
    ///
    /// - Parameter row: of the target; nil if it does not exist.
    func isLedTo(_ id: ObjectID, from target: ObjectID, _ row: SnapshotRow?, _ log: LogReader) throws -> Bool {
        guard let inverseNumbers else { return true }
        guard let row, let numbers = inverseNumbers[target.entityID] else { return false }
        return try find(numbers, target, row, log)?.target == id
    }

    private func find(
        _ numbers: Set<PropertyID>, _ id: ObjectID, _ row: SnapshotRow, _ log: LogReader
    ) throws -> (target: ObjectID, number: PropertyID)? {
        var found: (ObjectID, PropertyID)?
        try log.chain(from: row.revision, of: id) { event, _ in
            switch event.header.kind {
            case .updated:
                for change in try event.changes() where numbers.contains(change.property) {
                    if case .value(.objectID(let target)) = change.after {
                        found = (target, change.property)
                        return false
                    }
                    // A migration made it nil because its model could not show the target.
                    if let record = try log.transaction(event.header.transaction), !MigrationRun.isStep(record) {
                        return false
                    }
                }
                return true
            case .inserted:
                let layout = try log.histories.layout(of: event.payload, id: id)
                let reader = try RowReader(event.payload, layout: layout)
                for (slot, place) in layout.slots.enumerated() where numbers.contains(place.propertyID) {
                    if let target = try reader.value(slot).target { found = (target, place.propertyID) }
                }
                return false
            default: return true
            }
        }
        return found
    }

    /// The position that an object had at its target, by the number that led there; nil if it had none.
    func position(
        _ number: PropertyID, _ id: ObjectID, _ row: SnapshotRow, _ snapshot: Snapshot
    ) throws -> AttributeValue? {
        for schema in models.reversed() {
            guard let position = schema.entity(id.entityID)?.property(number)?.relationship?.position else { continue }
            return try PastValues(position: position, in: schema).value(of: id, row, snapshot)
        }
        return nil
    }
}

extension EntityMigration {
    /// The step that gives a to-one back what models in between could not show.
    static func restoring(
        _ property: PropertySchema, _ old: EntitySchema, _ links: OldLinks, _ histories: SchemaHistory
    ) throws -> [PropertyStep.Kind] {
        guard let relationship = property.relationship, !relationship.isToMany else { return [] }
        let models = try histories.schemas(histories.versions.filter { $0 <= links.old.version })
        return HiddenTarget(property, of: old.id, to: links.new, models).map { [.restore($0)] } ?? []
    }

    /// Gives a to-one that is nil the target that the models since could not show.
    func restore(
        _ step: PropertyStep, _ hidden: HiddenTarget, _ id: ObjectID, _ row: SnapshotRow, _ snapshot: Snapshot,
        _ changes: inout [PropertyChange]
    ) throws {
        guard let property = step.property, let relationship = property.relationship, changes.leaveEmpty(property)
        else { return }
        if changes.made(property) == nil,
            let slot = (old.property(property.id) ?? links.new.former(of: property.id, in: old))?.slot,
            try !snapshot.value(slot, of: row, row.reader, old).isNull
        {
            return
        }
        let allowed = links.new.entity(relationship.destination)?.entityIDs ?? []
        guard let (target, number) = try hidden.find(id, row, log), allowed.contains(target.entityID),
            try links.isThere(target, snapshot),
            try hidden.isLedTo(id, from: target, links.row(target, snapshot), log)
        else { return }
        let reader = try row.reader
        let made = changes.firstIndex { $0.property == property.id }
        let before = try made.map { changes.remove(at: $0).before } ?? .value(shown(property, row, reader))
        changes.append(PropertyChange(property: property.id, before: before, after: .value(.objectID(target))))
        guard let position = relationship.position.flatMap({ entity.property($0) }),
            let place = try hidden.position(number, id, row, snapshot), !place.isNull
        else { return }
        let shown = try shown(position, row, reader)
        if !place.isIdentical(to: shown) {
            changes.append(PropertyChange(property: position.id, before: .value(shown), after: .value(place)))
        }
    }
}
