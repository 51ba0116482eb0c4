public import StrataModel

/// Inserts many objects of one entity without making them in memory.
///
/// ```swift
/// let request = BatchInsertRequest<Movie>([["title": "Stalker", "rating": 5], ["title": "Mirror"]])
/// let result = try context.execute(request)
/// ```
///
/// The rules of the model hold as in every save: types, required properties, validation rules and predicates,
/// uniqueness. Hooks of the classes (`awakeFromInsert`, `validateValue`, `willSave`) do not run, because there are no
/// objects. The request does not see unsaved changes of the context.
///
/// Both ends of relationships are set: the partner of a one-to-one, the members of a to-many. If the uniqueness policy
/// merges a row into an object, members that the row gives replace those of the object. Properties that the row does
/// not give stay as they are.
public struct BatchInsertRequest<Object: ManagedObject> {
    enum Source {
        case rows([BatchValues])
        case handler((inout BatchRow<Object>) throws -> Bool)
    }

    /// The entity by its name in the model.
    public var entityName: String
    /// The number of rows that are saved in one transaction. At least 1. If a step fails, the steps before it stay
    /// saved.
    public var stepSize = 10_000
    /// The policy for rows whose unique values another object has.
    public var uniquenessPolicy = UniquenessPolicy.reject
    /// The content of the result.
    public var resultType = BatchResultType.count
    let source: Source

    /// Inserts rows of values by property name; a to-one takes the id of its object.
    public init(_ rows: [[String: AttributeValue]] = [], onClash policy: UniquenessPolicy = .reject) {
        self.init(entityName: Object.entityName, .rows(rows.map(BatchValues.init)), policy)
    }

    /// Inserts rows into an entity by name.
    public init(entityName: String, _ rows: [[String: AttributeValue]] = [], onClash policy: UniquenessPolicy = .reject)
    {
        self.init(entityName: entityName, .rows(rows.map(BatchValues.init)), policy)
    }

    /// Inserts rows of values of any type into an entity by name, such as `JSONSerialization` gives.
    ///
    /// Values are taken as by `setValue(_:forKey:)`. A to-one takes an object or its id, a to-many a list of them.
    ///
    /// - Throws: `wrongType` for a value that no attribute holds.
    public init(entityName: String, objects: [[String: Any]], onClash policy: UniquenessPolicy = .reject) throws {
        let rows = try objects.map { try BatchValues(any: $0, entityName: entityName) }
        self.init(entityName: entityName, .rows(rows), policy)
    }

    /// Inserts rows, which may also name the members of to-manys.
    public init(_ rows: [BatchRow<Object>], onClash policy: UniquenessPolicy = .reject) {
        self.init(
            entityName: Object.entityName,
            .rows(rows.map(BatchValues.init)), policy)
    }

    /// Inserts the rows that `handler` fills in, one after the other, until it returns true. That last row is not
    /// inserted.
    ///
    /// ```swift
    /// var titles = ["Stalker", "Mirror"][...]
    /// let request = BatchInsertRequest<Movie> { row in
    ///     guard let title = titles.popFirst() else { return true }
    ///     row[\.title] = title
    ///     return false
    /// }
    /// ```
    public init(
        onClash policy: UniquenessPolicy = .reject, _ handler: @escaping (inout BatchRow<Object>) throws -> Bool
    ) {
        self.init(entityName: Object.entityName, .handler(handler), policy)
    }

    private init(entityName: String, _ source: Source, _ policy: UniquenessPolicy) {
        self.entityName = entityName
        self.source = source
        uniquenessPolicy = policy
    }

    /// Calls `body` with the rows of one step after the other.
    func forEachStep(_ body: ([BatchValues]) throws -> Void) throws {
        switch source {
        case .rows(let rows):
            for start in stride(from: 0, to: rows.count, by: stepSize) {
                try body(Array(rows[start..<Swift.min(start + stepSize, rows.count)]))
            }
        case .handler(let handler):
            var step: [BatchValues] = []
            var row = BatchRow<Object>()
            while true {
                if try handler(&row) { break }
                step.append(row.takeValues())
                guard step.count == stepSize else { continue }
                try body(step)
                step.removeAll(keepingCapacity: true)
            }
            if !step.isEmpty { try body(step) }
        }
    }
}
