package import StrataModel

/// A request for rows of a declared view, as the store runs it.
package struct ViewRequest: Sendable {
    package var viewName: String
    /// The condition that a row must meet; it uses columns by name.
    package var predicate: FetchPredicate?
    /// The order of the rows, by columns; without one, the order of the keys.
    package var sort: [SortDescription]
    /// The most rows; 0 for no limit.
    package var limit: Int
    package var offset: Int

    package init(
        _ viewName: String, where predicate: FetchPredicate? = nil, sortedBy sort: [SortDescription] = [],
        limit: Int = 0, offset: Int = 0
    ) {
        self.viewName = viewName
        self.predicate = predicate
        self.sort = sort
        self.limit = limit
        self.offset = offset
    }
}

/// Evaluates a condition on a row of a view: key paths are the names of columns.
struct ViewRowContext: ExpressionContext {
    let view: ViewDescription
    let values: [AttributeValue]

    func operand(atPath path: String) throws(StrataError) -> PredicateOperand? {
        let names = view.columnNames
        guard let index = names.firstIndex(of: path) else {
            throw StrataError(
                .unknownKey,
                "The view \(view.name) has no column \(path)\(NearestName.ending(for: path, among: names))",
                context: .init(entityName: view.entityName, key: path))
        }
        return .one(values[index])
    }

    func operand(of key: String, in object: ObjectID) throws(StrataError) -> PredicateOperand {
        throw StrataError(
            .invalidRequest, "\(key) is beyond a to-one; a condition on a view uses its columns only.",
            context: .init(entityName: view.entityName, key: key))
    }
}
