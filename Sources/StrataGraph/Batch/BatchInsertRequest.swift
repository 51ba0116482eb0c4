public import StrataModel

/// Inserts many objects of one entity without making any of them in memory.
///
/// ```swift
/// let request = BatchInsertRequest<Movie>([["title": "Stalker", "rating": 5], ["title": "Mirror"]])
/// let result = try context.execute(request)
/// ```
///
/// The rules of the model hold as in every save: types, required properties, validation rules and predicates,
/// uniqueness. What classes do in code (`awakeFromInsert`, `validateValue`, `willSave`) is not run, since there are no
/// objects. Unsaved changes of the context are not part of it.
///
/// Both ends of relationships are set: the partner of a one-to-one, the members of a to-many. With another uniqueness
/// policy than `reject` the object that a row is merged into gets the members that the row gives, in place of those it
/// has; what the row does not give stays.
public struct BatchInsertRequest<Object: ManagedObject> {
    enum Source {
        case rows([BatchValues])
        case handler((inout BatchRow<Object>) throws -> Bool)
    }

    public var entityName: String
    /// Rows that are saved together, in one transaction: when a step is refused, the ones before it stay. At least 1.
    public var stepSize = 10_000
    /// What becomes of rows whose unique values an object has already.
    public var uniquenessPolicy = UniquenessPolicy.reject
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

    /// Inserts rows, which may also name the members of to-manys.
    public init(_ rows: [BatchRow<Object>], onClash policy: UniquenessPolicy = .reject) {
        self.init(
            entityName: Object.entityName,
            .rows(rows.map(BatchValues.init)), policy)
    }

    /// Inserts rows into an entity by name, which may also name the members of to-manys.
    package init(entityName: String, rows: [BatchRow<Object>], onClash policy: UniquenessPolicy = .reject) {
        self.init(
            entityName: entityName, .rows(rows.map(BatchValues.init)), policy)
    }

    /// Inserts the rows that `handler` fills in one after the other; it returns true, and leaves its row, to end.
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
