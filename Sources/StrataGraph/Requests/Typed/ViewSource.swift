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
    /// - Parameters:
    ///   - name: the name of the view; `@View` gives it that of its struct.
    ///   - version: another number rebuilds the view.
    public init(_ objectClass: Object.Type = Object.self, named name: String = "", version: Int = 1) {
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

    /// Keeps the rows behind the commits instead of in them, so that a save does nothing for the view.
    public func catchingUp() -> ViewSource { with { $0.upkeep = .catchingUp } }

    // MARK: Keys

    /// Groups objects by an attribute, or by `\.objectID`: then each object has a row of its own.
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

    /// Groups objects by the members of a to-many: an object is in the group of each of its members, and in that of nil if
    /// it has none. So the view has a row for each object that has members at the other end.
    public func grouped<Target: ManagedObject>(
        by property: KeyPath<Object, ToMany<Target>>, as name: String? = nil
    ) -> ViewSource {
        key(property, name)
    }

    private func key(_ property: PartialKeyPath<Object>, _ name: String?) -> ViewSource {
        let isObject = property == \Object.objectID
        let path = isObject ? ViewKey.object : PropertyName.ofAny(property)
        return with(key: ViewKey(name ?? path, keyPath: path))
    }

    // MARK: Orders

    /// Keeps the rows in an order of a column too, so that the first rows in it are found at once.
    ///
    /// - Parameter column: a number, date, boolean, UUID or to-one by its name.
    public func ordered(by column: String, ascending: Bool = true) -> ViewSource {
        ordered(by: [SortDescription(column, isAscending: ascending)])
    }

    /// Keeps the rows in an order of several columns too.
    public func ordered(by columns: [SortDescription]) -> ViewSource {
        with { $0.orders.append(ViewOrder(columns)) }
    }

    /// Keeps the rows in an order of a column too, and counts them, so that the rank of a row is found in O(log n).
    ///
    /// - Parameter column: a number, date, boolean, UUID or to-one by its name.
    public func ranked(by column: String, ascending: Bool = true) -> ViewSource {
        ranked(by: [SortDescription(column, isAscending: ascending)])
    }

    /// Keeps the rows in an order of several columns too, and counts them. Rows are ranked among all, or among those that
    /// have the same values in the first columns.
    public func ranked(by columns: [SortDescription]) -> ViewSource {
        with { $0.orders.append(ViewOrder(columns, isRanked: true)) }
    }

    // MARK: Columns

    func with(key: ViewKey) -> ViewSource { with { $0.keys.append(key) } }
    func with(aggregate: ViewAggregate) -> ViewSource { with { $0.aggregates.append(aggregate) } }
}
