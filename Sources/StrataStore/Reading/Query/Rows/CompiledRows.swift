package import StrataModel

/// A request for rows of values, checked and compiled for a schema.
package final class CompiledRows: Sendable {
    /// The query for the objects. It has the order and limit of the request only if each object makes a row.
    let objects: CompiledQuery
    let names: [String]
    let shape: Shape
    let isDistinct: Bool
    let offset: Int
    let limit: Int?
    /// The order of rows that is by columns and not by the objects' own properties.
    let order: [RowOrder]
    /// The columns of a row before it is returned: those of the request, then those that only the order needs.
    let columnCount: Int
    /// The query for the first or last entry of each aggregate that an index can answer.
    let extremes: [Extreme?]
    /// The declared view that answers a request of groups; nil if none does.
    let view: ViewAnswer?

    enum Shape: Sendable {
        /// A row for each object.
        case objects([ValueReader])
        case groups(GroupShape)
    }

    /// One key of the order of rows.
    struct RowOrder: Sendable {
        let column: Int
        let sort: SortDescription
    }

    /// A `min:` or `max:` of a property, as the first object in an order.
    struct Extreme: Sendable {
        let query: CompiledQuery
        let reader: ValueReader
    }

    /// Whether each object makes a row of its own, so that rows can be read in parts.
    package var makesRowOfEachObject: Bool {
        if case .objects = shape { !isDistinct && order.isEmpty } else { false }
    }

    /// - Throws: `unknownKey`, `wrongType`, `invalidRequest`, as for objects.
    package init(
        _ request: RowsRequest, _ schema: Schema, _ shapes: QueryShapeCache? = nil,
        access: CompiledQuery.Access = .planned
    ) throws(StrataError) {
        guard let entity = schema.entity(request.objects.entityID) else {
            throw StrataError(
                .unknownEntity, "The request is for an entity that the model does not have.")
        }
        guard !request.columns.isEmpty else {
            throw StrataError(
                .invalidRequest, "A request for values needs at least one column.",
                context: .init(entityName: entity.name))
        }
        let isGrouped = request.isGrouped
        let ordering = try RowOrdering(request, isGrouped: isGrouped, entity, schema)
        let hasObjectOrder = ordering.isOfObjects
        var objects = request.objects
        if !hasObjectOrder { (objects.sort, objects.limit, objects.offset) = ([], 0, 0) }
        if let shapes {
            self.objects = try shapes.compiled(objects, schema)
        } else {
            self.objects = try CompiledQuery(objects, schema, access: access)
        }
        names = request.columns.map(\.name)
        isDistinct = request.isDistinct
        offset = hasObjectOrder ? 0 : request.objects.offset
        limit = hasObjectOrder || request.objects.limit == 0 ? nil : request.objects.limit
        guard request.objects.offset >= 0, request.objects.limit >= 0 else {
            throw StrataError(
                .invalidRequest, "A limit or offset is negative.", context: .init(entityName: entity.name))
        }
        if isGrouped {
            let shape = try GroupShape(request, hidden: ordering.hidden, entity, schema)
            self.shape = .groups(shape)
            extremes = try shape.extremes(request, schema, access)
            view = access == .planned ? try ViewAnswer.find(request, shape, entity, schema) : nil
        } else {
            var readers: [ValueReader] = []
            for column in request.columns + ordering.hidden {
                readers.append(try ValueReader(column.expression, entity, schema))
            }
            shape = .objects(readers)
            extremes = []
            view = nil
        }
        order = ordering.keys
        columnCount = request.columns.count + ordering.hidden.count
    }
}

extension FetchFunction {
    /// The functions that aggregate a group if their argument is a single value of each object.
    static let aggregates: Set<FetchFunction> = overLists
}

extension FetchExpression {
    /// The parts of an expression that is an aggregate; nil for other expressions.
    var aggregate: (function: FetchFunction, argument: FetchExpression)? {
        guard case .function(let function, let arguments) = self, FetchFunction.aggregates.contains(function),
            arguments.count == 1
        else { return nil }
        switch arguments[0] {
        case .aggregate, .subquery, .set: return nil
        case let argument: return (function, argument)
        }
    }

    var hasAggregates: Bool {
        if aggregate != nil { return true }
        let parts = parts
        return parts.expressions.contains(where: \.hasAggregates)
    }
}
