// What generated code calls for a variable whose type no property can have. These functions exist for their messages:
// without them the compiler lists every overload that does not fit.

extension ManagedObject {
    @available(*, unavailable, message: "A to-one relationship must be optional; '.required' makes a save refuse nil.")
    public final func _get<Target: ManagedObject>(_ index: Int) -> Target { unavailable() }

    @available(*, unavailable, message: "A to-many relationship must have the type ToMany.")
    public final func _get<Member: ManagedObject>(_ index: Int) -> [Member] { unavailable() }

    @available(*, unavailable, message: "A to-many relationship must have the type ToMany.")
    public final func _get<Member: ManagedObject>(_ index: Int) -> Set<Member> { unavailable() }

    @available(
        *, unavailable,
        message: "An attribute's type must be Codable and Sendable; for others use '.transformable(by:)' or @Transient."
    )
    @_disfavoredOverload
    public final func _get<Value>(_ index: Int) -> Value { unavailable() }

    @available(*, unavailable, message: "No property has this type.")
    @_disfavoredOverload
    public final func _set<Value>(_ index: Int, _ value: Value) { unavailable() }
}

extension EntityBuilder {
    @available(*, unavailable, message: "No property has this type.")
    @_disfavoredOverload
    public mutating func property<Value>(_ path: KeyPath<Leaf, Value>, _ name: String) { unavailable() }
}

/// Never reached: unavailable functions cannot be called.
private func unavailable() -> Never { preconditionFailure("This is never called.") }
