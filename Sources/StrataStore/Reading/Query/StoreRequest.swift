package import StrataModel

/// A fetch as the executor runs it.
package struct StoreRequest: Sendable {
    package var entityID: EntityID
    package var includesSubentities: Bool
    package var predicate: FetchPredicate?
    package var sort: [SortDescription]
    /// 0 is no limit.
    package var limit: Int
    package var offset: Int

    package init(
        entityID: EntityID, includesSubentities: Bool = true, predicate: FetchPredicate? = nil,
        sort: [SortDescription] = [], limit: Int = 0, offset: Int = 0
    ) {
        self.entityID = entityID
        self.includesSubentities = includesSubentities
        self.predicate = predicate
        self.sort = sort
        self.limit = limit
        self.offset = offset
    }

    /// How many rows in order are enough; nil for all.
    var needed: Int? { Self.needed(limit: limit == 0 ? nil : limit, offset: offset) }

    static func needed(limit: Int?, offset: Int) -> Int? {
        limit.map { $0 > Int.max - offset ? Int.max : $0 + offset }
    }
}

extension StoreRequest {
    /// The request of a `FETCH` expression.
    init(_ fetch: NestedFetch, _ entity: EntitySchema) {
        self.init(
            entityID: entity.id, includesSubentities: fetch.includesSubentities, predicate: fetch.predicate,
            sort: fetch.sort, limit: fetch.limit, offset: fetch.offset)
    }
}
