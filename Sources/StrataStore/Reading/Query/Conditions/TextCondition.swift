import StrataModel

/// `SELF matchesText: "…"`, and the same of an attribute in a full text.
final class TextCondition: RowCondition {
    let query: FullTextQuery
    let text: PreparedText
    /// The numbers of the attributes of each phrase; nil for all.
    let columns: [[Int]?]

    var cost: ConditionCost { .value }

    /// - Parameter only: the attribute to which the query is limited.
    /// - Throws: `unknownKey` for an attribute that is not in the full text.
    init(_ query: FullTextQuery, _ text: PreparedText, only: String?) throws(StrataError) {
        self.query = query
        self.text = text
        columns = try text.columns(of: query, only: only)
    }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool {
        if let known = evaluation.knownTextResult(self) { return known.contains(id) }
        guard let scan = try evaluation.textScan(self) else { return try evaluation.textResult(self).contains(id) }
        scan.reset()
        try text.forEachColumn(row) { column, bytes in
            try evaluation.spend(1 + bytes.count >> 4)
            scan.add(bytes, column: column)
        }
        return query.verdict(scan.occurrences, columns: columns).holds
    }
}

extension ComparisonCompiler {
    /// Compiles a text query over the full text of the entity; nil for another comparison.
    func compiledText() throws(StrataError) -> CompiledCondition? {
        guard case .function(.matchesText, let arguments) = comparison.left, arguments.count == 2,
            case .constant(.string(let words)) = arguments[1], case .constant(.boolean(let wanted)) = comparison.right,
            comparison.operator == .equalTo || comparison.operator == .notEqualTo, comparison.modifier == .direct
        else { return nil }
        let text = try IndexMap.of(schema).texts.text(of: entity, schema)
        var only: String?
        switch arguments[0] {
        case .evaluatedObject:
            guard text != nil else {
                throw StrataError(
                    .invalidRequest,
                    "\(entity.name) has no full text. Declare one over its attributes, or name an attribute.",
                    context: .init(entityName: entity.name, predicate: comparison.description))
            }
        case .keyPath(let path):
            // Of other attributes every row is read.
            guard text?.names.contains(path) == true else { return nil }
            only = path
        default: return nil
        }
        guard let text else { return nil }
        do {
            let query = try FullTextQuery(words)
            if let only { try query.checkNames(in: only) }
            let condition = try TextCondition(query, text, only: only)
            let predicate = FetchPredicate.comparison(comparison)
            if wanted == (comparison.operator == .equalTo) {
                return CompiledCondition(condition, predicate, access: .text(condition))
            }
            return CompiledCondition(NotCondition(condition), predicate)
        } catch {
            var error = error
            error.context.entityName = entity.name
            error.context.predicate = comparison.description
            throw error
        }
    }
}

extension TextResult {
    func contains(_ id: ObjectID) -> Bool {
        let index = ids.partitionPoint { $0 < id }
        return index < ids.count && ids[index] == id
    }
}
