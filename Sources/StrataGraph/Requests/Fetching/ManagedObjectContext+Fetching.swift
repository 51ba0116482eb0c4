public import StrataModel
import StrataStore

extension ManagedObjectContext {
    /// The objects that match, unsaved changes counted.
    ///
    /// Objects that are not in memory come as faults, and are read when first used.
    ///
    /// - Throws: `unknownEntity`; `invalidRequest` for a predicate or order that the entity cannot answer.
    public func fetch<Result: ManagedObject>(_ request: FetchRequest<Result>) throws -> [Result] {
        try objects(try fetchObjectIDs(request), of: request)
    }

    /// The objects of a request's answer.
    func objects<Result: ManagedObject>(_ ids: [ObjectID], of request: FetchRequest<Result>) throws -> [Result] {
        // An array that is made empty writes to the one that all empty arrays share, which the sanitizer calls a race.
        if ids.isEmpty { return [] }
        var areAllOfTheClass = true
        let objects = [Result](unsafeUninitializedCapacity: ids.count) { room, count in
            for id in ids {
                guard let object = registeredOrFault(id) else { continue }
                guard let result = Self.cast(object, to: Result.self) else { return areAllOfTheClass = false }
                room.initializeElement(at: count, to: result)
                count += 1
            }
        }
        guard areAllOfTheClass else { throw wrongClass(request) }
        if request.shouldRefreshRefetchedObjects { objects.forEach(turnIntoFault) }
        if !request.returnsObjectsAsFaults, request.includesPropertyValues {
            try fill(objects)
        } else {
            faultRuns.begin(ids)
        }
        if !request.relationshipKeyPathsForPrefetching.isEmpty {
            try prefetch(request.relationshipKeyPathsForPrefetching, of: objects)
        }
        return objects
    }

    /// The usual class is compared; only subclasses take the long way.
    @inline(__always)
    static func cast<Result: ManagedObject>(_ object: ManagedObject, to type: Result.Type) -> Result? {
        Swift.type(of: object) == type ? unsafeDowncast(object, to: type) : object as? Result
    }

    /// The ids of the objects that match; makes no objects.
    public func fetchObjectIDs<Result: ManagedObject>(_ request: FetchRequest<Result>) throws -> [ObjectID] {
        let (storeRequest, layers) = try prepare(request)
        return try read(pending: layers) { try $0.fetch(storeRequest) }
    }

    /// How many objects match; limit and offset count too.
    public func count<Result: ManagedObject>(for request: FetchRequest<Result>) throws -> Int {
        let (storeRequest, layers) = try prepare(request)
        return try read(pending: layers) { try $0.count(storeRequest) }
    }

    /// Runs the request and says how: the indexes and conditions used, and how many rows each step gave.
    public func explain<Result: ManagedObject>(_ request: FetchRequest<Result>) throws -> QueryExplanation {
        let (storeRequest, layers) = try prepare(request)
        return try read(pending: layers) { try $0.explain(storeRequest) }
    }

    func prepare<Result: ManagedObject>(
        _ request: FetchRequest<Result>
    ) throws -> (StoreRequest, [Layer]) {
        guard let entity = binding.entity(named: request.entityName) else {
            throw Self.unknownEntity(request.entityName)
        }
        guard request.fetchLimit >= 0, request.fetchOffset >= 0 else {
            throw StrataError(
                .invalidRequest, "Limit and offset cannot be negative.", context: .init(entityName: entity.name))
        }
        guard request.fetchBatchSize >= 0 else {
            throw StrataError(
                .invalidRequest, "A batch size cannot be negative.", context: .init(entityName: entity.name))
        }
        try RequestCheck.checkPrefetching(
            request.relationshipKeyPathsForPrefetching, from: entity.schema, binding.schema)
        if automaticallyMergesChangesFromParent { try moveIfOthersSaved() }
        let storeRequest = StoreRequest(
            entityID: entity.id, includesSubentities: request.includesSubentities, predicate: request.predicate,
            sort: request.sortDescriptors, limit: request.fetchLimit, offset: request.fetchOffset)
        return (storeRequest, request.includesPendingChanges ? try pendingLayers() : [])
    }
}
