public import StrataModel

/// Deletes all matching objects without making them in memory. The delete rules of their relationships apply.
///
/// ```swift
/// let result = try context.execute(BatchDeleteRequest<Movie>().where { $0.rating < 1 })
/// ```
///
/// Hooks of the classes do not run, and the request does not see unsaved changes of the context.
public struct BatchDeleteRequest<Object: ManagedObject>: Sendable {
    /// The entity by its name in the model.
    public var entityName: String
    /// The condition that the objects must meet; nil is met by all.
    public var predicate: FetchPredicate?
    /// Whether objects of subentities are included.
    public var includesSubentities = true
    /// The number of objects that are deleted in one transaction, together with those that the delete rules delete. At
    /// least 1. If a step fails, the steps before it stay saved.
    /// If a step fails, the steps before it stay saved.
    public var stepSize = 10_000
    /// The content of the result.
    public var resultType = BatchResultType.count
    /// nil if the predicate chooses the objects.
    let objectIDs: [ObjectID]?

    /// Deletes the objects of an entity that meet a predicate.
    public init(entityName: String = Object.entityName, where predicate: FetchPredicate? = nil) {
        self.entityName = entityName
        self.predicate = predicate
        objectIDs = nil
    }

    /// Deletes the objects with these ids. Ids of objects that do not exist are ignored.
    ///
    /// Without a class (`BatchDeleteRequest<ManagedObject>`) the entity is the root entity of the ids. Ids of several
    /// hierarchies fail with `wrongType`. Without ids the request deletes nothing.
    public init(_ objectIDs: [ObjectID]) {
        entityName = Object.entityName
        self.objectIDs = objectIDs
    }

    /// Deletes the objects that a request finds, with its limit, offset and order.
    public init(_ request: FetchRequest<Object>, in context: ManagedObjectContext) throws {
        var request = request
        request.includesPendingChanges = false
        self.init(try context.fetchObjectIDs(request))
        entityName = request.entityName
    }

    /// Adds a condition that the objects must meet.
    ///
    /// - Throws: `wrongType` and `invalidRequest` for a condition that the entity cannot answer.
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
