package import StrataModel

extension Store {
    /// The changes between two states as the newest model has them: where a migration has given a property another
    /// number since, its values are what the migration made of them.
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
        var heirs: [PropertyID: PropertyID] = [:]
        for (heir, former) in schema.assignment.replaced where schema.property(heir) != nil {
            for property in former { heirs[property] = heir }
        }
        var concerned: [ObjectID: Set<PropertyID>] = [:]
        var result = changes
        for (id, object) in changes.objects where schema.entity(id.entityID) != nil {
            for property in object.values.keys {
                if schema.property(property) == nil, let heir = heirs[property] {
                    result.objects[id]?.values[property] = nil
                    concerned[id, default: []].insert(heir)
                } else if old.property(property) == nil, schema.assignment.replaced[property] != nil {
                    concerned[id, default: []].insert(property)
                }
            }
        }
        if concerned.isEmpty { return changes }
        let (earlier, later) = (try values(concerned, at: before, schema), try values(concerned, at: after, schema))
        for (id, properties) in concerned {
            for property in properties {
                result.objects[id]?.values[property] = NetChanges.Values(
                    before: earlier[id]?[property] ?? .null, after: later[id]?[property] ?? .null)
            }
        }
        result.simplify()
        return result
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

    /// The values that objects have at a state; an object that is not there is left out.
    private func values(
        _ concerned: [ObjectID: Set<PropertyID>], at eventNumber: EventNumber, _ schema: Schema
    ) throws -> [ObjectID: [PropertyID: AttributeValue]] {
        if let state = try convertedState(at: eventNumber, through: schema) {
            for (id, properties) in concerned {
                let names = properties.compactMap { schema.property($0)?.name }
                let error = state.errors(of: id).first { error in error.context.key.map(names.contains) ?? false }
                if let error { throw error }
            }
        }
        return try read(at: eventNumber, through: schema) { snapshot in
            var values: [ObjectID: [PropertyID: AttributeValue]] = [:]
            for (id, properties) in concerned {
                guard let entity = schema.entity(id.entityID), let row = try snapshot.row(id) else { continue }
                let reader = try row.reader
                for property in properties {
                    guard let slot = entity.slot(of: property) else { continue }
                    values[id, default: [:]][property] = try snapshot.value(slot, of: row, reader, entity)
                }
            }
            return values
        }
    }
}
