import StrataModel

/// The order of a request for rows, from its sort keys.
///
/// A key that is the name of a column means that column. Any other key is a key path, or an expression of the format
/// language such as `price * 1.2` or `average(rating)`.
struct RowOrdering {
    /// Whether the objects are sorted before they become rows, which an index may do.
    let isOfObjects: Bool
    /// The keys; empty if the order is of the objects.
    private(set) var keys: [CompiledRows.RowOrder] = []
    /// Columns that only the order needs.
    private(set) var hidden: [OutputColumn] = []

    /// - Throws: `invalidRequest` for a key that rows cannot be sorted by; `unknownKey` with the nearest name.
    init(
        _ request: RowsRequest, isGrouped: Bool, _ entity: EntitySchema, _ schema: Schema
    ) throws(StrataError) {
        let sorts = request.objects.sort
        isOfObjects =
            !isGrouped && !request.isDistinct
            && sorts.allSatisfy { sort in
                let column = request.columns.first { $0.name == sort.keyPath }
                return column.map { $0.expression == .keyPath(sort.keyPath) } ?? true
                    && Self.computed(sort.keyPath, entity, schema) == nil
            }
        if isOfObjects { return }
        for sort in sorts {
            let position = try position(of: sort.keyPath, request, isGrouped: isGrouped, entity, schema)
            keys.append(CompiledRows.RowOrder(column: position, sort: sort))
        }
    }

    private mutating func position(
        of key: String, _ request: RowsRequest, isGrouped: Bool, _ entity: EntitySchema, _ schema: Schema
    ) throws(StrataError) -> Int {
        let known =
            request.columns.firstIndex { $0.name == key }
            ?? request.columns.firstIndex { $0.expression == .keyPath(key) }
        if let known { return known }
        let expression = Self.computed(key, entity, schema) ?? .keyPath(key)
        let isSingle = isGrouped == (request.groupBy.contains(key) || expression.hasAggregates)
        // Equal rows may come from objects that differ in properties without columns.
        guard isSingle, !request.isDistinct else {
            throw StrataError(
                .invalidRequest,
                "\(key)\(NearestName.aside(for: key, among: request.columns.map(\.name))) is "
                    + "\(isGrouped ? "no column, group key or aggregate" : "no column") of the rows, so they cannot "
                    + "be sorted by it.", context: .init(entityName: entity.name, key: key))
        }
        hidden.append(OutputColumn(key, expression))
        return request.columns.count + hidden.count - 1
    }

    /// The expression that a key is if it is no key path that objects can be sorted by; nil for a key path.
    private static func computed(_ key: String, _ entity: EntitySchema, _ schema: Schema) -> FetchExpression? {
        if key == SortDescription.relevance.keyPath || (try? ResolvedPath.of(key, in: entity, schema)) != nil {
            return nil
        }
        guard let expression = try? FetchExpression(format: key) else { return nil }
        // A collection operator makes one value of many, which rows can be sorted by.
        if case .keyPath(let path) = expression, !path.contains("@"),
            !PredicateCheck.isLengthOfText(path, in: entity, schema)
        {
            return nil
        }
        return expression
    }
}
