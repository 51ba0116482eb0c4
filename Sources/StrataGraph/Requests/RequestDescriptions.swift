import StrataModel

// Descriptions of requests, as `print` shows them.

/// Writes the settings of a request that are not the defaults.
enum RequestText {
    /// The subject, the condition, and clauses that are not empty.
    static func written(
        _ subject: String, _ predicate: FetchPredicate?, _ clauses: (name: String, text: String)...
    ) -> String {
        var text = subject
        if let predicate { text += " where \(predicate)" }
        for (name, clause) in clauses where !clause.isEmpty { text += ", \(name) \(clause)" }
        return text
    }

    static func order(_ sorts: [SortDescription]) -> (name: String, text: String) {
        ("sorted by", sorts.map(\.description).joined(separator: ", "))
    }

    /// A number that is left out if it is 0.
    static func number(_ name: String, _ number: Int) -> (name: String, text: String) {
        (name, number == 0 ? "" : "\(number)")
    }
}

extension FetchRequest: CustomStringConvertible {
    /// The entity, the condition, the order, limit and offset: `Movie where rating > 4.0, sorted by title, limit 10`.
    public var description: String {
        RequestText.written(
            entityName, predicate, RequestText.order(sortDescriptors), RequestText.number("limit", fetchLimit),
            RequestText.number("offset", fetchOffset))
    }
}

extension RowsFetchRequest: CustomStringConvertible {
    /// The columns, the entity, the condition, the groups, the order, limit and offset.
    public var description: String {
        let columns = columns.map(\.description).joined(separator: ", ")
        return RequestText.written(
            "\(returnsDistinctResults ? "distinct " : "")\(columns) of \(entityName)", predicate,
            ("grouped by", groupBy.joined(separator: ", ")), ("having", having?.description ?? ""),
            RequestText.order(sortDescriptors), RequestText.number("limit", fetchLimit),
            RequestText.number("offset", fetchOffset))
    }
}
