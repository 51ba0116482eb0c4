/// A view that an app declares: the objects of an entity, grouped by keys, with aggregates for each group.
///
/// The store keeps the groups in step with every commit, so reading one takes no pass over the objects. A group goes
/// away with its last object.
///
/// ```swift
/// let sales = ViewDescription(
///     name: "StudioSales", entityName: "Film", where: try FetchPredicate(format: "released == YES"),
///     keys: [ViewKey("studio")],
///     aggregates: [ViewAggregate("films", .count), ViewAggregate("gross", .sum, "gross")])
/// let withSales = try model.adding(views: [sales])
/// ```
public struct ViewDescription: Sendable, Hashable, Codable {
    /// The name, unique among the views of a model.
    public var name: String
    /// The author's number of the definition. Another number makes the view anew, like another definition.
    public var version: Int
    /// The name of the entity whose objects are grouped.
    public var entityName: String
    /// Whether objects of subentities are grouped too.
    public var includesSubentities: Bool
    /// What an object must meet; nil is met by all. It may use attributes and to-ones of the object and behind its
    /// to-ones.
    public var predicate: FetchPredicate?
    /// The values that the objects of a group share; without keys there is one group.
    public var keys: [ViewKey]
    /// What is computed for each group.
    public var aggregates: [ViewAggregate]

    /// A view of an entity.
    public init(
        name: String, version: Int = 1, entityName: String, where predicate: FetchPredicate? = nil,
        keys: [ViewKey] = [], aggregates: [ViewAggregate], includesSubentities: Bool = true
    ) {
        self.name = name
        self.version = version
        self.entityName = entityName
        self.predicate = predicate
        self.keys = keys
        self.aggregates = aggregates
        self.includesSubentities = includesSubentities
    }

    /// The names of the columns of a row: the keys, then the aggregates.
    public var columnNames: [String] { keys.map(\.name) + aggregates.map(\.name) }
}

/// A key of a view: objects with the same value are of one group. Nil is a value like others.
public struct ViewKey: Sendable, Hashable, Codable {
    /// The name of the column.
    public var name: String
    /// The name of an attribute or to-one, `composite.element`, or such a name behind to-ones: `studio.country.name`.
    public var keyPath: String

    /// A key with a column name of its own.
    public init(_ name: String, keyPath: String) {
        self.name = name
        self.keyPath = keyPath
    }

    /// A key with the name of its property.
    public init(_ keyPath: String) { self.init(keyPath, keyPath: keyPath) }
}

/// An aggregate of a view: a function of the values of a group's objects.
public struct ViewAggregate: Sendable, Hashable, Codable {
    /// The name of the column.
    public var name: String
    /// What is computed.
    public var function: ViewFunction
    /// The name of an attribute, `composite.element`, or such a name behind to-ones; nil counts objects.
    public var keyPath: String?

    /// An aggregate with its column name.
    public init(_ name: String, _ function: ViewFunction, _ keyPath: String? = nil) {
        self.name = name
        self.function = function
        self.keyPath = keyPath
    }
}

/// What an aggregate of a view computes. All of them leave out nil.
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
}

extension ViewDescription: CustomStringConvertible {
    /// The definition in one line: `Film WHERE released == YES BY studio: films = count, gross = sum(gross)`.
    public var description: String {
        var text = includesSubentities ? entityName : "\(entityName) only"
        if let predicate { text += " WHERE \(predicate)" }
        if !keys.isEmpty { text += " BY " + keys.map(\.description).joined(separator: ", ") }
        return text + ": " + aggregates.map(\.description).joined(separator: ", ")
    }
}

extension ViewKey: CustomStringConvertible {
    /// The key path, and the name of the column if it is another.
    public var description: String { name == keyPath ? name : "\(name) = \(keyPath)" }
}

extension ViewAggregate: CustomStringConvertible {
    /// The column and its function: `gross = sum(gross)`.
    public var description: String { "\(name) = \(function.rawValue)" + (keyPath.map { "(\($0))" } ?? "") }
}
