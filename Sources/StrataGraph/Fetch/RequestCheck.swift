public import StrataModel
import StrataStore
import Synchronization

/// Holds requests against the model that their classes declare, when they are made and no store is at hand.
enum RequestCheck {
    // By class: the model of everything that relationships lead to from it; nil when that is no sound model. Guarded
    // by the mutex, made once a process.
    private static let cache = Mutex<[ObjectIdentifier: Schema?]>([:])

    /// - Throws: what `CompiledQuery` refuses. A request by the name of an entity that its class does not know is let
    ///   through; the context judges it.
    static func check<Result: ManagedObject>(_ request: FetchRequest<Result>) throws(StrataError) {
        guard let schema = schema(around: Result.self), let entity = schema.entity(named: request.entityName) else {
            return
        }
        _ = try CompiledQuery(
            StoreRequest(
                entityID: entity.id, includesSubentities: request.includesSubentities, predicate: request.predicate,
                sort: request.sortDescriptors, limit: request.fetchLimit, offset: request.fetchOffset), schema)
    }

    private static func schema(around objectClass: ManagedObject.Type) -> Schema? {
        let key = ObjectIdentifier(objectClass)
        if let known = cache.withLock({ $0[key] }) { return known }
        let made = make(around: objectClass)
        cache.withLock { $0[key] = .some(made) }
        return made
    }

    private static func make(around objectClass: ManagedObject.Type) -> Schema? {
        guard objectClass != ManagedObject.self else { return nil }
        var waiting = [objectClass]
        var found: [ManagedObject.Type] = []
        while let next = waiting.popLast() {
            guard !found.contains(where: { $0 == next }) else { continue }
            found.append(next)
            let definition = EntityDefinition.of(next)
            waiting += definition.destinations.values
            if let superclass = definition.superclass { waiting.append(superclass) }
        }
        do {
            let model = try ManagedObjectModel(entities: EntityDefinition.descriptions(of: found))
            return try Schema(
                version: ModelVersion(rawValue: 1), model: model,
                assignment: try ModelAssignment().extended(for: model, from: nil))
        } catch {
            // A model with faults is refused with every reason when a container is made of it.
            return nil
        }
    }
}

extension FetchRequest {
    /// Refuses a request that cannot run, by the model that the class declares.
    ///
    /// Requests made of format strings and of `#Predicate` are checked when they are made.
    ///
    /// - Throws: `unknownKey` with the nearest name, `wrongType`, `invalidRequest`.
    public func check() throws(StrataError) { try RequestCheck.check(self) }
}

extension ManagedObjectContext {
    /// Refuses a request that cannot run, without running it.
    ///
    /// - Throws: `unknownEntity`, `unknownKey` with the nearest name, `wrongType`, `invalidRequest`.
    public func check<Result: ManagedObject>(_ request: FetchRequest<Result>) throws {
        let (storeRequest, _) = try prepare(request)
        _ = try CompiledQuery(storeRequest, binding.schema)
    }
}
