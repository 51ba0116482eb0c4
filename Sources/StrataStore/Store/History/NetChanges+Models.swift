package import StrataModel

extension Store {
    /// The changes between two states as the newest model has them: where a migration has given a property another
    /// number since, its values are the migration's results.
    ///
    /// - Parameter schema: the newest model.
    /// - Throws: `migration` if such a value cannot be converted; as `read`.
    /// - Complexity: O(changes); where something was converted, as `convertedState(at:through:)` for both states.
    package func converted(
        _ changes: NetChanges, from before: EventNumber, through after: EventNumber, to schema: Schema
    ) throws -> NetChanges {
        let before = try stateBeforeMigration(before)
        let old = try self.schema(at: before)
        guard old.version != schema.version else { return changes }
        var renewed = RenewedChanges(changes, from: old, to: schema, try propertyLineage())
        guard !renewed.isEmpty else { return changes }
        let (earlier, later) = (try state(of: renewed, at: before, schema), try state(of: renewed, at: after, schema))
        renewed.set(from: earlier, to: later)
        return renewed.changes
    }

    /// The state; that before the migration if the next transaction is a step of one, whose model is there already.
    private func stateBeforeMigration(_ eventNumber: EventNumber) throws -> EventNumber {
        guard let record = try transaction(containing: eventNumber.advanced(by: 1)) else { return eventNumber }
        return try file.read { transaction, head, newest in
            guard let version = newest.versions.first(where: { MigrationRun.isStep(record, to: $0) }) else {
                return eventNumber
            }
            return try ConversionSource(self, transaction, head, newest).migration(to: version).before
        }
    }

    /// The values and links of a state that were converted since.
    private func state(
        of renewed: RenewedChanges, at eventNumber: EventNumber, _ schema: Schema
    ) throws -> RenewedChanges.State {
        if let state = try convertedState(at: eventNumber, through: schema) {
            for (id, properties) in renewed.properties {
                let names = properties.compactMap { schema.property($0)?.name }
                let error = state.errors(of: id).first { error in error.context.key.map(names.contains) ?? false }
                if let error { throw error }
            }
        }
        return try read(at: eventNumber, through: schema) { snapshot in
            var state = RenewedChanges.State()
            for (id, properties) in renewed.properties {
                guard let entity = schema.entity(id.entityID), let row = try snapshot.row(id) else { continue }
                let reader = try row.reader
                for property in properties {
                    guard let slot = entity.slot(of: property) else { continue }
                    state.values[id, default: [:]][property] = try snapshot.value(slot, of: row, reader, entity)
                }
            }
            for key in renewed.pairs { state.pairs[key] = try snapshot.pair(key) }
            return state
        }
    }
}

/// Changes of which some are of properties that a newer model has under other numbers.
private struct RenewedChanges {
    /// Values and links of one state.
    struct State {
        /// The values of objects that exist.
        var values: [ObjectID: [PropertyID: AttributeValue]] = [:]
        var pairs: [PairKey: PairPositions] = [:]
    }

    private(set) var changes: NetChanges
    /// The stored properties in the newer model that are to be read again, by object.
    private(set) var properties: [ObjectID: Set<PropertyID>] = [:]
    /// The same for pairs.
    private(set) var pairs: Set<PairKey> = []
    private let old: Schema
    private let schema: Schema
    private let lineage: PropertyLineage

    init(_ changes: NetChanges, from old: Schema, to schema: Schema, _ lineage: PropertyLineage) {
        self.changes = changes
        self.old = old
        self.schema = schema
        self.lineage = lineage
        for (id, object) in changes.objects {
            for (property, values) in object.values { note(property, values, of: id) }
        }
        for key in changes.pairs.keys { note(key) }
    }

    var isEmpty: Bool { properties.isEmpty && pairs.isEmpty }

    private mutating func note(_ property: PropertyID, _ values: NetChanges.Values, of id: ObjectID) {
        guard let entity = schema.entity(id.entityID), let heir = lineage.heir(of: property, in: entity) else { return }
        let isNew =
            lineage.isHeir(property, in: id.entityID) && old.entity(id.entityID)?.property(property) == nil
        guard heir != property || isNew else { return }
        changes.objects[id]?.values[property] = nil
        if entity.slot(of: heir) != nil, entity.property(heir)?.storage != nil {
            properties[id, default: []].insert(heir)
        }
        for case .objectID(let target) in [values.before, values.after] where !target.isNil {
            note(linkOf: heir, from: id, to: target)
        }
    }

    private mutating func note(_ key: PairKey) {
        guard let entity = schema.entity(key.source.entityID), let heir = lineage.heir(of: key.property, in: entity)
        else { return }
        let isNew =
            lineage.isHeir(key.property, in: entity.id) && old.entity(entity.id)?.property(key.property) == nil
        guard heir != key.property || isNew else { return }
        changes.pairs[key] = nil
        note(linkOf: heir, from: key.source, to: key.target)
    }

    /// Notes where the newer model keeps a link: in a pair, or in the row of either end.
    private mutating func note(linkOf property: PropertyID, from owner: ObjectID, to target: ObjectID) {
        guard let relationship = schema.property(property)?.relationship else { return }
        if let key = schema.links.link(property)?.pairKey(owner: owner, member: target) { pairs.insert(key) }
        if !relationship.isToMany { properties[owner, default: []].insert(property) }
        if let inverse = relationship.inverse, schema.property(inverse)?.relationship?.isToMany == false {
            properties[target, default: []].insert(inverse)
        }
    }

    /// Sets the properties that are to be read again to their values in two states.
    mutating func set(from earlier: State, to later: State) {
        for (id, properties) in properties {
            for property in properties {
                let values = NetChanges.Values(
                    before: earlier.values[id]?[property] ?? .null, after: later.values[id]?[property] ?? .null)
                if changes.objects[id] == nil {
                    guard earlier.values[id] != nil, later.values[id] != nil, !values.isNothing else { continue }
                    changes.objects[id] = NetChanges.Object(existedBefore: true, existsAfter: true)
                }
                changes.objects[id]?.values[property] = values
            }
        }
        for key in pairs {
            changes.pairs[key] = NetChanges.PairPositionChange(before: earlier.pairs[key], after: later.pairs[key])
        }
        changes.simplify()
    }
}
