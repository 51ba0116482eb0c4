package import StrataModel

/// A request bound to the entities of a schema, checked, and ready to run any number of times.
///
/// Make one when the request is made, so that what cannot run is refused there and not at the first fetch.
package final class CompiledQuery: Sendable {
    let schema: Schema
    let entity: EntitySchema
    /// The concrete entities whose objects may be found, by number.
    let entities: [EntitySchema]
    /// All of them hold for an object that is found.
    let conjuncts: [CompiledTest]
    let order: [SortColumn]
    let offset: Int
    /// nil is no limit.
    let limit: Int?
    /// How it is run.
    let plan: QueryPlan

    /// - Throws: `unknownEntity`, `unknownKey` (with the nearest name), `wrongType`, `invalidRequest`.
    package init(
        _ request: StoreRequest, _ schema: Schema, access: Access = .planned
    ) throws(StrataError) {
        guard let entity = schema.entity(request.entityID) else {
            throw StrataError(.unknownEntity, "The model has no entity with the number \(request.entityID.rawValue).")
        }
        guard request.offset >= 0, request.limit >= 0 else {
            throw StrataError(
                .invalidRequest, "A limit or offset is negative.", context: .init(entityName: entity.name))
        }
        self.schema = schema
        self.entity = entity
        let ids = request.includesSubentities ? entity.concreteEntityIDs : entity.isAbstract ? [] : [entity.id]
        entities = ids.sorted().compactMap { schema.entity($0) }
        let conjuncts =
            try request.predicate.map { (predicate) throws(StrataError) in
                try PredicateCompiler(entity: entity, schema: schema).conjuncts(of: predicate)
            } ?? []
        var order: [SortColumn] = []
        for description in request.sort { order.append(try SortColumn(description, entity, schema)) }
        self.conjuncts = conjuncts
        self.order = order
        offset = request.offset
        limit = request.limit == 0 ? nil : request.limit
        let planner = Planner(
            entity: entity, schema: schema, conjuncts: conjuncts, order: order, isLimited: request.limit != 0)
        plan = access == .planned ? planner.plan() : planner.scan
    }

    /// Whether indexes may be used.
    package enum Access: Sendable {
        case planned
        /// Reads every row of the entities, whatever the indexes: what every plan is tested against.
        case scanOnly
    }

    /// How many rows in order are enough; nil for all.
    var needed: Int? { limit.map { $0 > Int.max - offset ? Int.max : $0 + offset } }

    func isCovered(_ id: ObjectID) -> Bool { entities.contains { $0.id == id.entityID } }
}
