package import StrataModel

/// A request for the objects of an entity, as the store runs it.
package struct StoreRequest: Sendable {
    package var entityID: EntityID { didSet { shape = nil } }
    package var includesSubentities: Bool { didSet { shape = nil } }
    package var predicate: FetchPredicate? { didSet { shape = nil } }
    package var sort: [SortDescription] { didSet { shape = nil } }
    /// 0 for no limit.
    package var limit: Int
    package var offset: Int
    /// The shape from an earlier compilation, which is used if it is for the schema of the run.
    private(set) var shape: QueryShape?

    /// - Parameter shape: the shape from `QueryShapeCache` for the same entity, predicate and order.
    package init(
        entityID: EntityID, includesSubentities: Bool = true, predicate: FetchPredicate? = nil,
        sort: [SortDescription] = [], limit: Int = 0, offset: Int = 0, shape: QueryShape? = nil
    ) {
        self.entityID = entityID
        self.includesSubentities = includesSubentities
        self.predicate = predicate
        self.sort = sort
        self.limit = limit
        self.offset = offset
        self.shape = shape
    }

    /// The number of rows that are needed; nil for all.
    var needed: Int? { Self.needed(limit: limit == 0 ? nil : limit, offset: offset) }

    static func needed(limit: Int?, offset: Int) -> Int? {
        limit.map { $0 > Int.max - offset ? Int.max : $0 + offset }
    }
}

extension StoreRequest {
    /// Makes the request of a `FETCH` expression.
    package init(_ fetch: NestedFetch, _ entity: EntitySchema) {
        self.init(
            entityID: entity.id, includesSubentities: fetch.includesSubentities, predicate: fetch.predicate,
            sort: fetch.sort, limit: fetch.limit, offset: fetch.offset)
    }
}
