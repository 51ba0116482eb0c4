import StrataModel

/// An object in a typed query: the one that is asked about, one that it points at, or a member of a to-many.
///
/// Its properties are those of the class: an attribute is a `ValueExpression`, a to-one another `ObjectExpression`, a to-many a `ToManyExpression`. To-ones
/// are followed with a dot, whether they lead to an object or not: what stands behind a missing one is missing.
///
/// ```swift
/// try FetchRequest<Movie>().where { $0.familyMember.name == "Ann" || $0.familyMember == nil }
/// ```
@dynamicMemberLookup
public struct ObjectExpression<Root: ManagedObject> {
    // Nothing here may be public: it would hide an attribute of the same name.
    let _expression: FetchExpression
    let _mayBeNil: Bool

    init(_ expression: FetchExpression, mayBeNil: Bool) {
        _expression = expression
        _mayBeNil = mayBeNil
    }

    private func end(_ path: PartialKeyPath<Root>) -> FetchExpression {
        let definition = EntityDefinition.of(Root.self)
        if path == definition.objectIDPath { return _expression }
        guard let name = definition.names[path] else {
            preconditionFailure("\(path) is no property of the entity \(Root.entityName): a query cannot ask for it.")
        }
        return .path(name, of: _expression)
    }

    // Four subscripts and no more, none of them constrained to what can be stored: with one for each kind of attribute
    // a misspelled name in a long query is looked for in so many ways that the compiler gives up.

    public subscript<Value>(dynamicMember path: KeyPath<Root, Value>) -> ValueExpression<Value> {
        ValueExpression(end(path), mayBeNil: _mayBeNil, encode: QueryConstant.of)
    }

    public subscript<Value>(dynamicMember path: KeyPath<Root, Value?>) -> ValueExpression<Value> {
        ValueExpression(end(path), mayBeNil: true, encode: QueryConstant.of)
    }

    public subscript<Target: ManagedObject>(dynamicMember path: KeyPath<Root, Target?>) -> ObjectExpression<Target> {
        ObjectExpression<Target>(end(path), mayBeNil: true)
    }

    public subscript<Member: ManagedObject>(dynamicMember path: KeyPath<Root, ToMany<Member>>) -> ToManyExpression<
        Member
    > {
        ToManyExpression(end(path))
    }
}

extension ObjectExpression {
    /// The same object; with nil, whether there is none.
    public static func == (left: ObjectExpression, right: Root?) -> ValueExpression<Bool> {
        left.identity(.equalTo, right?.objectID)
    }

    /// Another object; false where there is none. With nil, whether there is one.
    public static func != (left: ObjectExpression, right: Root?) -> ValueExpression<Bool> {
        left.identity(.notEqualTo, right?.objectID)
    }

    public static func == (left: ObjectExpression, right: ObjectExpression) -> ValueExpression<Bool> {
        left.identifier == right.identifier
    }

    public static func != (left: ObjectExpression, right: ObjectExpression) -> ValueExpression<Bool> {
        left.identifier != right.identifier
    }

    private var identifier: ValueExpression<ObjectID> { ValueExpression(_expression, mayBeNil: _mayBeNil) }

    private func identity(_ comparison: ComparisonPredicate.Operator, _ id: ObjectID?) -> ValueExpression<Bool> {
        identifier.condition(comparison, .constant(id.map(AttributeValue.objectID) ?? .null))
    }
}
