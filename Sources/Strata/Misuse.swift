// What generated code calls for a variable whose type no property can have. These functions exist for their messages:
// without them the compiler lists every overload that does not fit.

extension ManagedObject {
    /// Explains that a to-one must be optional.
    @available(*, unavailable, message: "A to-one relationship must be optional; '.required' makes a save refuse nil.")
    public final func _get<Target: ManagedObject>(_ index: Int) -> Target { unavailable() }

    /// Explains that a to-many is no array.
    @available(*, unavailable, message: "A to-many relationship must have the type ToMany.")
    public final func _get<Member: ManagedObject>(_ index: Int) -> [Member] { unavailable() }

    /// Explains that a to-many is no set.
    @available(*, unavailable, message: "A to-many relationship must have the type ToMany.")
    public final func _get<Member: ManagedObject>(_ index: Int) -> Set<Member> { unavailable() }

    /// Explains which types an attribute can have.
    @available(
        *, unavailable,
        message: "An attribute's type must be Codable and Sendable; for others use '.transformable(by:)' or @Transient."
    )
    @_disfavoredOverload
    public final func _get<Value>(_ index: Int) -> Value { unavailable() }

    /// Explains that no property has the type.
    @available(*, unavailable, message: "No property has this type.")
    @_disfavoredOverload
    public final func _set<Value>(_ index: Int, _ value: Value) { unavailable() }
}

extension EntityBuilder {
    /// Explains that no property has the type.
    @available(*, unavailable, message: "No property has this type.")
    @_disfavoredOverload
    public mutating func property<Value>(_ path: KeyPath<Leaf, Value>, _ name: String) { unavailable() }
}

/// Never reached: unavailable functions cannot be called.
private func unavailable() -> Never { preconditionFailure("This is never called.") }
