// Functions that exist for their messages: without them the compiler lists every overload that does not fit. Most are
// called by generated code, for a variable whose type no property can have.

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

extension AttributeOption {
    /// Explains which attributes have a range.
    @available(
        *, unavailable,
        message:
            "The range does not suit the attribute: numbers and dates have one of their own type, texts a '.length'."
    )
    @_disfavoredOverload
    public static func range<Bounds: RangeExpression>(_ bounds: Bounds) -> Self { unavailable() }

    /// Explains which attributes have a length.
    @available(*, unavailable, message: "Only strings and data have a length; '.range' limits numbers and dates.")
    @_disfavoredOverload
    public static func length<Bounds: RangeExpression>(_ bounds: Bounds) -> Self { unavailable() }

    /// Explains which attributes have a pattern.
    @available(*, unavailable, message: "Only a String has a pattern.")
    @_disfavoredOverload
    public static func pattern(_ expression: String) -> Self { unavailable() }

    /// Explains which attributes have an index that ignores case.
    @available(*, unavailable, message: "Only a String has an index that ignores case or diacritics.")
    @_disfavoredOverload
    public static func indexed(_ folding: StringFolding) -> Self { unavailable() }

    /// Explains which attributes can be outside the row.
    @available(*, unavailable, message: "Only Data can be stored in files of its own.")
    @_disfavoredOverload
    public static var externalStorage: Self { unavailable() }
}

extension AnyAttributeOption {
    /// Explains that a range has a last value.
    @available(*, unavailable, message: "The bounds of an attribute are included: write 0...9 in place of 0..<10.")
    @_disfavoredOverload
    public static func range<Bounds: RangeExpression>(_ bounds: Bounds) -> Self { unavailable() }

    /// Explains that a length has a last value.
    @available(*, unavailable, message: "The bounds of a length are included: write 1...9 in place of 1..<10.")
    @_disfavoredOverload
    public static func length<Bounds: RangeExpression>(_ bounds: Bounds) -> Self { unavailable() }
}

extension EntityBuilder {
    /// Explains that no property has the type.
    @available(*, unavailable, message: "No property has this type.")
    @_disfavoredOverload
    public mutating func property<Value>(_ path: KeyPath<Leaf, Value>, _ name: String) { unavailable() }

    /// Explains that no property has the type.
    @available(*, unavailable, message: "No property has this type.")
    @_disfavoredOverload
    public mutating func property<Value>(
        _ path: KeyPath<Leaf, Value>, _ name: String, default value: Value?, _ options: AttributeOption<Value>...
    ) { unavailable() }

    /// Explains that a to-one takes other options than an attribute.
    @available(*, unavailable, message: "A relationship has other options: write @Relationship in place of @Attribute.")
    public mutating func property<Target: ManagedObject>(
        _ path: KeyPath<Leaf, Target?>, _ name: String, _ option: AttributeOption<Target>,
        _ others: AttributeOption<Target>...
    ) { unavailable() }

    /// Explains which types a relationship can have.
    @available(
        *, unavailable,
        message: "A relationship leads to an @Entity class: its type is that class, optional, or a ToMany of it."
    )
    @_disfavoredOverload
    public mutating func relationship<Value>(
        _ path: KeyPath<Leaf, Value>, _ name: String, deleteRule: DeleteRule = .nullify,
        inverse: AnyKeyPath? = nil, _ options: RelationshipOption...
    ) { unavailable() }
}

extension ValueExpression where Value == String {
    /// Gives the name that it has here.
    @available(*, unavailable, renamed: "begins(with:)")
    public func hasPrefix(_ text: String) -> ValueExpression<Bool> { unavailable() }

    /// Gives the name that it has here.
    @available(*, unavailable, renamed: "begins(with:)")
    public func starts(with text: String) -> ValueExpression<Bool> { unavailable() }

    /// Gives the name that it has here.
    @available(*, unavailable, renamed: "ends(with:)")
    public func hasSuffix(_ text: String) -> ValueExpression<Bool> { unavailable() }
}

/// Never reached: unavailable functions cannot be called.
private func unavailable() -> Never { preconditionFailure("This is never called.") }
