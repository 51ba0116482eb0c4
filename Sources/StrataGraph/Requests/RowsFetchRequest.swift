public import StrataModel
import StrataStore

/// A request for rows of values instead of objects: properties, expressions, or aggregates of groups.
///
/// ```swift
/// let request = try RowsFetchRequest(
///     of: Movie.self,
///     columns: [OutputColumn("year"), OutputColumn("movies", .function(.count, [.evaluatedObject]))],
///     groupBy: ["year"])
/// for row in try context.fetchRows(request).dictionaries { print(row) }
/// ```
public struct RowsFetchRequest: Sendable {
    /// The entity by its name in the model.
    public var entityName: String
    /// The columns of a row, in order.
    public var columns: [OutputColumn]
    /// The condition that the objects must meet; nil is met by all.
    public var predicate: FetchPredicate?
    /// Key paths by whose values objects are grouped: each group makes one row. Across a to-many, an object is once in
    /// the group of each value among its members, and in the group of nil if it has none.
    public var groupBy: [String] = []
    /// The condition that a group's row must meet. It can use columns by name (`count` or `$count`), the key paths of
    /// `groupBy`, and aggregates.
    public var having: FetchPredicate?
    /// The order of the rows. A key is the name of a column, a key path, or an expression such as `average(rating)`;
    /// groups also have their key paths and aggregates, distinct rows only their columns.
    public var sortDescriptors: [SortDescription] = []
    /// The number of rows to return at most; 0 for no limit.
    public var fetchLimit = 0
    /// The number of rows to skip.
    public var fetchOffset = 0
    /// Whether equal rows are returned once.
    public var returnsDistinctResults = false
    /// Whether objects of subentities are included.
    public var includesSubentities = true
    /// Whether the results include the context's unsaved changes.
    public var includesPendingChanges = true
    /// The work and memory that the request may take; nil for the budget of the container's options.
    public var budget: RequestBudget?

    /// Makes a request for an entity by its name. It is checked when it runs.
    public init(entityName: String, columns: [OutputColumn], where predicate: FetchPredicate? = nil) {
        self.entityName = entityName
        self.columns = columns
        self.predicate = predicate
    }

    /// Makes a request for the entity of a class, and checks it against the model that the class declares.
    ///
    /// - Throws: `unknownKey` with the nearest name, `wrongType`, `invalidRequest`.
    public init<Object: ManagedObject>(
        of objectClass: Object.Type, columns: [OutputColumn], where predicate: FetchPredicate? = nil,
        groupBy: [String] = [], having: FetchPredicate? = nil, sortedBy sortDescriptors: [SortDescription] = [],
        limit: Int = 0, offset: Int = 0
    ) throws(StrataError) {
        self.init(entityName: Object.entityName, columns: columns, where: predicate)
        self.groupBy = groupBy
        self.having = having
        self.sortDescriptors = sortDescriptors
        fetchLimit = limit
        fetchOffset = offset
        try check(of: objectClass)
    }

    /// Refuses a request that cannot run, by the model that a class declares.
    ///
    /// Call it after you have assigned to properties, or for a request by the name of an entity.
    ///
    /// - Throws: `unknownKey` with the nearest name, `wrongType`, `invalidRequest`.
    public func check<Object: ManagedObject>(of objectClass: Object.Type) throws(StrataError) {
        try RequestCheck.check(self, of: objectClass)
    }

    func storeRequest(_ objects: StoreRequest) -> RowsRequest {
        RowsRequest(
            objects: objects, columns: columns, groupBy: groupBy, having: having, isDistinct: returnsDistinctResults)
    }
}

extension ManagedObjectContext {
    /// Fetches rows of values, without making objects.
    ///
    /// - Throws: `unknownEntity`; `unknownKey`, `wrongType` and `invalidRequest` for what the entity cannot answer;
    ///   `budgetExceeded` for what takes too much; `CancellationError` if the task that calls it is cancelled while it
    ///   reads many rows.
    public func fetchRows(_ request: RowsFetchRequest) throws -> ResultRows {
        let (storeRequest, layers) = try prepare(objects(of: request))
        return try observed(.rows, request.entityName, count: \.count) { monitor in
            try read(pending: layers, monitor: monitor, budget: request.budget ?? binding.requestBudget) {
                try $0.rows(request.storeRequest(storeRequest))
            }
        }
    }

    /// Runs a request for rows and explains how: from which declared view, or from which objects.
    ///
    /// - Throws: as `fetchRows`.
    public func explain(_ request: RowsFetchRequest) throws -> QueryExplanation {
        let (storeRequest, layers) = try prepare(objects(of: request))
        return try read(pending: layers, budget: request.budget ?? binding.requestBudget) {
            try $0.explain(request.storeRequest(storeRequest))
        }
    }

    /// Refuses a request for rows that cannot run, without running it.
    ///
    /// - Throws: as `fetchRows`.
    public func check(_ request: RowsFetchRequest) throws {
        let (storeRequest, _) = try prepare(objects(of: request))
        _ = try CompiledRows(request.storeRequest(storeRequest), binding.schema, binding.store.shapes)
    }

    private func objects(of request: RowsFetchRequest) throws -> FetchRequest<ManagedObject> {
        var objects = try FetchRequest<ManagedObject>(
            entityName: request.entityName, where: request.predicate, sortedBy: request.sortDescriptors,
            limit: request.fetchLimit, offset: request.fetchOffset)
        objects.includesSubentities = request.includesSubentities
        objects.includesPendingChanges = request.includesPendingChanges
        return objects
    }
}
