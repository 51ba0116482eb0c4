import StrataModel

/// The declared views of one model, prepared once: how a row is added to groups.
final class ViewMap: Sendable {
    let views: [PreparedView]
    /// The views that are kept in each commit, and of which types of the app make columns.
    let inlineProjections: [PreparedView]
    private let ofEntities: EntityTable<[PreparedView]>
    private let watched: EntityTable<Bool>
    /// The properties that inline views across relationships read.
    private let watchedProperties: Set<PropertyID>
    /// The relationships whose pairs such views read, in their canonical direction.
    private let watchedPairs: Set<PropertyID>

    /// - Throws: `invalidModel` for a view that cannot be kept; the check of a model refuses it before.
    init(_ schema: Schema) throws(StrataError) {
        var views: [PreparedView] = []
        for description in schema.model.views { views.append(try PreparedView(description, schema)) }
        self.views = views
        inlineProjections = views.filter { $0.isInline && $0.hasProjections }
        var ofEntities: [EntityID: [PreparedView]] = [:]
        var watched: [EntityID: Bool] = [:]
        var watchedProperties: Set<PropertyID> = []
        var watchedPairs: Set<PropertyID> = []
        for view in views where view.isInline {
            guard view.crossesRelationships else {
                for entity in view.entities { ofEntities[entity, default: []].append(view) }
                continue
            }
            watchedPairs.formUnion(view.pairs.map(\.canonical))
            for reading in view.readings {
                watchedProperties.formUnion(reading.settling)
                for entity in reading.entities { watched[entity] = true }
            }
        }
        self.ofEntities = EntityTable(ofEntities, otherwise: [])
        self.watched = EntityTable(watched, otherwise: false)
        self.watchedProperties = watchedProperties
        self.watchedPairs = watchedPairs
    }

    /// The views that are kept in each commit.
    var inline: [PreparedView] { views.filter(\.isInline) }

    /// The views that are kept behind the commits.
    var catchingUp: [PreparedView] { views.filter { !$0.isInline } }

    /// The inline views that an object of exactly this entity may be in, and that depend on its own row alone.
    func ownRowViews(of entity: EntityID) -> [PreparedView] { ofEntities[entity] }

    /// Whether an inline view that crosses relationships reads rows of this entity.
    func isWatched(_ entity: EntityID) -> Bool { watched[entity] }

    /// Whether a change of these properties can change the rows of such a view.
    func isWatching(_ changed: [PropertyID]) -> Bool { changed.contains(where: watchedProperties.contains) }

    /// Whether a link of this relationship, in its canonical direction, can change the rows of such a view.
    func isWatching(pairsOf canonical: PropertyID) -> Bool { watchedPairs.contains(canonical) }

    func view(named name: String) -> PreparedView? { views.first { $0.description.name == name } }
}

/// A view bound to a schema.
final class PreparedView: Sendable {
    /// A value of an object that is a key, or goes into an aggregate. A class, because copying it for each row would
    /// count the references in it.
    final class Value: Sendable {
        let slot: Int
        /// Element names below a composite attribute.
        let path: [String]
        /// The way to the value of another object; nil for a value of the row itself.
        let far: ValuePath?
        /// The function that makes a key of the value; nil for the value itself.
        let function: KeyFunction?
        let kind: KeyKind
        /// nil for a to-one.
        let type: AttributeType?
        /// Whether the value is the object itself.
        let isObject: Bool
        /// The to-many whose members are the keys.
        let members: PropertyID?
        /// Whether the value is that of a slot of the row.
        let isInSlot: Bool

        /// The object itself.
        init() {
            (slot, path, far, function, kind, type, isObject) = (0, [], nil, nil, .objectID, nil, true)
            (members, isInSlot) = (nil, false)
        }

        /// Each of the members of a to-many.
        init(members: PropertyID) {
            (slot, path, far, function, kind, type, isObject) = (0, [], nil, nil, .objectID, nil, false)
            self.members = members
            isInSlot = false
        }

        init(slot: Int, path: [String], far: ValuePath?, kind: KeyKind, type: AttributeType?) {
            (self.slot, self.path, self.far, self.kind, self.type) = (slot, path, far, kind, type)
            (function, members) = (nil, nil)
            (isObject, isInSlot) = (false, far == nil && path.isEmpty)
        }

        /// The result of a function of a value.
        init(_ function: KeyFunction, of value: Value) {
            (slot, path, far) = (value.slot, value.path, value.far)
            self.function = function
            if case .calendar = function { kind = .integer } else { kind = value.kind }
            type = function.type(of: value.type)
            (isObject, isInSlot, members) = (false, false, nil)
        }

        /// The value of an object.
        func value(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> AttributeValue {
            if let far { return try far.value(row, id, evaluation) }
            if isObject { return .objectID(id) }
            return try GroupKey.value(row, slot, path)
        }
    }

    /// A column that is collected from the objects of a group.
    final class Aggregate: Sendable {
        let function: ViewFunction
        let kind: AggregateKind
        /// The value that is collected; nil for the number of objects.
        let value: Value?
        /// The shown value of the first or last objects; nil for the objects themselves.
        let shown: Value?
        /// Whether the column is a composite of several objects.
        let isList: Bool
        /// The type of the app that makes the column.
        let projection: ProjectionReference?
        /// The values that the projection reads.
        let inputs: [Value]

        init(
            function: ViewFunction, kind: AggregateKind, value: Value?, shown: Value? = nil, isList: Bool = false
        ) {
            (self.function, self.kind, self.value, self.shown, self.isList) = (function, kind, value, shown, isList)
            projection = nil
            inputs = []
        }

        init(_ projection: ProjectionReference, inputs: [Value]) {
            (function, kind, value, shown, isList) = (.projection, .projected, nil, nil, false)
            self.projection = projection
            self.inputs = inputs
        }
    }

    let id: ViewID
    let description: ViewDescription
    /// The concrete entities whose objects are grouped.
    let entities: [EntityID]
    let keys: [Value]
    let aggregates: [Aggregate]
    /// The kinds of `aggregates`.
    let kinds: [AggregateKind]
    /// The cells in which their changes are collected.
    let cells: AggregateCells
    /// The types of the app that make columns.
    let projectionNames: [String]
    let orders: [Order]
    /// The keys first.
    let columnNames: [String]
    /// The types that conditions may compare the columns with.
    let columnTypes: [String: ExpressionType]
    /// The to-many whose members are keys: an object is in the group of each of its members.
    let membersKey: PropertyID?
    /// Whether an object's group or values depend on other rows than its own.
    let crossesRelationships: Bool
    /// The properties that the groups are made of, and the way to them from the objects.
    let readings: [LiveReading]
    /// The links without a slot that they are made of.
    let pairs: [LivePairs]
    /// The entities whose rows can change rows of the view.
    let shownEntities: Set<EntityID>
    let filter: (any RowCondition)?
    /// The properties of the object's own row on which its group and values depend.
    private let properties: Set<PropertyID>
    /// The properties on which an object's group depends, and whether it has one.
    private let groupingProperties: Set<PropertyID>
    /// The properties on which each aggregate depends.
    private let aggregateProperties: [[PropertyID]]

    init(_ description: ViewDescription, _ schema: Schema) throws(StrataError) {
        self.description = description
        guard let id = schema.assignment.views[description.name],
            let entity = schema.entity(named: description.entityName)
        else { throw Self.refusal(description) }
        self.id = id
        entities = description.includesSubentities ? entity.concreteEntityIDs : entity.isAbstract ? [] : [entity.id]
        var keys: [Value] = []
        for key in description.keys { keys.append(try Self.key(key, entity, schema, description)) }
        self.keys = keys
        var aggregates: [Aggregate] = []
        for aggregate in description.aggregates {
            if let projection = aggregate.projection {
                let inputs = try projection.inputs.map { (path) throws(StrataError) in
                    try Self.value(path, entity, schema, description)
                }
                aggregates.append(Aggregate(projection, inputs: inputs))
                continue
            }
            if aggregate.function.isOrdered {
                aggregates.append(try Self.ordered(aggregate, entity, schema, description))
                continue
            }
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
        kinds = aggregates.map(\.kind)
        cells = AggregateCells(kinds)
        projectionNames = aggregates.compactMap(\.projection?.typeName)
        columnNames = description.columnNames
        columnTypes = Dictionary(
            zip(columnNames, Self.types(of: keys, aggregates)), uniquingKeysWith: { first, _ in first })
        orders = description.orders.enumerated().map { Order($0.offset, $0.element, of: description) }
        if let predicate = description.predicate {
            filter = JunctionCondition(
                .and, try PredicateCompiler(entity: entity, schema: schema).conjuncts(of: predicate))
        } else {
            filter = nil
        }
        let paths = description.collectedPaths
        membersKey = keys.lazy.compactMap(\.members).first
        let live = LiveReadings(paths: paths, entity, schema)
        pairs = live.pairs
        // Of the members that are keys only their links count.
        let ends = Set(pairs.map(\.members))
        readings = live.readings.filter { !$0.settling.isEmpty || $0.hops.isEmpty || !ends.contains($0.hops) }
        let shown = LiveReadings(paths: description.aggregates.compactMap(\.keyPath), entity, schema).readings
        shownEntities = Set(entities + (readings + shown).flatMap(\.entities))
        // The target of a to-one that is a key is not read: its id is in the row.
        crossesRelationships =
            membersKey != nil
            || paths.contains { schema.model.hierarchy.behindToOnes($0, in: entity.name).path != $0 }
        func own(_ paths: [String]) -> Set<PropertyID> {
            LiveReadings(paths: paths, entity, schema).readings.first { $0.hops.isEmpty }?.settling ?? []
        }
        properties = own(paths)
        groupingProperties = own(description.groupingPaths)
        aggregateProperties = description.aggregates.map { own($0.collectedPaths).sorted { $0.rawValue < $1.rawValue } }
    }

    private static func key(
        _ key: ViewKey, _ entity: EntitySchema, _ schema: Schema, _ view: ViewDescription
    ) throws(StrataError) -> Value {
        if key.isObject { return Value() }
        if let property = entity.property(named: key.keyPath), property.relationship?.isToMany == true {
            return Value(members: property.id)
        }
        let value = try value(key.keyPath, entity, schema, view)
        guard let function = key.function else { return value }
        let zones = schema.assignment.zones[view.name] ?? [:]
        guard let bound = KeyFunction(function, value.type, zones) else { throw refusal(view) }
        return Value(bound, of: value)
    }

    /// A `first` or `last`: the collected value is that of the order.
    private static func ordered(
        _ aggregate: ViewAggregate, _ entity: EntitySchema, _ schema: Schema, _ view: ViewDescription
    ) throws(StrataError) -> Aggregate {
        guard let order = aggregate.orderPath else { throw refusal(view) }
        let value = try value(order, entity, schema, view)
        let shown = try aggregate.keyPath.map { (path) throws(StrataError) in try Self.value(path, entity, schema, view)
        }
        return Aggregate(
            function: aggregate.function,
            kind: AggregateKind(aggregate.function, value.type, limit: aggregate.limit ?? 1), value: value,
            shown: shown, isList: aggregate.limit != nil)
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

    var isInline: Bool { description.upkeep == .inline }

    var hasCondition: Bool { filter != nil }

    /// Whether types of the app make columns.
    var hasProjections: Bool { !projectionNames.isEmpty }

    /// The context of errors about the view.
    var context: StrataError.Context { .init(entityName: description.entityName, key: description.name) }

    /// Whether the change of these properties of an object can change its group or its values.
    func isTouched(by changed: [PropertyID]) -> Bool { changed.contains(where: properties.contains) }

    /// Whether a change of these properties can move the object to another group, or out of the view.
    func isGrouping(by changed: [PropertyID]) -> Bool { changed.contains(where: groupingProperties.contains) }

    /// Whether a change of these properties can change the object's part in an aggregate.
    func isTouched(_ aggregate: Int, by changed: [PropertyID]) -> Bool {
        aggregateProperties[aggregate].contains(where: changed.contains)
    }
}

extension ViewDescription {
    /// The key paths on whose values groups depend: those of keys, aggregates, orders and condition, but not what is
    /// only shown of a first or last object.
    fileprivate var collectedPaths: [String] { groupingPaths + aggregates.flatMap(\.collectedPaths) }

    /// The paths of keys and condition.
    fileprivate var groupingPaths: [String] {
        keys.filter { !$0.isObject }.map(\.keyPath) + (predicate?.keyPaths.sorted() ?? [])
    }
}

extension ViewAggregate {
    fileprivate var collectedPaths: [String] {
        [function.isOrdered ? orderPath : keyPath].compactMap(\.self) + (projection?.inputs ?? [])
    }
}
