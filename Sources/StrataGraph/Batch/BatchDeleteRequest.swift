public import StrataModel

/// Deletes every object that matches, and what goes with them by the delete rules, without making any in memory.
///
/// ```swift
/// let result = try context.execute(BatchDeleteRequest<Movie>().where { $0.rating < 1 })
/// ```
///
/// What classes do in code is not run, and unsaved changes of the context are not part of it.
public struct BatchDeleteRequest<Object: ManagedObject>: Sendable {
    public var entityName: String
    public var predicate: FetchPredicate?
    public var includesSubentities = true
    /// Objects that are deleted together, with what goes with them, in one transaction: when a step is refused, the ones
    /// before it stay. At least 1.
    public var stepSize = 10_000
    public var resultType = BatchResultType.count
    /// nil: what the predicate finds.
    let objectIDs: [ObjectID]?

    public init(entityName: String = Object.entityName, where predicate: FetchPredicate? = nil) {
        self.entityName = entityName
        self.predicate = predicate
        objectIDs = nil
    }

    /// Deletes the objects with these ids; those that are gone already are passed over.
    public init(_ objectIDs: [ObjectID]) {
        entityName = Object.entityName
        self.objectIDs = objectIDs
    }

    /// Deletes what a request finds, limit, offset and order counted.
    public init(_ request: FetchRequest<Object>, in context: ManagedObjectContext) throws {
        var request = request
        request.includesPendingChanges = false
        self.init(try context.fetchObjectIDs(request))
        entityName = request.entityName
    }

    /// Deletes only objects that meet the condition too.
    ///
    /// - Throws: `wrongType` and `invalidRequest` for what the class cannot answer.
    public func `where`(_ condition: (ObjectExpression<Object>) -> ValueExpression<Bool>) throws(StrataError)
        -> BatchDeleteRequest
    {
        var request = self
        let condition = FetchPredicate(for: Object.self, condition)
        try RequestCheck.check(condition, of: Object.self, entityName: entityName)
        request.predicate = predicate.map { $0 && condition } ?? condition
        return request
    }
}
