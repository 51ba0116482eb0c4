public import StrataModel
import StrataStore

// Fetching objects, their ids and their number in a context, and explaining how a request runs.

extension ManagedObjectContext {
    /// Fetches the objects that match, unsaved changes included.
    ///
    /// Objects that are not in memory are faults, which are read when they are first used.
    ///
    /// - Throws: `unknownEntity`; `unknownKey`, `wrongType` and `invalidRequest` for a predicate or order that the
    ///   entity cannot answer; `budgetExceeded` for one that takes too much; `storeClosed`; `corrupt`, also for damage
    ///   that a property of an object has met and could not throw; `CancellationError` if the task that calls it is
    ///   cancelled while it reads many rows.
    /// - Complexity: O(log n) and the rows found where an index answers the conditions, otherwise O(n) in the rows of
    ///   the entity; `explain(_:)` says which.
    public func fetch<Result: ManagedObject>(_ request: FetchRequest<Result>) throws -> [Result] {
        try objects(try fetchObjectIDs(request), of: request)
    }

    /// The objects with the ids that a request has found.
    func objects<Result: ManagedObject>(_ ids: [ObjectID], of request: FetchRequest<Result>) throws -> [Result] {
        // An array initialized with no elements writes to the storage that all empty arrays share: the thread sanitizer
        // reports that as a race.
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
            memory.faultRuns.begin(ids)
        }
        if !request.relationshipKeyPathsForPrefetching.isEmpty {
            try prefetch(request.relationshipKeyPathsForPrefetching, of: objects)
        }
        return objects
    }

    /// Compares the class, which is enough unless the object is of a subclass.
    @inline(__always)
    static func cast<Result: ManagedObject>(_ object: ManagedObject, to type: Result.Type) -> Result? {
        Swift.type(of: object) == type ? unsafeDowncast(object, to: type) : object as? Result
    }

    /// Fetches the ids of the objects that match, without making objects.
    ///
    /// - Throws: as `fetch(_:)`.
    public func fetchObjectIDs<Result: ManagedObject>(_ request: FetchRequest<Result>) throws -> [ObjectID] {
        let (storeRequest, layers) = try prepare(request)
        return try observed(.objects, request.entityName, count: \.count) { monitor in
            try read(pending: layers, monitor: monitor, budget: budget(of: request)) { try $0.fetch(storeRequest) }
        }
    }

    /// The number of objects that match, within limit and offset.
    ///
    /// - Throws: as `fetch(_:)`.
    public func count<Result: ManagedObject>(for request: FetchRequest<Result>) throws -> Int {
        let (storeRequest, layers) = try prepare(request)
        return try observed(.count, request.entityName, count: { $0 }) { monitor in
            try read(pending: layers, monitor: monitor, budget: budget(of: request)) { try $0.count(storeRequest) }
        }
    }

    /// Runs a request and explains how: each step with its index or condition, and the number of rows.
    ///
    /// - Throws: as `fetch(_:)`.
    public func explain<Result: ManagedObject>(_ request: FetchRequest<Result>) throws -> QueryExplanation {
        let (storeRequest, layers) = try prepare(request)
        return try read(pending: layers, budget: budget(of: request)) { try $0.explain(storeRequest) }
    }

    /// Throws damage that a property could not throw, once.
    func throwNewDamage() throws {
        if errors.hasNewDamage, let damage = errors.takeNewDamage() { throw damage }
    }

    /// Throws if hooks or validations of a save have read empty values in place of damaged or dropped ones.
    func throwEmptyReads() throws {
        try throwNewDamage()
        if let dropped = errors.takeDroppedReads() { throw dropped }
    }

    func budget<Result: ManagedObject>(of request: FetchRequest<Result>) -> RequestBudget {
        request.budget ?? binding.requestBudget
    }

    func prepare<Result: ManagedObject>(
        _ request: FetchRequest<Result>
    ) throws -> (StoreRequest, [Layer]) {
        try throwNewDamage()
        guard let entity = binding.entity(named: request.entityName) else {
            throw binding.schema.unknownEntity(request.entityName)
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
        return (request.storeRequest(entity.id), request.includesPendingChanges ? try pendingLayers() : [])
    }
}
