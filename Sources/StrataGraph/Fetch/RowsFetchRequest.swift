public import StrataModel
import StrataStore

/// Asks for values instead of objects: properties, expressions, or aggregates of groups.
///
/// ```swift
/// var request = RowsFetchRequest(entityName: "Movie", columns: [
///     OutputColumn("year"), OutputColumn("movies", .function(.count, [.evaluatedObject])),
/// ])
/// request.groupBy = ["year"]
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
}

extension ManagedObjectContext {
    /// Rows of values; makes no objects.
    ///
    /// - Throws: `unknownEntity`; `unknownKey`, `wrongType` and `invalidRequest` for what the entity cannot answer.
    public func fetchRows(_ request: RowsFetchRequest) throws -> ResultRows {
        var objects = try FetchRequest<ManagedObject>(
            entityName: request.entityName, where: request.predicate, sortedBy: request.sortDescriptors,
            limit: request.fetchLimit, offset: request.fetchOffset)
        objects.includesSubentities = request.includesSubentities
        objects.includesPendingChanges = request.includesPendingChanges
        let (storeRequest, layers) = try prepare(objects)
        let rows = RowsRequest(
            objects: storeRequest, columns: request.columns, groupBy: request.groupBy, having: request.having,
            isDistinct: request.returnsDistinctResults)
        return try read(pending: layers) { try $0.rows(rows) }
    }
}
