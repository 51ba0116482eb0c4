// The result of a request for values: columns and rows.

/// One column in the result of a request for values: a name and an expression.
///
/// ```swift
/// OutputColumn("year")
/// OutputColumn("films", .function(.count, [.evaluatedObject]))
/// ```
public struct OutputColumn: Sendable, Hashable, Codable {
    /// The column's name.
    public var name: String
    /// A key path, any expression of the object, or one with aggregates such as `sum:(price)` and `count:(SELF)` over
    /// the objects of a group.
    public var expression: FetchExpression

    /// A column with a name and an expression.
    public init(_ name: String, _ expression: FetchExpression) {
        self.name = name
        self.expression = expression
    }

    /// A column with the value of a key path, named after it.
    public init(_ keyPath: String) { self.init(keyPath, .keyPath(keyPath)) }
}

/// The result of a request for values: a collection of rows, with a name for each column.
public struct ResultRows: Sendable, Hashable {
    /// The names of the columns.
    public let names: [String]
    /// The values of all rows, one row after the other.
    public private(set) var values: [AttributeValue] = []

    package init(names: [String]) { self.names = names }

    /// The values of a row, in the order of the names.
    public subscript(row: Int) -> ArraySlice<AttributeValue> {
        values[row * names.count..<(row + 1) * names.count]
    }

    /// Each row as a dictionary by column name.
    public var dictionaries: [[String: AttributeValue]] {
        indices.map { row in Dictionary(zip(names, self[row]), uniquingKeysWith: { first, _ in first }) }
    }

    package mutating func append(_ row: some Sequence<AttributeValue>) { values.append(contentsOf: row) }
}

extension ResultRows: RandomAccessCollection {
    /// The index of the first row, 0.
    public var startIndex: Int { 0 }
    /// The number of rows.
    public var endIndex: Int { names.isEmpty ? 0 : values.count / names.count }
}

extension OutputColumn: CustomStringConvertible {
    /// The expression, and the name after `AS` if it is another.
    public var description: String {
        let written = "\(expression)"
        return written == name ? written : "\(written) AS \(name)"
    }
}

extension ResultRows: CustomStringConvertible {
    /// A line for each row: `title: "Alien", year: 1979`.
    public var description: String {
        map { row in zip(names, row).map { "\($0): \($1)" }.joined(separator: ", ") }.joined(separator: "\n")
    }
}
