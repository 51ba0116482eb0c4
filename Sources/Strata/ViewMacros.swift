// The macros of declared views: `@View` and the markers of its columns.

public import Foundation
public import StrataGraph
public import StrataModel

/// Makes a struct a row of a declared view: its variables with a marker are the columns.
///
/// ```swift
/// @View(version: 2) struct FilmsByYear {
///     static let source = ViewSource(Film.self).where { $0.year > 1900 }.ordered(by: "films", ascending: false)
///     @Key(\Film.year) var year: Int
///     @Count var films: Int
///     @CountDistinct(\Film.title) var titles: Int
/// }
/// ```
///
/// `source` says which objects are grouped, and which orders are kept. The view has the name of the struct. Its
/// description is `FilmsByYear.view`, which a container takes; `context.rows(of: FilmsByYear.self)` requests rows.
/// - Parameter version: Another number rebuilds the view.
@attached(member, names: named(view))
@attached(extension, conformances: ViewRow, names: named(init), named(_columnName))
public macro View(version: Int = 1) = #externalMacro(module: "StrataMacros", type: "ViewMacro")

// MARK: Keys

/// A column by which objects are grouped: an attribute or a to-one, also behind to-ones. That of a to-one is an
/// `ObjectID?`.
@attached(peer)
public macro Key<Root: ManagedObject, Value>(_ property: KeyPath<Root, Value>) =
    #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column by which objects are grouped: a part of a date, in a time zone.
@attached(peer)
public macro Key<Root: ManagedObject>(
    _ part: CalendarPart, of date: KeyPath<Root, Date>, in zone: TimeZone = .gmt
) = #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column by which objects are grouped: a part of an optional date, in a time zone.
@attached(peer)
public macro Key<Root: ManagedObject>(
    _ part: CalendarPart, of date: KeyPath<Root, Date?>, in zone: TimeZone = .gmt
) = #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column by which objects are grouped: buckets of a number.
@attached(peer)
public macro Key<Root: ManagedObject, Value: Numeric & StorableValue>(
    bucketsOf width: Double, of number: KeyPath<Root, Value>
) = #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column by which objects are grouped: buckets of an optional number.
@attached(peer)
public macro Key<Root: ManagedObject, Value: Numeric & StorableValue>(
    bucketsOf width: Double, of number: KeyPath<Root, Value?>
) = #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

// MARK: Counts

/// A column with the number of objects in a group.
@attached(peer)
public macro Count() = #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column with the number of objects in a group that have a value.
@attached(peer)
public macro Count<Root: ManagedObject, Value: StorableValue>(_ property: KeyPath<Root, Value?>) =
    #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column with the number of different values in a group.
@attached(peer)
public macro CountDistinct<Root: ManagedObject, Value: StorableValue>(_ property: KeyPath<Root, Value>) =
    #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column with the number of different values in a group.
@attached(peer)
public macro CountDistinct<Root: ManagedObject, Value: StorableValue>(_ property: KeyPath<Root, Value?>) =
    #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

// MARK: Numbers

/// A column with the exact sum of a number.
@attached(peer)
public macro Sum<Root: ManagedObject, Value: Numeric & StorableValue>(_ property: KeyPath<Root, Value>) =
    #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column with the exact sum of an optional number.
@attached(peer)
public macro Sum<Root: ManagedObject, Value: Numeric & StorableValue>(_ property: KeyPath<Root, Value?>) =
    #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column with the average of a number.
@attached(peer)
public macro Average<Root: ManagedObject, Value: Numeric & StorableValue>(_ property: KeyPath<Root, Value>) =
    #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column with the average of an optional number.
@attached(peer)
public macro Average<Root: ManagedObject, Value: Numeric & StorableValue>(_ property: KeyPath<Root, Value?>) =
    #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column with the smallest number or date.
@attached(peer)
public macro Min<Root: ManagedObject, Value: Comparable & StorableValue>(_ property: KeyPath<Root, Value>) =
    #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column with the smallest number or date among the objects that have one.
@attached(peer)
public macro Min<Root: ManagedObject, Value: Comparable & StorableValue>(_ property: KeyPath<Root, Value?>) =
    #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column with the largest number or date.
@attached(peer)
public macro Max<Root: ManagedObject, Value: Comparable & StorableValue>(_ property: KeyPath<Root, Value>) =
    #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column with the largest number or date among the objects that have one.
@attached(peer)
public macro Max<Root: ManagedObject, Value: Comparable & StorableValue>(_ property: KeyPath<Root, Value?>) =
    #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

// MARK: Objects

/// A column with the id of the first object by a number or date.
@attached(peer)
public macro First<Root: ManagedObject, Value: Comparable & StorableValue>(by order: KeyPath<Root, Value>) =
    #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column with the id of the first object by a number or date, among those that have one.
@attached(peer)
public macro First<Root: ManagedObject, Value: Comparable & StorableValue>(by order: KeyPath<Root, Value?>) =
    #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column with the id of the last object by a number or date.
@attached(peer)
public macro Last<Root: ManagedObject, Value: Comparable & StorableValue>(by order: KeyPath<Root, Value>) =
    #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column with the id of the last object by a number or date, among those that have one.
@attached(peer)
public macro Last<Root: ManagedObject, Value: Comparable & StorableValue>(by order: KeyPath<Root, Value?>) =
    #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column with the ids of the objects with the largest numbers or dates, the largest first: an `[ObjectID]`.
@attached(peer)
public macro Top<Root: ManagedObject, Value: Comparable & StorableValue>(
    _ count: Int, by order: KeyPath<Root, Value>
) = #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column with the ids of the objects with the largest numbers or dates among those that have one.
@attached(peer)
public macro Top<Root: ManagedObject, Value: Comparable & StorableValue>(
    _ count: Int, by order: KeyPath<Root, Value?>
) = #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

// MARK: Projections

/// A column that a type of the app makes of the objects in a group: the type is that of the variable.
@attached(peer)
public macro Projected<Projection: ViewProjection>(_ type: Projection.Type) =
    #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")
