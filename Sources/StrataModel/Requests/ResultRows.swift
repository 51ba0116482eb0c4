/// One column of a result of values.
///
/// ```swift
/// OutputColumn("year")
/// OutputColumn("films", .function(.count, [.evaluatedObject]))
/// ```
public struct OutputColumn: Sendable, Hashable, Codable {
    public var name: String
    /// A key path, any expression over the object, or one with aggregates such as `sum:(price)` and `count:(SELF)`,
    /// which are taken over the objects of a group.
    public var expression: FetchExpression

    public init(_ name: String, _ expression: FetchExpression) {
        self.name = name
        self.expression = expression
    }

    /// A property, by its key path.
    public init(_ keyPath: String) { self.init(keyPath, .keyPath(keyPath)) }
}

/// Rows of values, with a name for each column.
public struct ResultRows: Sendable, Hashable {
    public let names: [String]
    /// Row by row, as many in each as there are names.
    public private(set) var values: [AttributeValue] = []

    package init(names: [String]) { self.names = names }

    /// The values of the row with this number, in the order of the names.
    public subscript(row: Int) -> ArraySlice<AttributeValue> {
        values[row * names.count..<(row + 1) * names.count]
    }

    /// Each row as a dictionary.
    public var dictionaries: [[String: AttributeValue]] {
        indices.map { row in Dictionary(zip(names, self[row]), uniquingKeysWith: { first, _ in first }) }
    }

    package mutating func append(_ row: some Sequence<AttributeValue>) { values.append(contentsOf: row) }
}

extension ResultRows: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { names.isEmpty ? 0 : values.count / names.count }
}
