package import StrataModel

// Explains how rows are found: those of a declared view, and those of groups that a view may answer.

extension Snapshot {
    /// Runs a request for rows of a declared view and explains how.
    ///
    /// - Throws: as `rows`.
    package func explain(_ request: ViewRequest) throws -> QueryExplanation {
        let view = try preparedView(request.viewName)
        let access = ViewAccess(request, view)
        let start = ContinuousClock.now
        let (rows, readCount) = try countedRows(request)
        let time = (ContinuousClock.now - start).nanoseconds
        var way = "view \(request.viewName), "
        let kept = try kept(view)
        let usesOrder = readsFirst(request, access, kept)
        if access.isOneGroup {
            way += "one row by its key"
        } else if let ordered = access.ordered, usesOrder {
            way += "in the order \(view.description.orders[Int(ordered.order.number)])"
            if !ordered.isForward { way += ", backwards" }
        } else {
            way += access.keyPrefix.isEmpty ? "all rows" : "rows whose keys begin with those of the condition"
        }
        if kept.tables == nil { way += ", made anew from the objects" }
        if let state = kept.state { way += ", with what changed since \(state.eventNumber)" }
        var step = QueryExplanation.Step(
            .view, way, estimatedRows: Double(readCount), rows: readCount, nanoseconds: time)
        if let predicate = request.predicate {
            step = QueryExplanation.Step(
                .filter, "filter \(predicate)", estimatedRows: Double(rows.count), rows: rows.count, nanoseconds: time,
                inputs: [step])
        }
        if !request.sort.isEmpty, !usesOrder {
            step = QueryExplanation.Step(
                .sort, "sort by \(request.sort.map(\.description).joined(separator: ", "))",
                estimatedRows: Double(rows.count), rows: rows.count, nanoseconds: time, inputs: [step])
        }
        return QueryExplanation(
            result: QueryExplanation.Step(
                .result, "rows of \(request.viewName)", estimatedRows: Double(rows.count), rows: rows.count,
                nanoseconds: time, inputs: [step]))
    }

    /// Runs a request for rows of values and explains how: by which view, or with which objects.
    ///
    /// - Throws: as `rows`.
    package func explain(_ request: RowsRequest) throws -> QueryExplanation {
        let query = try CompiledRows(request, schema, shapes)
        let start = ContinuousClock.now
        let count = try rows(query).count
        let time = (ContinuousClock.now - start).nanoseconds
        let input: QueryExplanation.Step
        if let answer = query.view, let groups = try answer.groups(self) {
            input = QueryExplanation.Step(
                .view, "view \(answer.view.description.name), all rows", estimatedRows: Double(groups.count),
                rows: groups.count, nanoseconds: time)
        } else {
            input = try explain(query.objects).result
        }
        let detail =
            request.isGrouped ? "groups of \(query.objects.entity.name)" : "rows of \(query.objects.entity.name)"
        return QueryExplanation(
            result: QueryExplanation.Step(
                .result, detail, estimatedRows: Double(count), rows: count, nanoseconds: time, inputs: [input]))
    }
}
