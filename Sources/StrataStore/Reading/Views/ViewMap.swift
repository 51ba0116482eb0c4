import StrataModel

/// The declared views of one model, prepared once: how a row is added to groups.
final class ViewMap: Sendable {
    let views: [PreparedView]
    private let ofEntities: EntityTable<[PreparedView]>
    private let watched: EntityTable<Bool>
    /// The properties that views across relationships read.
    private let watchedProperties: Set<PropertyID>

    /// - Throws: `invalidModel` for a view that cannot be kept; the check of a model refuses it before.
    init(_ schema: Schema) throws(StrataError) {
        var views: [PreparedView] = []
        for description in schema.model.views { views.append(try PreparedView(description, schema)) }
        self.views = views
        var ofEntities: [EntityID: [PreparedView]] = [:]
        var watched: [EntityID: Bool] = [:]
        var watchedProperties: Set<PropertyID> = []
        for view in views {
            guard view.crossesRelationships else {
                for entity in view.entities { ofEntities[entity, default: []].append(view) }
                continue
            }
            for reading in view.readings {
                watchedProperties.formUnion(reading.settling)
                for entity in reading.entities { watched[entity] = true }
            }
        }
        self.ofEntities = EntityTable(ofEntities, otherwise: [])
        self.watched = EntityTable(watched, otherwise: false)
        self.watchedProperties = watchedProperties
    }

    /// The views that an object of exactly this entity may be in, and that depend on its own row alone.
    func ownRowViews(of entity: EntityID) -> [PreparedView] { ofEntities[entity] }

    /// Whether a view that crosses relationships reads rows of this entity.
    func isWatched(_ entity: EntityID) -> Bool { watched[entity] }

    /// Whether the change of these properties can change what such a view says.
    func isWatching(_ changed: [PropertyID]) -> Bool { changed.contains(where: watchedProperties.contains) }

    func view(named name: String) -> PreparedView? { views.first { $0.description.name == name } }
}

/// A view bound to a schema.
final class PreparedView: Sendable {
    /// A value of an object that is a key, or goes into an aggregate.
    struct Value: Sendable {
        let slot: Int
        /// Element names below a composite attribute.
        let path: [String]
        /// The way to the value of another object; nil for a value of the row itself.
        let far: ValuePath?
        let kind: KeyKind
        /// nil for a to-one.
        let type: AttributeType?
    }

    struct Aggregate: Sendable {
        let function: ViewFunction
        let kind: AggregateKind
        /// nil for the number of objects.
        let value: Value?
    }

    let id: ViewID
    let description: ViewDescription
    /// The concrete entities whose objects are grouped.
    let entities: [EntityID]
    let keys: [Value]
    let aggregates: [Aggregate]
    /// Whether an object's group or values depend on other rows than its own.
    let crossesRelationships: Bool
    /// What the view reads, and how it is reached from the objects.
    let readings: [LiveReading]
    private let filter: (any RowCondition)?
    /// The properties of the object's own row on which its group and values depend.
    private let properties: Set<PropertyID>

    init(_ description: ViewDescription, _ schema: Schema) throws(StrataError) {
        self.description = description
        guard let id = schema.assignment.views[description.name],
            let entity = schema.entity(named: description.entityName)
        else { throw Self.refusal(description) }
        self.id = id
        entities = description.includesSubentities ? entity.concreteEntityIDs : entity.isAbstract ? [] : [entity.id]
        var keys: [Value] = []
        for key in description.keys { keys.append(try Self.value(key.keyPath, entity, schema, description)) }
        self.keys = keys
        var aggregates: [Aggregate] = []
        for aggregate in description.aggregates {
            guard let path = aggregate.keyPath else {
                aggregates.append(Aggregate(function: .count, kind: .rows, value: nil))
                continue
            }
            let value = try Self.value(path, entity, schema, description)
            // A to-one has no type of an attribute, but can be counted.
            let isCount = aggregate.function == .count
            let kind = isCount ? AggregateKind.values : AggregateKind(aggregate.function, value.type)
            aggregates.append(Aggregate(function: aggregate.function, kind: kind, value: value))
        }
        self.aggregates = aggregates
        if let predicate = description.predicate {
            filter = JunctionCondition(
                .and, try PredicateCompiler(entity: entity, schema: schema).conjuncts(of: predicate))
        } else {
            filter = nil
        }
        readings = LiveReadings(paths: description.keyPaths, entity, schema).readings
        // The target of a to-one that is a key is not read: its id is in the row.
        crossesRelationships = description.keyPaths.contains {
            schema.model.hierarchy.behindToOnes($0, in: entity.name).path != $0
        }
        properties = readings.first { $0.hops.isEmpty }?.settling ?? []
    }

    private static func value(
        _ path: String, _ entity: EntitySchema, _ schema: Schema, _ view: ViewDescription
    ) throws(StrataError) -> Value {
        let type = schema.model.hierarchy.valueType(of: path, in: entity.name)
        let (far, rest) = schema.model.hierarchy.behindToOnes(path, in: entity.name)
        var steps = rest.split(separator: ".").map(String.init)
        guard !steps.isEmpty, let property = schema.entity(named: far)?.property(named: steps.removeFirst()) else {
            throw refusal(view)
        }
        let storage = steps.isEmpty ? property.storage : type.map(SlotStorage.attribute)
        guard let kind = KeyKind(SlotKind(storage, allowsExternalStorage: false)) else { throw refusal(view) }
        var way: ValuePath?
        if rest != path { way = ValuePath(try ResolvedPath(path, in: entity, schema)) }
        return Value(slot: property.slot, path: steps, far: way, kind: kind, type: type)
    }

    private static func refusal(_ description: ViewDescription) -> StrataError {
        StrataError(
            .invalidModel, "The view \(description.name) is over something that cannot be grouped.",
            context: .init(entityName: description.entityName, key: description.name))
    }

    /// Whether the change of these properties of an object can change its group or its values.
    func isTouched(by changed: [PropertyID]) -> Bool { changed.contains(where: properties.contains) }

    /// Adds a row to the changes of its group, or takes it away.
    ///
    /// - Parameters:
    ///   - row: in the newest layout of its entity.
    ///   - sign: 1 or -1.
    ///   - evaluation: needed for a condition, and for values of other rows.
    func add(
        _ row: RowReader, _ id: ObjectID, _ sign: Int64, _ evaluation: @autoclosure () -> Evaluation,
        to changes: GroupChanges
    ) throws {
        if let filter, try !filter.holds(row, id, evaluation()) { return }
        changes.begin(self)
        for key in keys {
            if let far = key.far {
                GroupKey.append(try far.value(row, id, evaluation()), key.kind, to: &changes.key)
            } else {
                try GroupKey.append(row, key.slot, key.path, key.kind, to: &changes.key)
            }
        }
        let group = changes.group(self, sign)
        for (index, aggregate) in aggregates.enumerated() {
            guard let value = aggregate.value else { continue }
            if let far = value.far {
                let found = try far.value(row, id, evaluation())
                changes.add(found, aggregate.kind, value.kind, index, sign, to: group)
            } else {
                try add(value, aggregate.kind, index, row, sign, to: group, changes)
            }
        }
    }

    private func add(
        _ value: Value, _ kind: AggregateKind, _ index: Int, _ row: RowReader, _ sign: Int64,
        to group: GroupChanges.Group, _ changes: GroupChanges
    ) throws {
        guard value.path.isEmpty else {
            let found = try GroupKey.value(row, value.slot, value.path)
            return changes.add(found, kind, value.kind, index, sign, to: group)
        }
        if row.isNull(value.slot) { return }
        switch (kind, row.kind(value.slot)) {
        case (.values, _): changes.states[group.first + index].count += sign
        case (.integerSum, _):
            if let number = row.integer(value.slot) { changes.states[group.first + index].add(number, sign) }
        case (.doubleSum, .double):
            if let number = row.double(value.slot) { changes.states[group.first + index].add(number, sign) }
        case (.decimalSum, .decimal):
            let parts = try DecimalParts(row.base, at: Int(row.entry(value.slot).offset))
            changes.states[group.first + index].add(parts, sign)
        default: changes.add(try row.value(value.slot), kind, value.kind, index, sign, to: group)
        }
    }

    // MARK: Rows of the view

    /// The values of a group's columns.
    ///
    /// - Parameter key: the whole key without the view's number.
    func columns(_ key: [UInt8], _ state: GroupState) throws -> [AttributeValue] {
        var values: [AttributeValue] = []
        try key.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            for key in keys { values.append(try GroupKey.value(&reader, key.type)) }
            try reader.expectEnd()
        }
        for (aggregate, own) in zip(aggregates, state.aggregates) {
            values.append(
                try own.result(aggregate.kind, aggregate.function, aggregate.value?.type, rowCount: state.rowCount))
        }
        return values
    }
}

extension ViewDescription {
    /// The key paths of keys, aggregates and condition.
    fileprivate var keyPaths: [String] {
        keys.map(\.keyPath) + aggregates.compactMap(\.keyPath) + (predicate?.keyPaths.sorted() ?? [])
    }
}
