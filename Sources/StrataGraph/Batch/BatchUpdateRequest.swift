public import StrataModel

/// Changes properties of all matching objects without making them in memory.
///
/// ```swift
/// let request = try BatchUpdateRequest<Movie>()
///     .where { $0.rating < 5 }
///     .setting(\.rating) { $0.rating + 0.5 }
/// let result = try context.execute(request)
/// ```
///
/// The rules of the model hold as in every save. Hooks of the classes do not run, and the request does not see unsaved
/// changes of the context.
public struct BatchUpdateRequest<Object: ManagedObject>: Sendable {
    /// The entity by its name in the model.
    public var entityName: String
    /// The condition that the objects must meet; nil is met by all.
    public var predicate: FetchPredicate?
    /// Whether objects of subentities are included.
    public var includesSubentities = true
    /// The new values by property: constants, expressions over the object before the change, and for a to-many an
    /// aggregate of the ids of its members. A key path names an element of a composite, as in `address.city`; its other
    /// elements stay as they are.
    public var propertiesToUpdate: [String: FetchExpression] = [:]
    /// The number of objects that are saved in one transaction. At least 1. If a step fails, the steps before it stay
    /// saved.
    public var stepSize = 10_000
    /// The content of the result.
    public var resultType = BatchResultType.count

    /// Changes the objects of an entity that meet a predicate.
    public init(
        entityName: String = Object.entityName, where predicate: FetchPredicate? = nil,
        setting propertiesToUpdate: [String: FetchExpression] = [:]
    ) {
        self.entityName = entityName
        self.predicate = predicate
        self.propertiesToUpdate = propertiesToUpdate
    }

    /// Adds a condition that the objects must meet.
    ///
    /// - Throws: `wrongType` and `invalidRequest` for a condition that the entity cannot answer.
    public func `where`(_ condition: (ObjectExpression<Object>) -> ValueExpression<Bool>) throws(StrataError)
        -> BatchUpdateRequest
    {
        var request = self
        let condition = FetchPredicate(for: Object.self, condition)
        try RequestCheck.check(condition, of: Object.self, entityName: entityName)
        request.predicate = predicate.map { $0 && condition } ?? condition
        return request
    }

    /// Sets an attribute to an expression over the object before the change.
    public func setting<Value: StorableValue>(
        _ property: KeyPath<Object, Value>, to value: (ObjectExpression<Object>) -> ValueExpression<Value>
    ) -> BatchUpdateRequest {
        setting(property, value(ObjectExpression(.evaluatedObject, mayBeNil: false)).expression)
    }

    /// Sets an optional attribute to a value that is computed from the object before the change.
    public func setting<Value: StorableValue>(
        _ property: KeyPath<Object, Value?>, to value: (ObjectExpression<Object>) -> ValueExpression<Value>
    ) -> BatchUpdateRequest {
        setting(property, value(ObjectExpression(.evaluatedObject, mayBeNil: false)).expression)
    }

    /// Sets an attribute to a value.
    public func setting<Value: StorableValue>(_ property: KeyPath<Object, Value>, to value: Value) -> BatchUpdateRequest
    {
        setting(property, .constant(value.attributeValue))
    }

    /// Sets an attribute to a value, or to nil.
    public func setting<Value: StorableValue>(
        _ property: KeyPath<Object, Value?>, to value: Value?
    ) -> BatchUpdateRequest {
        setting(property, .constant(value?.attributeValue ?? .null))
    }

    /// Sets an attribute to a value with a raw value.
    public func setting<Value: RawRepresentable>(
        _ property: KeyPath<Object, Value>, to value: Value
    ) -> BatchUpdateRequest where Value.RawValue: StorableValue {
        setting(property, .constant(value.rawValue.attributeValue))
    }

    /// Sets an optional attribute to a value with a raw value, or to nil.
    public func setting<Value: RawRepresentable>(
        _ property: KeyPath<Object, Value?>, to value: Value?
    ) -> BatchUpdateRequest where Value.RawValue: StorableValue {
        setting(property, .constant(value?.rawValue.attributeValue ?? .null))
    }

    /// Sets a to-one to the object with an id, or to none.
    public func setting<Target: ManagedObject>(
        _ property: KeyPath<Object, Target?>, to target: ObjectID?
    ) -> BatchUpdateRequest {
        setting(property, .constant(target.map(AttributeValue.objectID) ?? .null))
    }

    /// Sets the members of a to-many by their ids, in order if it is ordered.
    public func setting<Member: ManagedObject>(
        _ property: KeyPath<Object, ToMany<Member>>, to members: [ObjectID]
    ) -> BatchUpdateRequest {
        setting(property, .aggregate(members.map { .constant(.objectID($0)) }))
    }

    private func setting(_ property: PartialKeyPath<Object>, _ value: FetchExpression) -> BatchUpdateRequest {
        var request = self
        request.propertiesToUpdate[PropertyName.ofAny(property)] = value
        return request
    }
}
