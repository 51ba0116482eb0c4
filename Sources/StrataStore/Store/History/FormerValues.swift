import StrataModel

/// The values that properties had before a migration converted them.
///
/// The events of a migration record nil or a first default before a converted value, because the property has another
/// number. What it held is under its former number, along the chain of the object's events.
struct FormerValues {
    private let reader: LogReader
    private let lineage: PropertyLineage
    /// The models before and after the migration that a transaction is a step of; nil for any other transaction.
    private var migrations: [TransactionNumber: (old: Schema, new: Schema)?] = [:]

    init(_ reader: LogReader) {
        self.reader = reader
        lineage = reader.histories.propertyLineage
    }

    /// The event with the values of before under the new numbers, if it is of a migration.
    ///
    /// - Parameter event: resolved.
    /// - Complexity: the events of the object since it got such a value.
    mutating func added(to event: RecordedEvent) throws -> RecordedEvent {
        guard !lineage.isEmpty, !event.isErased, let id = event.object else { return event }
        switch event.payload {
        case .updated(let changes):
            guard changes.contains(where: { lineage.isHeir($0.property, in: id.entityID) }),
                let (old, new) = try migration(event.transaction), let entity = old.entity(id.entityID)
            else { return event }
            var result = event
            result.payload = .updated(
                try changes.map { change in
                    guard let former = new.origin(of: change.property, in: entity), former.storage != nil else {
                        return change
                    }
                    var change = change
                    change.before = .value(try reader.value(of: former.id, id, asOf: event.previous))
                    result.formers[change.property] = former.id
                    return change
                })
            return result
        case .linked(let pair):
            guard lineage.isHeir(pair.key.property, in: pair.key.source.entityID),
                let (old, new) = try migration(event.transaction)
            else { return event }
            var result = event
            result.wasLinked = Self.wereLinked(pair.key, old, new)
            return result
        default: return event
        }
    }

    /// Whether the links of a relationship were those of its former number, or of another relationship, and not of an
    /// entity that returns.
    private static func wereLinked(_ key: PairKey, _ old: Schema, _ new: Schema) -> Bool {
        guard let source = old.entity(key.source.entityID), let target = old.entity(key.target.entityID) else {
            return false
        }
        let inverse = new.property(key.property)?.relationship?.inverse
        return new.origin(of: key.property, in: source) != nil
            || inverse.flatMap { new.origin(of: $0, in: target) } != nil
    }

    private mutating func migration(_ number: TransactionNumber) throws -> (old: Schema, new: Schema)? {
        if let known = migrations[number] { return known }
        var found: (old: Schema, new: Schema)?
        let versions = reader.histories.versions
        if let record = try reader.transaction(number),
            let version = versions.first(where: { MigrationRun.isStep(record, to: $0) }),
            let before = versions.last(where: { $0 < version }),
            let old = try reader.histories.schema(before), let new = try reader.histories.schema(version)
        {
            found = (old, new)
        }
        migrations[number] = .some(found)
        return found
    }
}
