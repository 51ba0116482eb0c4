// Evaluates predicates with the values of managed objects.

public import StrataModel
import Foundation
import StrataStore

extension FetchPredicate {
    /// Whether an object meets the predicate, as it is in its context, unsaved changes included.
    ///
    /// ```swift
    /// let isLong = try FetchPredicate(format: "minutes > 120 AND SUBQUERY(cast, $c, $c.isLead == YES).@count > 1")
    /// let longOnes = try movies.filter { try isLong.evaluate(with: $0) }
    /// ```
    ///
    /// - Throws: `invalidRequest` for a predicate that has no meaning, such as a to-many without quantifier;
    ///   `unknownKey`.
    public func evaluate(with object: ManagedObject) throws(StrataError) -> Bool {
        try checkDepth()
        let context = ObjectExpressions(object)
        return try PredicateEvaluator(context, object: .one(.objectID(object.objectID))).holds(self)
    }
}

/// Reads the values of managed objects in one context, for the evaluation of predicates.
struct ObjectExpressions: ExpressionContext {
    private let object: ManagedObject
    let now = Date()

    init(_ object: ManagedObject) { self.object = object }

    func objects(ofFetch request: AttributeValue) throws(StrataError) -> [AttributeValue] {
        let fetch = try NestedFetch(request)
        guard let context = object.managedObjectContext else {
            throw StrataError(.deletedObject, "The object is in no context that FETCH could fetch from.")
        }
        do {
            guard let entity = context.binding.entity(named: fetch.entityName) else {
                throw context.binding.schema.unknownEntity(fetch.entityName)
            }
            if context.automaticallyMergesChangesFromParent { try context.moveIfOthersSaved() }
            let request = StoreRequest(fetch, entity.schema)
            return try context.read(pending: try context.pendingLayers()) { try $0.fetch(request) }
                .map { .objectID($0) }
        } catch {
            throw ManagedObjectContext.typed(error)
        }
    }

    func operand(of key: String, in id: ObjectID) throws(StrataError) -> PredicateOperand {
        guard let owner = id == object.objectID ? object : object._target(id) else { return .one(.null) }
        return try owner.operand(at: key)
    }
}
