import StrataModel

// Descriptions of batch requests, as `print` shows them.

extension BatchUpdateRequest: CustomStringConvertible {
    /// The entity, the condition and the new values.
    public var description: String {
        let values = propertiesToUpdate.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)" }
        return RequestText.written("update \(entityName)", predicate, ("setting", values.joined(separator: ", ")))
    }
}

extension BatchDeleteRequest: CustomStringConvertible {
    /// The entity and the condition, or the number of ids.
    public var description: String {
        objectIDs.map { "delete \($0.count) of \(entityName)" }
            ?? RequestText.written("delete \(entityName)", predicate)
    }
}

extension BatchInsertRequest: CustomStringConvertible {
    /// The entity and the number of rows, if it is known.
    public var description: String {
        guard case .rows(let rows) = source else { return "insert rows of \(entityName)" }
        return "insert \(CountText.of(rows.count, "row")) of \(entityName)"
    }
}

extension BatchResult: CustomStringConvertible {
    /// The numbers of objects and transactions, and of rows that clashed.
    public var description: String {
        var text = CountText.of(count, "object")
        if mergedCount > 0 { text += ", \(CountText.of(mergedCount, "row")) merged" }
        if keptCount > 0 { text += ", \(CountText.of(keptCount, "row")) dropped" }
        return "\(text) in \(CountText.of(transactionCount, "transaction"))"
    }
}

extension BatchRow: CustomStringConvertible {
    /// The values by name, and the number of members of to-manys.
    public var description: String {
        let values = values.map { "\($0.key): \($0.value)" }.sorted()
        let members = members.sorted { $0.key < $1.key }.map { "\($0.key): \(CountText.of($0.value.count, "member"))" }
        return (values + members).joined(separator: ", ")
    }
}
