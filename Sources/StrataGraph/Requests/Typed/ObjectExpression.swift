import StrataModel

/// An object in a typed query: the object that is asked for, the target of a to-one, or a member of a to-many.
///
/// It has the properties of the class: an attribute is a `ValueExpression`, a to-one another `ObjectExpression`, and a
/// to-many a `ToManyExpression`. A dot follows a to-one, also where it may be nil: then everything after it is nil too.
///
/// ```swift
/// try FetchRequest<Movie>().where { $0.familyMember.name == "Ann" || $0.familyMember == nil }
/// ```
@dynamicMemberLookup
public struct ObjectExpression<Root: ManagedObject> {
    // The underscores and the lack of public members keep attributes of the same name accessible.
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
            preconditionFailure("\(path) is no property of the entity \(Root.entityName), so no query can use it.")
        }
        return .path(name, of: _expression)
    }

    // Four subscripts without constraints. With one for each kind of attribute, the type checker gives up on a
    // misspelled name in a long query instead of naming it.

    /// An attribute.
    public subscript<Value>(dynamicMember path: KeyPath<Root, Value>) -> ValueExpression<Value> {
        ValueExpression(end(path), mayBeNil: _mayBeNil, encode: QueryConstant.of)
    }

    /// An optional attribute.
    public subscript<Value>(dynamicMember path: KeyPath<Root, Value?>) -> ValueExpression<Value> {
        ValueExpression(end(path), mayBeNil: true, encode: QueryConstant.of)
    }

    /// The target of a to-one.
    public subscript<Target: ManagedObject>(dynamicMember path: KeyPath<Root, Target?>) -> ObjectExpression<Target> {
        ObjectExpression<Target>(end(path), mayBeNil: true)
    }

    /// The members of a to-many.
    public subscript<Member: ManagedObject>(dynamicMember path: KeyPath<Root, ToMany<Member>>) -> ToManyExpression<
        Member
    > {
        ToManyExpression(end(path))
    }
}

extension ObjectExpression {
    /// Whether the expression leads to the object; with nil, whether it leads to none.
    public static func == (left: ObjectExpression, right: Root?) -> ValueExpression<Bool> {
        left.identity(.equalTo, right?.objectID)
    }

    /// Whether the expression leads to another object, false if it leads to none; with nil, whether it leads to one.
    public static func != (left: ObjectExpression, right: Root?) -> ValueExpression<Bool> {
        left.identity(.notEqualTo, right?.objectID)
    }

    /// Whether both are the same object; false if either is missing.
    public static func == (left: ObjectExpression, right: ObjectExpression) -> ValueExpression<Bool> {
        left.identifier == right.identifier
    }

    /// Whether they are different objects; false if either is missing.
    public static func != (left: ObjectExpression, right: ObjectExpression) -> ValueExpression<Bool> {
        left.identifier != right.identifier
    }

    private var identifier: ValueExpression<ObjectID> { ValueExpression(_expression, mayBeNil: _mayBeNil) }

    private func identity(_ comparison: ComparisonPredicate.Operator, _ id: ObjectID?) -> ValueExpression<Bool> {
        identifier.condition(comparison, .constant(id.map(AttributeValue.objectID) ?? .null))
    }
}
