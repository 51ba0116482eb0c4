public import StrataModel
import StrataStore

/// Checks requests when they are made, against the model that their classes declare.
///
/// An entity that the class does not know, by name or inside a `FETCH` expression, is left to the context that runs
/// the request.
enum RequestCheck {
    /// Checks a request and compiles its shape.
    ///
    /// - Returns: the shape, for the store to run; nil where there was nothing to compile, and where the shape depends
    ///   on the time.
    /// - Throws: what `CompiledQuery` refuses.
    static func shape<Result: ManagedObject>(of request: FetchRequest<Result>) throws(StrataError) -> QueryShape? {
        guard let model = ClassModel.around(Result.self), let entity = model.entity(named: request.entityName) else {
            return nil
        }
        if !request.relationshipKeyPathsForPrefetching.isEmpty {
            try checkPrefetching(request.relationshipKeyPathsForPrefetching, from: entity, model.schema)
        }
        if request.predicate == nil, request.sortDescriptors.isEmpty, request.fetchLimit >= 0,
            request.fetchOffset >= 0
        {
            return nil
        }
        return try leavingUnknownEntities { () throws(StrataError) in
            let shape = try model.shapes.checkedShape(of: request.storeRequest(entity.id), model.schema)
            return shape.isVolatile ? nil : shape
        }
    }

    /// Checks a request for rows.
    ///
    /// - Throws: what `CompiledRows` refuses.
    static func check<Object: ManagedObject>(
        _ request: RowsFetchRequest, of objectClass: Object.Type
    ) throws(StrataError) {
        guard let model = ClassModel.around(objectClass), let entity = model.entity(named: request.entityName) else {
            return
        }
        let objects = StoreRequest(
            entityID: entity.id, includesSubentities: request.includesSubentities, predicate: request.predicate,
            sort: request.sortDescriptors, limit: request.fetchLimit, offset: request.fetchOffset)
        _ = try leavingUnknownEntities { () throws(StrataError) in
            try CompiledRows(request.storeRequest(objects), model.schema, model.shapes)
        }
    }

    /// Checks the condition of a batch.
    ///
    /// - Throws: what `CompiledQuery` refuses.
    static func check<Object: ManagedObject>(
        _ predicate: FetchPredicate, of type: Object.Type, entityName: String
    ) throws(StrataError) {
        _ = try FetchRequest<Object>(entityName: entityName, where: predicate)
    }

    /// Checks the key paths of a request's prefetching, which a fetch follows from the objects it has found.
    ///
    /// - Throws: `unknownKey` with the nearest name; `invalidRequest` for a step that is no relationship.
    static func checkPrefetching(
        _ keyPaths: [String], from entity: EntitySchema, _ schema: Schema
    ) throws(StrataError) {
        for keyPath in keyPaths {
            var entity: EntitySchema? = entity
            for step in keyPath.split(separator: ".", omittingEmptySubsequences: false) {
                let context = StrataError.Context(entityName: entity?.name, key: keyPath)
                guard let property = entity?.property(named: String(step)) else {
                    throw entity?.unknownKey(String(step), context)
                        ?? StrataError(.unknownKey, "The key path leads to no object.", context: context)
                }
                guard let relationship = property.relationship else {
                    throw StrataError(
                        .invalidRequest, "\(step) is no relationship; only relationships are prefetched.",
                        context: context)
                }
                entity = schema.entity(relationship.destination)
            }
        }
    }

    /// - Returns: nil where the request asks for an entity that the class does not know.
    private static func leavingUnknownEntities<Value>(
        _ body: () throws(StrataError) -> Value?
    ) throws(StrataError) -> Value? {
        do {
            return try body()
        } catch {
            if error.code == .unknownEntity { return nil }
            throw error
        }
    }
}

extension FetchRequest {
    /// Refuses a request that cannot run, by the model that the class declares.
    ///
    /// Initializers and builder methods do this by themselves; call it after you have assigned to properties.
    ///
    /// - Throws: `unknownKey` with the nearest name, `wrongType`, `invalidRequest`.
    public func check() throws(StrataError) { _ = try RequestCheck.shape(of: self) }

    /// The request as the store runs it.
    func storeRequest(_ entity: EntityID) -> StoreRequest {
        StoreRequest(
            entityID: entity, includesSubentities: includesSubentities, predicate: predicate, sort: sortDescriptors,
            limit: fetchLimit, offset: fetchOffset, shape: shape)
    }
}

extension ManagedObjectContext {
    /// Refuses a request that cannot run, without running it.
    ///
    /// - Throws: `unknownEntity`, `unknownKey` with the nearest name, `wrongType`, `invalidRequest`.
    public func check<Result: ManagedObject>(_ request: FetchRequest<Result>) throws {
        _ = try compiled(request)
    }
}
