/// A view that an app declares: the objects of an entity, grouped by keys, with aggregates for each group.
///
/// The store keeps the groups in step with every commit, or catches up behind them (`upkeep`), so reading one takes no
/// pass over the objects. A group goes away with its last object.
///
/// ```swift
/// let sales = ViewDescription(
///     name: "StudioSales", entityName: "Film", where: try FetchPredicate(format: "released == YES"),
///     keys: [ViewKey("studio")],
///     aggregates: [ViewAggregate("films", .count), ViewAggregate("gross", .sum, "gross")])
/// let withSales = try model.adding(views: [sales])
/// ```
public struct ViewDescription: Sendable, Hashable {
    /// The name, unique among the views of a model.
    public var name: String
    /// The author's number of the definition. Another number rebuilds the view, like another definition.
    public var version: Int
    /// The name of the entity whose objects are grouped.
    public var entityName: String
    /// Whether objects of subentities are grouped too.
    public var includesSubentities: Bool
    /// The condition that an object must meet; nil is met by all. It may use attributes and to-ones of the object and
    /// behind its to-ones.
    public var predicate: FetchPredicate?
    /// The values that the objects of a group share; without keys there is one group.
    public var keys: [ViewKey]
    /// The aggregates that are computed for each group.
    public var aggregates: [ViewAggregate]
    /// The orders of the rows that the store keeps beside that of the keys.
    public var orders: [ViewOrder]
    /// Whether the view stays in a store when an app opens it whose model does not declare it. `strata views create`
    /// makes such views.
    public var isOfStore = false
    /// Whether the groups are kept in each commit or behind the commits.
    public var upkeep = ViewUpkeep.inline

    /// A view of an entity.
    public init(
        name: String, version: Int = 1, entityName: String, where predicate: FetchPredicate? = nil,
        keys: [ViewKey] = [], aggregates: [ViewAggregate], orders: [ViewOrder] = [],
        includesSubentities: Bool = true
    ) {
        self.name = name
        self.version = version
        self.entityName = entityName
        self.predicate = predicate
        self.keys = keys
        self.aggregates = aggregates
        self.orders = orders
        self.includesSubentities = includesSubentities
    }

    /// Whether types of the app make columns.
    package var hasProjections: Bool { aggregates.contains { $0.projection != nil } }

    /// The names of the columns of a row: the keys, then the aggregates.
    public var columnNames: [String] { keys.map(\.name) + aggregates.map(\.name) }
}

/// A key of a view: objects with the same value are of one group. Nil is a value like others.
public struct ViewKey: Sendable, Hashable, Codable {
    /// The name of the column.
    public var name: String
    /// The name of an attribute or to-one, `composite.element`, or such a name behind to-ones: `studio.country.name`.
    /// `SELF` is the object itself: then each object has a row of its own. For a to-many, an object is in the group of
    /// each of its members, and in that of nil if it has none.
    public var keyPath: String
    /// The function that makes a key of the value; nil for the value itself.
    public var function: ViewKeyFunction?

    /// A key with a column name of its own.
    public init(_ name: String, keyPath: String, function: ViewKeyFunction? = nil) {
        self.name = name
        self.keyPath = keyPath
        self.function = function
    }

    /// A key with the name of its property.
    public init(_ keyPath: String) { self.init(keyPath, keyPath: keyPath) }

    /// The key path of the object itself.
    package static let object = "SELF"

    /// Whether the key is the object itself.
    package var isObject: Bool { keyPath == Self.object }
}

/// An aggregate of a view: a function of the values of a group's objects.
public struct ViewAggregate: Sendable, Hashable, Codable {
    /// The name of the column.
    public var name: String
    /// The function that is computed.
    public var function: ViewFunction
    /// The name of an attribute, `composite.element`, or such a name behind to-ones. nil counts objects, and means
    /// the object itself in `first` and `last`.
    public var keyPath: String?
    /// The number or date by which the objects of `first` and `last` are ordered, as a key path like the others.
    public var orderPath: String?
    /// The number of objects of `first` and `last`; nil for one. The column of several is a composite whose elements
    /// are named "1", "2" and so on.
    public var limit: Int?
    /// The type of the app that makes the column of `projection`.
    public var projection: ProjectionReference?

    /// An aggregate with its column name.
    public init(
        _ name: String, _ function: ViewFunction, _ keyPath: String? = nil, by orderPath: String? = nil,
        limit: Int? = nil
    ) {
        self.name = name
        self.function = function
        self.keyPath = keyPath
        self.orderPath = orderPath
        self.limit = limit
    }

    /// A column that a type of the app makes.
    public init(_ name: String, _ projection: ProjectionReference) {
        self.init(name, .projection)
        self.projection = projection
    }
}

/// The function that an aggregate of a view computes. All of them leave out nil.
public enum ViewFunction: String, Sendable, Hashable, Codable, CaseIterable {
    /// The number of objects; with a key path, of those that have a value.
    case count
    /// The number of different values.
    case countDistinct
    /// The exact sum: integers and decimals as they are, floating-point numbers summed without error and rounded once.
    case sum
    /// The sum divided by the number of values.
    case average
    /// The smallest number or date.
    case min
    /// The largest number or date.
    case max
    /// The value of the first object by an order, or the values of the first ones. Objects with the same value of the
    /// order are ordered by their ids.
    case first
    /// The value of the last object by an order, or the values of the last ones.
    case last
    /// The composite that a type of the app computes from the objects.
    case projection
}

extension ViewFunction {
    /// Whether the function depends on an order: first or last.
    package var isOrdered: Bool { self == .first || self == .last }
}

extension ViewDescription: CustomStringConvertible {
    /// The definition in one line: `Film WHERE released == YES BY studio: films = count, gross = sum(gross)`.
    public var description: String {
        var text = includesSubentities ? entityName : "\(entityName) only"
        if let predicate { text += " WHERE \(predicate)" }
        if !keys.isEmpty { text += " BY " + keys.map(\.description).joined(separator: ", ") }
        text += ": " + aggregates.map(\.description).joined(separator: ", ")
        for order in orders { text += " ORDERED BY \(order)" }
        if upkeep == .catchingUp { text += " CATCHING UP" }
        return text
    }
}

extension ViewKey: CustomStringConvertible {
    /// The key path or function, and the name of the column if it is another.
    public var description: String {
        let text = function?.description(of: keyPath) ?? keyPath
        return name == text ? name : "\(name) = \(text)"
    }
}

extension ViewAggregate: CustomStringConvertible {
    /// The column and its function: `gross = sum(gross)`.
    public var description: String {
        if let projection { return "\(name) = \(projection)" }
        var arguments = keyPath ?? ""
        if let orderPath { arguments = (keyPath ?? "SELF") + " by \(orderPath)" }
        if let limit { arguments += ", \(limit)" }
        return "\(name) = \(function.rawValue)" + (arguments.isEmpty ? "" : "(\(arguments))")
    }
}

extension ViewDescription: Codable {
    private enum Key: String, CodingKey {
        case name, version, entityName, includesSubentities, predicate, keys, aggregates, orders, isOfStore, upkeep
    }

    /// Reads a description. Orders, upkeep, and whether it is of the store, may be missing.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        name = try container.decode(String.self, forKey: .name)
        version = try container.decode(Int.self, forKey: .version)
        entityName = try container.decode(String.self, forKey: .entityName)
        includesSubentities = try container.decode(Bool.self, forKey: .includesSubentities)
        predicate = try container.decodeIfPresent(FetchPredicate.self, forKey: .predicate)
        keys = try container.decode([ViewKey].self, forKey: .keys)
        aggregates = try container.decode([ViewAggregate].self, forKey: .aggregates)
        orders = try container.decodeIfPresent([ViewOrder].self, forKey: .orders) ?? []
        isOfStore = try container.decodeIfPresent(Bool.self, forKey: .isOfStore) ?? false
        upkeep = try container.decodeIfPresent(ViewUpkeep.self, forKey: .upkeep) ?? .inline
    }

    /// Writes a description. Optional parts with default values are left out.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(name, forKey: .name)
        try container.encode(version, forKey: .version)
        try container.encode(entityName, forKey: .entityName)
        try container.encode(includesSubentities, forKey: .includesSubentities)
        try container.encodeIfPresent(predicate, forKey: .predicate)
        try container.encode(keys, forKey: .keys)
        try container.encode(aggregates, forKey: .aggregates)
        if !orders.isEmpty { try container.encode(orders, forKey: .orders) }
        if isOfStore { try container.encode(isOfStore, forKey: .isOfStore) }
        if upkeep != .inline { try container.encode(upkeep, forKey: .upkeep) }
    }
}
