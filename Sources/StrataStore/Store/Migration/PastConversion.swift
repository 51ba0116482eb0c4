// Converts a past state to a later model, one migration after another (`PastConversion`).

import LMDB
import StrataModel

/// The source of a conversion: one read transaction of a store.
struct ConversionSource {
    let store: Store
    let transaction: ReadTransaction
    let head: EventNumber
    let newest: SchemaHistory

    init(_ store: Store, _ transaction: ReadTransaction, _ head: EventNumber, _ newest: SchemaHistory) {
        self.store = store
        self.transaction = transaction
        self.head = head
        self.newest = newest
    }

    /// Whether the state at an event is older than a model.
    func isBefore(_ eventNumber: EventNumber, _ schema: Schema) throws -> Bool {
        guard let first = newest.versions.first, first < schema.version else { return false }
        return try eventNumber < store.file.installation(of: schema.version, newest, transaction)
    }

    /// A state through the model of its time, or a later one that is not the newest.
    func snapshot(at eventNumber: EventNumber, _ schema: Schema, _ layers: [Layer] = []) throws -> Snapshot {
        try store.snapshots.snapshot(at: eventNumber, layers: layers, through: schema, transaction, head, newest)
    }

    /// A state through a model that it had left behind already, for objects that no model since has had.
    func snapshot(at eventNumber: EventNumber, ofHidden schema: Schema) throws -> Snapshot {
        try store.snapshots.snapshot(
            at: eventNumber, layers: [], in: newest.through(schema.version), transaction, head, newest)
    }

    /// The states just before and just after the migration to a model.
    func migration(to version: ModelVersion) throws -> (before: EventNumber, after: EventNumber) {
        let reader = LogReader(transaction, store.file.tables, newest)
        let last = try store.file.readHead(transaction).transaction
        let moments = try reader.migration(to: version, last)
        return (moments.before, moments.after)
    }
}

/// Converts a state of before some migrations to the model after them, one migration after another.
///
/// A value that the object still had when the migration ran becomes the migration's result, which is in the log. Any
/// other value is converted by the rule, if the store was opened with one, or by its types.
struct PastConversion {
    private let source: ConversionSource
    private let eventNumber: EventNumber
    private var values: [(id: ObjectID, revision: EventNumber, change: PropertyChange)] = []
    /// In the order of the migrations that made them. Positions are nil for a pair that is not linked any more.
    private var pairs: [(key: PairKey, positions: PairPositions?, version: ModelVersion)] = []
    private var unreadable: [(id: ObjectID, property: PropertyID, sentence: String)] = []

    init(_ source: ConversionSource, at eventNumber: EventNumber) {
        self.source = source
        self.eventNumber = eventNumber
    }

    mutating func run(to schema: Schema) throws -> ConvertedState {
        let (file, newest) = (source.store.file, source.newest)
        var old = try file.schema(at: eventNumber, newest, source.transaction)
        let first = old
        var models = first.map { [$0] } ?? []
        for version in newest.versions where version <= schema.version {
            guard let before = old, version > before.version, let new = try newest.schema(version) else { continue }
            models.append(new)
            let log = LogReader(source.transaction, file.tables, newest)
            let former = FormerStates(from: first?.version) { [self] version in
                guard let schema = try newest.schema(version) else { return nil }
                if let first, version < first.version {
                    return try source.snapshot(at: eventNumber, ofHidden: schema)
                }
                return try snapshot(through: schema)
            }
            try convert(
                Migration(
                    from: before, to: new, log, try file.readHead(source.transaction).transaction,
                    values: file.options.migration.values, blobs: source.store.blobs, keys: source.store.keyRing,
                    former: former),
                schema)
            old = new
        }
        return try finish(schema, models)
    }

    /// - Parameter last: the model of the last migration. Links to objects of an entity that it has again stay.
    private mutating func convert(_ migration: Migration, _ last: Schema) throws {
        let entities = migration.entities.map { $0.converting(keepingLinksTo: last) }.filter { !$0.steps.isEmpty }
        let relinked = migration.relinked, regaining = migration.regaining
        let unlinked = migration.unlinked.filter { last.entity($0.id) == nil }
        let leaving = migration.leaving
        let changesPairs = ![relinked.map(\.entity), unlinked, regaining, leaving].allSatisfy(\.isEmpty)
        guard !entities.isEmpty || changesPairs else { return }
        let version = migration.new.version
        let snapshot = try snapshot(through: migration.old)
        let recorded = entities.contains(where: \.convertsByType) ? try RecordedConversions(migration, source) : nil
        var guesses = ConversionGuesses()
        for entity in entities {
            // The rows of an entity that returns are those of the last model that had it.
            let snapshot = try migration.links.state(of: entity.entity.id) ?? snapshot
            try snapshot.scan(entity.entity.id) { id, row in
                var misfits: [PropertyMisfit] = []
                for change in try entity.pastChanges(
                    of: id, row, snapshot, at: eventNumber, recorded, &guesses, &misfits)
                {
                    values.append((id, row.revision, change))
                }
                for misfit in misfits { unreadable.append((id, misfit.property, misfit.sentence)) }
                return true
            }
        }
        removeGuesses(guesses)
        for (property, entity) in relinked {
            let snapshot = try migration.links.state(of: entity.id) ?? snapshot
            try snapshot.scan(entity.id) { id, row in
                for pair in try migration.pairs(of: property, owner: id, row, snapshot) {
                    pairs.append((pair.key, pair.positions, version))
                }
                return true
            }
        }
        for entity in unlinked {
            let links = migration.links.lostPairs(of: entity)
            try snapshot.scan(entity.id) { id, _ in
                for key in try migration.links.lostPairs(of: id, links, snapshot) { pairs.append((key, nil, version)) }
                return true
            }
        }
        for entity in leaving {
            try snapshot.scan(entity.id) { id, _ in
                for key in try migration.links.leftPairs(of: id, snapshot) { pairs.append((key, nil, version)) }
                return true
            }
        }
        for entity in regaining { try regain(entity, migration, snapshot) }
    }

    /// The state through a model, with the values converted so far.
    private func snapshot(through schema: Schema) throws -> Snapshot {
        let below = try layer(schema)
        return try source.snapshot(at: eventNumber, schema, below.isEmpty ? [] : [below])
    }

    private mutating func regain(_ entity: EntitySchema, _ migration: Migration, _ snapshot: Snapshot) throws {
        let rows = try migration.links.state(of: entity.id) ?? snapshot
        try rows.scan(entity.id) { id, _ in
            for pair in try migration.regainedPairs(of: id, snapshot) {
                pairs.append((pair.key, pair.positions, migration.new.version))
            }
            return true
        }
    }

    /// Removes guessed values of a property for which the log shows that the migration had another rule than its types:
    /// they cannot be known.
    private mutating func removeGuesses(_ guesses: ConversionGuesses) {
        guard !guesses.wrong.isEmpty else { return }
        values.removeAll { guesses.wrong[$0.change.property] != nil && guesses.isGuess($0.id, $0.change.property) }
        for (property, sentence) in guesses.wrong {
            for id in guesses.objects[property] ?? [] { unreadable.append((id, property, sentence)) }
        }
    }

    private func layer(_ schema: Schema) throws -> Layer {
        var builder = Layer.Builder(schema: schema)
        for (id, revision, change) in values {
            guard let entity = schema.entity(id.entityID), !entity.isAbstract, entity.slot(of: change.property) != nil,
                case .value(let value) = change.after,
                let index = builder.rows.delta(of: id, revision: revision)
            else { continue }
            try builder.rows.add(value, of: change.property, at: index)
        }
        for (key, positions, version) in pairs
        where version <= schema.version && schema.property(key.property) != nil {
            builder.setPair(key, positions)
        }
        return builder.finish()
    }

    private func finish(_ schema: Schema, _ models: [Schema]) throws -> ConvertedState {
        var problems: [MigrationProblem] = []
        var indexes: [ObjectID: [Int]] = [:]
        for (id, property, sentence) in unreadable {
            guard let entity = schema.entity(id.entityID),
                let name = Self.name(of: property, in: entity, models)
            else { continue }
            let error = StrataError(.migration, sentence, context: .init(entityName: entity.name, key: name))
            let index = problems.firstIndex { $0.isTold(by: error) } ?? problems.count
            if index == problems.count { problems.append(MigrationProblem(error)) }
            problems[index].add(id)
            indexes[id, default: []].append(index)
        }
        return ConvertedState(layer: try layer(schema), problems: problems, unreadable: indexes)
    }

    /// The name of a property, or of what took over its values later; nil if nothing did.
    private static func name(of property: PropertyID, in entity: EntitySchema, _ models: [Schema]) -> String? {
        let last = Schema.last(of: property, in: entity.id, through: models)
        return entity.property(last)?.name
    }
}

/// A property that cannot show the value of one object, and why.
struct PropertyMisfit {
    let property: PropertyID
    let sentence: String
}

/// Values that were converted by their types alone, because the log does not have the migration's results.
struct ConversionGuesses {
    /// By property; objects come in order of their ids.
    private(set) var objects: [PropertyID: [ObjectID]] = [:]
    /// Properties for which the types alone give other values than the migration did, with a sentence about that.
    private(set) var wrong: [PropertyID: String] = [:]

    mutating func note(_ id: ObjectID, _ property: PropertyID) { objects[property, default: []].append(id) }

    mutating func noteWrong(_ property: PropertySchema) {
        wrong[property.id] =
            "\(property.name) was converted by a rule that the store was not opened with."
    }

    func isGuess(_ id: ObjectID, _ property: PropertyID) -> Bool {
        guard let objects = objects[property] else { return false }
        var (low, high) = (0, objects.count)
        while low < high {
            let middle = (low + high) / 2
            if objects[middle] < id { low = middle + 1 } else { high = middle }
        }
        return low < objects.count && objects[low] == id
    }
}

/// The values that a migration wrote, as the log has them.
struct RecordedConversions {
    private let before: Snapshot
    private let after: Snapshot
    private let old: Schema
    private let new: Schema

    init(_ migration: Migration, _ source: ConversionSource) throws {
        old = migration.old
        new = migration.new
        let moments = try source.migration(to: new.version)
        before = try source.snapshot(at: moments.before, old)
        after = try source.snapshot(at: moments.after, new)
    }

    /// The new value of an object that had `value` in a slot also when the migration ran; nil for any other object.
    func value(
        of property: PropertySchema, _ id: ObjectID, from slot: Int, _ value: AttributeValue
    ) throws -> AttributeValue? {
        guard let oldEntity = old.entity(id.entityID), let newEntity = new.entity(id.entityID),
            let was = try before.row(id),
            try before.value(slot, of: was, was.reader, oldEntity).isIdentical(to: value),
            let row = try after.row(id)
        else { return nil }
        let made = try after.value(property.slot, of: row, row.reader, newEntity)
        return made.isNull ? nil : made
    }
}
