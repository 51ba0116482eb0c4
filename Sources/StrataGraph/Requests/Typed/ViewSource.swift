public import StrataModel

/// Declares a view of the objects of a class, with key paths that the compiler checks.
///
/// ```swift
/// let ratings = ViewSource(Movie.self, named: "RatingsByOwner")
///     .where { $0.rating > 0 }
///     .grouped(by: \.owner)
///     .counting(as: "movies")
///     .averaging(\.rating, as: "mean")
///     .maximum(\.rating, as: "best")
/// let container = try PersistentContainer(
///     name: "Movies", entities: [Movie.self, Person.self, FamilyMember.self], views: [ratings.description])
/// ```
///
/// Each method returns the view with one column or condition more. `description` is what a model takes.
public struct ViewSource<Object: ManagedObject>: Sendable {
    /// The view so far. A model checks it.
    public private(set) var description: ViewDescription

    /// A view of a class and its subclasses, without columns.
    ///
    /// - Parameter version: another number makes the view anew.
    public init(_ objectClass: Object.Type = Object.self, named name: String, version: Int = 1) {
        description = ViewDescription(name: name, version: version, entityName: Object.entityName, aggregates: [])
    }

    private func with(_ change: (inout ViewDescription) -> Void) -> ViewSource {
        var copy = self
        change(&copy.description)
        return copy
    }

    // MARK: Objects

    /// Groups only objects that meet a condition on their own attributes and to-ones.
    public func `where`(_ condition: (ObjectExpression<Object>) -> ValueExpression<Bool>) -> ViewSource {
        let condition = FetchPredicate(for: Object.self, condition)
        return with { $0.predicate = $0.predicate.map { $0 && condition } ?? condition }
    }

    /// Leaves out objects of subclasses.
    public func withoutSubentities() -> ViewSource { with { $0.includesSubentities = false } }

    // MARK: Keys

    /// Groups objects by an attribute.
    public func grouped<Value: StorableValue>(
        by property: KeyPath<Object, Value>, as name: String? = nil
    ) -> ViewSource {
        key(property, name)
    }

    /// Groups objects by an optional attribute.
    public func grouped<Value: StorableValue>(
        by property: KeyPath<Object, Value?>, as name: String? = nil
    ) -> ViewSource {
        key(property, name)
    }

    /// Groups objects by an attribute with a raw value.
    public func grouped<Value: RawRepresentable>(
        by property: KeyPath<Object, Value>, as name: String? = nil
    ) -> ViewSource where Value.RawValue: StorableValue {
        key(property, name)
    }

    /// Groups objects by a to-one.
    public func grouped<Target: ManagedObject>(
        by property: KeyPath<Object, Target?>, as name: String? = nil
    ) -> ViewSource {
        key(property, name)
    }

    private func key(_ property: PartialKeyPath<Object>, _ name: String?) -> ViewSource {
        let path = PropertyName.ofAny(property)
        return with { $0.keys.append(ViewKey(name ?? path, keyPath: path)) }
    }

    // MARK: Aggregates

    /// Counts the objects of a group.
    public func counting(as name: String) -> ViewSource { with { $0.aggregates.append(ViewAggregate(name, .count)) } }

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

    private func aggregate(_ function: ViewFunction, _ property: PartialKeyPath<Object>, _ name: String) -> ViewSource {
        let path = PropertyName.ofAny(property)
        return with { $0.aggregates.append(ViewAggregate(name, function, path)) }
    }
}
