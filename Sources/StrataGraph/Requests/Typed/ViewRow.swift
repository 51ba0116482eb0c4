import Foundation
public import StrataModel

/// A row of a declared view as a value. `@View` makes a struct one.
///
/// ```swift
/// @View struct FilmsByYear {
///     static let source = ViewSource(Film.self).ordered(by: "films", ascending: false)
///     @Key(\Film.year) var year: Int
///     @Count var films: Int
/// }
///
/// for row in try context.rows(of: FilmsByYear.self).where({ $0.films > 10 }).prefix(20) {
///     print(row.year, row.films)
/// }
/// ```
public protocol ViewRow: Sendable {
    /// The view, to be declared when a container is made.
    static var view: ViewDescription { get }
    /// Makes the value of the columns of a row.
    init(_columns: ViewColumns) throws
    /// The column of a property; nil for one that is no column.
    static func _columnName(_ path: PartialKeyPath<Self>) -> String?
}

/// The columns of a row of a view, to be read as Swift values.
public struct ViewColumns {
    let viewName: String
    let names: [String]
    let values: ArraySlice<AttributeValue>

    /// The value of a column.
    ///
    /// - Throws: `unknownKey` for a column that the view does not have; `wrongType` for nil or a value of another type.
    public func value<Value: StorableValue>(_ column: String) throws -> Value {
        try present(try value(column), column)
    }

    /// The value of a column that may be nil.
    ///
    /// - Throws: `unknownKey` for a column that the view does not have; `wrongType` for a value of another type.
    public func value<Value: StorableValue>(_ column: String) throws -> Value? {
        let value = try found(column)
        return value.isNull ? nil : try fitting(value, column)
    }

    /// The value of a column with a raw value.
    ///
    /// - Throws: as for other values.
    public func value<Value: RawRepresentable>(_ column: String) throws -> Value where Value.RawValue: StorableValue {
        try present(try value(column), column)
    }

    /// The value of a column with a raw value that may be nil.
    ///
    /// - Throws: as for other values.
    public func value<Value: RawRepresentable>(_ column: String) throws -> Value?
    where Value.RawValue: StorableValue {
        guard let raw: Value.RawValue = try value(column) else { return nil }
        guard let value = Value(rawValue: raw) else { throw misfit(raw.attributeValue, "\(Value.self)", column) }
        return value
    }

    /// The values of a column that lists objects: the largest first.
    ///
    /// - Throws: as for other values.
    public func value<Value: StorableValue>(_ column: String) throws -> [Value] {
        let value = try found(column)
        if value.isNull { return [] }
        guard case .composite(let elements) = value else { throw misfit(value, "[\(Value.self)]", column) }
        return try (1...elements.count + 1).compactMap { elements["\($0)"] }.map { try fitting($0, column) }
    }

    func found(_ column: String) throws -> AttributeValue {
        guard let index = names.firstIndex(of: column) else {
            throw StrataError(
                .unknownKey,
                "The view \(viewName) has no column \(column)\(NearestName.ending(for: column, among: names))",
                context: .init(key: column))
        }
        return values[values.startIndex + index]
    }

    private func fitting<Value: StorableValue>(_ value: AttributeValue, _ column: String) throws -> Value {
        // A sum without objects is a whole number.
        for candidate in [value] + value.wholeAsOthers {
            if let value = Value(attributeValue: candidate) { return value }
        }
        throw misfit(value, "\(Value.self)", column)
    }

    private func present<Value>(_ value: Value?, _ column: String) throws -> Value {
        if let value { return value }
        throw StrataError(
            .wrongType,
            "The column \(column) of the view \(viewName) is nil here; its property must have the type \(Value.self)?.",
            context: .init(key: column))
    }

    private func misfit(_ value: AttributeValue, _ type: String, _ column: String) -> StrataError {
        StrataError(
            .wrongType, "The column \(column) of the view \(viewName) has \(value), which is no \(type).",
            context: .init(key: column))
    }
}

extension AttributeValue {
    fileprivate var wholeAsOthers: [AttributeValue] {
        guard case .integer(let number) = self else { return [] }
        return [.double(Double(number)), .decimal(.init(number))]
    }
}
