public import Foundation

/// Makes a struct a row of a declared view: its variables with a marker are the columns.
///
/// ```swift
/// @View(version: 2) struct StudioSales {
///     static let source = ViewSource(Film.self).where { $0.isReleased }
///     @Key(\Film.studio) var studio: ObjectID?
///     @Count var films: Int
///     @Sum(\Film.gross) var gross: Decimal
///     @Max(\Film.rating) var best: Double?
/// }
/// ```
///
/// `source` says which objects are grouped, and which orders are kept. The view has the name of the struct. Its
/// description is `StudioSales.view`, which a container takes; `ViewRows(of: StudioSales.self)` requests rows.
/// - Parameter version: Another number makes the view anew.
@attached(extension, conformances: ViewRow, names: named(view), named(init), named(_columnName))
public macro View(version: Int = 1) = #externalMacro(module: "StrataMacros", type: "ViewMacro")

/// A column by which objects are grouped: an attribute or a to-one.
@attached(peer)
public macro Key(_ property: AnyKeyPath) = #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column by which objects are grouped: a part of a date, in a time zone.
@attached(peer)
public macro Key(_ part: CalendarPart, of date: AnyKeyPath, in zone: TimeZone = .gmt) =
    #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column by which objects are grouped: buckets of a number.
@attached(peer)
public macro Key(bucketsOf width: Double, of number: AnyKeyPath) =
    #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column with the number of objects in a group.
@attached(peer)
public macro Count() = #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column with the number of objects in a group that have a value.
@attached(peer)
public macro Count(_ property: AnyKeyPath) = #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column with the number of different values in a group.
@attached(peer)
public macro CountDistinct(_ property: AnyKeyPath) = #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column with an exact sum.
@attached(peer)
public macro Sum(_ property: AnyKeyPath) = #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column with an average.
@attached(peer)
public macro Average(_ property: AnyKeyPath) = #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column with the smallest number or date.
@attached(peer)
public macro Min(_ property: AnyKeyPath) = #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column with the largest number or date.
@attached(peer)
public macro Max(_ property: AnyKeyPath) = #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column with the id of the first object by a number or date.
@attached(peer)
public macro First(by order: AnyKeyPath) = #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")

/// A column with the id of the last object by a number or date.
@attached(peer)
public macro Last(by order: AnyKeyPath) = #externalMacro(module: "StrataMacros", type: "ViewColumnMacro")
