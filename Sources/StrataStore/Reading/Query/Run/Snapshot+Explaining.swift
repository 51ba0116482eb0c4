package import StrataModel

// Explains how a request runs.

extension Snapshot {
    /// Runs a request and explains how: each step of its plan, with the number of ids that it yielded.
    ///
    /// - Throws: what `fetch` throws.
    package func explain(_ request: StoreRequest) throws -> QueryExplanation {
        try explain(shapes?.compiled(request, schema) ?? CompiledQuery(request, schema))
    }

    package func explain(_ query: CompiledQuery) throws -> QueryExplanation {
        let plan = try query.plan(for: .objects, self, wantsEstimates: true)
        let trace = QueryTrace()
        let start = ContinuousClock.now
        let rows = try metered(query.entity, nil) { try QueryRun(query, plan, self, trace).fetch().count }
        let time = (ContinuousClock.now - start).nanoseconds
        var detail = "objects of \(query.entity.name)"
        if let limit = query.limit { detail += ", limit \(limit)" }
        if query.offset > 0 { detail += ", offset \(query.offset)" }
        var input = plan.root.explained(trace, schema)
        let needed = query.needed.map(Double.init) ?? .infinity
        if plan.order == .sort {
            let columns = query.order.map { $0.text + ($0.isAscending ? "" : " descending") }
            input = QueryExplanation.Step(
                .sort,
                "sort by \(columns.joined(separator: ", "))" + (query.needed.map { ", best \($0)" } ?? ""),
                estimatedRows: min(plan.root.rows, needed), rows: min(trace[plan.root].rows, query.needed ?? .max),
                nanoseconds: time, inputs: [input])
        }
        if plan.order == .relevance {
            input = QueryExplanation.Step(
                .sort, "sort by relevance" + (query.needed.map { ", best \($0)" } ?? ""),
                estimatedRows: min(plan.root.rows, needed), rows: min(trace[plan.root].rows, query.needed ?? .max),
                nanoseconds: time, inputs: [input])
        }
        return QueryExplanation(
            result: QueryExplanation.Step(
                .result, detail, estimatedRows: max(0, min(plan.root.rows, needed) - Double(query.offset)), rows: rows,
                nanoseconds: time, inputs: [input]))
    }
}

extension Duration {
    var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}

extension PlanStep {
    fileprivate func explained(_ trace: QueryTrace, _ schema: Schema) -> QueryExplanation.Step {
        let entry = trace[self]
        let (operation, detail, index) = words(schema)
        return QueryExplanation.Step(
            operation, detail, index: index, estimatedRows: rows, rows: entry.rows,
            nanoseconds: entry.duration.nanoseconds, note: entry.note,
            inputs: inputs.map { $0.explained(trace, schema) })
    }

    private func words(_ schema: Schema) -> (QueryExplanation.Step.Operation, String, index: String?) {
        let names = entities.schemas.map(\.name).joined(separator: ", ")
        switch kind {
        case .nothing: return (.nothing, "nothing", nil)
        case .scan: return (.scan, "scan of all rows of \(names)", nil)
        case .objects(let ids): return (.objects, "\(CountText.of(ids.count, "object")) by id", nil)
        case .index(let access):
            let count = access.ranges.count
            let name = access.index.name
            let way = access.isDescending ? ", backwards" : ""
            return (.index, "index \(name), \(count) \(count == 1 ? "range" : "ranges")\(way)", name)
        case .links(let access):
            switch access.way {
            case .links: return (.links, "objects linked through \(access.name)", nil)
            case .reference: return (.links, "owners of \(access.name)", nil)
            }
        case .text(let condition):
            return (.text, "text of \(condition.text.entityName) matching \(condition.query.text)", nil)
        case .intersection: return (.intersection, "in all of", nil)
        case .union: return (.union, "in any of", nil)
        case .filter(_, let filter):
            let conditions = filter.conditions.map { condition in
                switch condition.predicate {
                case .and, .or: "(\(condition.predicate.text(naming: schema)))"
                default: condition.predicate.text(naming: schema)
                }
            }
            return (.filter, conditions.isEmpty ? "read rows" : "filter \(conditions.joined(separator: " AND "))", nil)
        }
    }
}

extension FetchPredicate {
    /// The predicate with `Movie/p3` where the format language writes an object id as text to be cast.
    fileprivate func text(naming schema: Schema) -> String {
        var text = description
        forEachExpression { expression in
            guard case .constant(.objectID(let id)) = expression else { return }
            text = text.replacing(AttributeValue.objectID(id).formatLiteral, with: schema.name(of: id))
        }
        return text
    }
}
