import StrataModel

extension ViewSource {
    /// Counts the objects of a group.
    public func counting(as name: String) -> ViewSource { with(aggregate: ViewAggregate(name, .count)) }

    /// Counts the objects of a group that have a value.
    public func counting<Value: StorableValue>(
        _ property: KeyPath<Object, Value?>, as name: String
    ) -> ViewSource {
        aggregate(.count, property, name)
    }

    /// Counts the different values in a group.
    public func countingDistinct<Value: StorableValue>(
        _ property: KeyPath<Object, Value>, as name: String
    ) -> ViewSource {
        aggregate(.countDistinct, property, name)
    }

    /// Counts the different values in a group.
    public func countingDistinct<Value: StorableValue>(
        _ property: KeyPath<Object, Value?>, as name: String
    ) -> ViewSource {
        aggregate(.countDistinct, property, name)
    }

    /// Sums a number, exactly.
    public func summing<Value: Numeric & StorableValue>(
        _ property: KeyPath<Object, Value>, as name: String
    ) -> ViewSource {
        aggregate(.sum, property, name)
    }

    /// Sums an optional number, exactly.
    public func summing<Value: Numeric & StorableValue>(
        _ property: KeyPath<Object, Value?>, as name: String
    ) -> ViewSource {
        aggregate(.sum, property, name)
    }

    /// Averages a number.
    public func averaging<Value: Numeric & StorableValue>(
        _ property: KeyPath<Object, Value>, as name: String
    ) -> ViewSource {
        aggregate(.average, property, name)
    }

    /// Averages an optional number over the objects that have one.
    public func averaging<Value: Numeric & StorableValue>(
        _ property: KeyPath<Object, Value?>, as name: String
    ) -> ViewSource {
        aggregate(.average, property, name)
    }

    /// Finds the smallest number or date.
    public func minimum<Value: Comparable & StorableValue>(
        _ property: KeyPath<Object, Value>, as name: String
    ) -> ViewSource {
        aggregate(.min, property, name)
    }

    /// Finds the smallest number or date among the objects that have one.
    public func minimum<Value: Comparable & StorableValue>(
        _ property: KeyPath<Object, Value?>, as name: String
    ) -> ViewSource {
        aggregate(.min, property, name)
    }

    /// Finds the largest number or date.
    public func maximum<Value: Comparable & StorableValue>(
        _ property: KeyPath<Object, Value>, as name: String
    ) -> ViewSource {
        aggregate(.max, property, name)
    }

    /// Finds the largest number or date among the objects that have one.
    public func maximum<Value: Comparable & StorableValue>(
        _ property: KeyPath<Object, Value?>, as name: String
    ) -> ViewSource {
        aggregate(.max, property, name)
    }

    // MARK: First and last

    /// Finds the first object by a number or date.
    public func first<Value: Comparable & StorableValue>(
        by order: KeyPath<Object, Value>, as name: String
    ) -> ViewSource {
        ordered(.first, order, name)
    }

    /// Finds the first object by a number or date among those that have one.
    public func first<Value: Comparable & StorableValue>(
        by order: KeyPath<Object, Value?>, as name: String
    ) -> ViewSource {
        ordered(.first, order, name)
    }

    /// Finds the last object by a number or date.
    public func last<Value: Comparable & StorableValue>(
        by order: KeyPath<Object, Value>, as name: String
    ) -> ViewSource {
        ordered(.last, order, name)
    }

    /// Finds the last object by a number or date among those that have one.
    public func last<Value: Comparable & StorableValue>(
        by order: KeyPath<Object, Value?>, as name: String
    ) -> ViewSource {
        ordered(.last, order, name)
    }

    /// Finds the objects with the largest numbers or dates, the largest first: a composite of the elements "1", "2" and
    /// so on.
    public func top<Value: Comparable & StorableValue>(
        _ count: Int, by order: KeyPath<Object, Value>, as name: String
    ) -> ViewSource {
        ordered(.last, order, name, count)
    }

    /// Finds the objects with the largest numbers or dates among those that have one, the largest first.
    public func top<Value: Comparable & StorableValue>(
        _ count: Int, by order: KeyPath<Object, Value?>, as name: String
    ) -> ViewSource {
        ordered(.last, order, name, count)
    }

    private func ordered(
        _ function: ViewFunction, _ order: PartialKeyPath<Object>, _ name: String, _ count: Int? = nil
    ) -> ViewSource {
        with(aggregate: ViewAggregate(name, function, by: PropertyName.ofAny(order), limit: count))
    }

    private func aggregate(_ function: ViewFunction, _ property: PartialKeyPath<Object>, _ name: String) -> ViewSource {
        let path = PropertyName.ofAny(property)
        return with(aggregate: ViewAggregate(name, function, path))
    }
}
