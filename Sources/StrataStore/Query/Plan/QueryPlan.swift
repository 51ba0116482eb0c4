import StrataModel

/// How a query is run: where candidates come from, what is still asked of each, and how they are put in order.
///
/// It depends on the request and the model alone; numbers of rows play a part only when it runs.
struct QueryPlan: Sendable {
    /// Where candidates come from.
    enum Source: Sendable {
        /// A condition that no object meets.
        case nothing
        /// Objects that the predicate names, sorted.
        case objects([ObjectID])
        /// The links of a relationship that lead to these owners.
        case members(link: PropertyID, owners: [ObjectID])
        case index(IndexAccess)
        /// Every row of the concrete entities.
        case entities
    }

    /// Where the order comes from.
    enum Order: Sendable, Hashable {
        /// No order was asked for: by id.
        case byID
        /// The index's own order.
        case index
        case sort
    }

    var source: Source
    /// What is asked of each candidate's row, by place among the query's conjuncts.
    var filter: [Int]
    var order: Order
    /// The part of all rows that the source is thought to give.
    var fraction: Double
}

/// Ranges of one index.
struct IndexAccess: Sendable {
    let index: IndexSchema
    /// In key order, without overlaps.
    let ranges: [KeyRange]
    let isDescending: Bool
}

extension CompiledQuery: CustomStringConvertible {
    /// The plan as a tree of steps, the last to run first.
    package var description: String {
        var lines = ["fetch \(entity.name)" + (entities.count == 1 ? "" : " and subentities, \(entities.count) in all")]
        if let limit { lines.append("limit \(limit)") }
        if offset > 0 { lines.append("offset \(offset)") }
        switch plan.order {
        case .byID: lines.append("order by id")
        case .index: lines.append("order of the index")
        case .sort:
            let columns = order.map { $0.text + ($0.isAscending ? "" : " descending") }
            lines.append("sort by \(columns.joined(separator: ", "))" + (needed.map { ", best \($0)" } ?? ""))
        }
        if !plan.filter.isEmpty {
            lines.append("filter \(plan.filter.map { conjuncts[$0].predicate.description }.joined(separator: " AND "))")
        }
        lines.append(plan.source.description)
        return lines.enumerated().map { String(repeating: "  ", count: $0.offset) + $0.element }
            .joined(separator: "\n")
    }
}

extension QueryPlan.Source: CustomStringConvertible {
    var description: String {
        switch self {
        case .nothing: "nothing"
        case .objects(let ids): "\(ids.count) objects by id"
        case .members(_, let owners): "links of \(owners.count) owners"
        case .index(let access):
            "index \(access.index.name), \(access.ranges.count) ranges" + (access.isDescending ? ", backwards" : "")
        case .entities: "scan of all rows"
        }
    }
}
