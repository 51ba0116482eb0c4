public import StrataModel
import StrataStore

/// Asks for values instead of objects: properties, expressions, or aggregates of groups.
///
/// ```swift
/// let request = try RowsFetchRequest(
///     of: Movie.self,
///     columns: [OutputColumn("year"), OutputColumn("movies", .function(.count, [.evaluatedObject]))],
///     groupBy: ["year"])
/// for row in try context.fetchRows(request).dictionaries { print(row) }
/// ```
public struct RowsFetchRequest: Sendable {
    public var entityName: String
    public var columns: [OutputColumn]
    public var predicate: FetchPredicate?
    /// Objects that agree in all of these key paths make one row.
    public var groupBy: [String] = []
    /// What a group's row must meet; it speaks of columns by name, of `groupBy`, and of aggregates.
    public var having: FetchPredicate?
    /// Of grouped and distinct rows only columns can be keys.
    public var sortDescriptors: [SortDescription] = []
    /// Most rows to return; 0 is no limit.
    public var fetchLimit = 0
    /// Rows to pass over first.
    public var fetchOffset = 0
    /// Whether rows that are the same come once.
    public var returnsDistinctResults = false
    /// Objects of subentities too.
    public var includesSubentities = true
    /// Whether unsaved changes of the context count.
    public var includesPendingChanges = true

    public init(entityName: String, columns: [OutputColumn], where predicate: FetchPredicate? = nil) {
        self.entityName = entityName
        self.columns = columns
        self.predicate = predicate
    }

    /// A request that is held against the model that the class declares.
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

    /// Refuses a request that cannot run, by the model that the class declares: for one whose properties were assigned
    /// to after it was made, or that was made by the name of its entity.
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
    /// Rows of values; makes no objects.
    ///
    /// - Throws: `unknownEntity`; `unknownKey`, `wrongType` and `invalidRequest` for what the entity cannot answer.
    public func fetchRows(_ request: RowsFetchRequest) throws -> ResultRows {
        let (storeRequest, layers) = try prepare(objects(of: request))
        return try read(pending: layers) { try $0.rows(request.storeRequest(storeRequest)) }
    }

    /// Refuses a request for rows that cannot run, without running it.
    ///
    /// - Throws: as `fetchRows`.
    public func check(_ request: RowsFetchRequest) throws {
        let (storeRequest, _) = try prepare(objects(of: request))
        _ = try CompiledRows(request.storeRequest(storeRequest), binding.schema)
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
