public import StrataModel
import StrataStore
import Synchronization

/// Holds requests against the model that their classes declare, when they are made and no store is at hand.
enum RequestCheck {
    /// What requests for a class are held against: the model of everything that relationships lead to from it.
    private final class ClassModel: Sendable {
        let schema: Schema
        let queries = QueryCache()
        private let entityName: String
        private let entity: EntitySchema?

        init(_ schema: Schema, _ entityName: String) {
            self.schema = schema
            self.entityName = entityName
            entity = schema.entity(named: entityName)
        }

        func entity(named name: String) -> EntitySchema? {
            name == entityName ? entity : schema.entity(named: name)
        }
    }

    // By class; nil when its model is not sound. Guarded by the mutex, made once a process.
    private static let cache = Mutex<[ObjectIdentifier: ClassModel?]>([:])

    /// - Throws: what `CompiledQuery` refuses. A request by the name of an entity that its class does not know is let
    ///   through; the context judges it.
    static func check<Result: ManagedObject>(_ request: FetchRequest<Result>) throws(StrataError) {
        guard let model = model(around: Result.self),
            let entity = model.entity(named: request.entityName)
        else { return }
        if !request.relationshipKeyPathsForPrefetching.isEmpty {
            try checkPrefetching(request.relationshipKeyPathsForPrefetching, from: entity, model.schema)
        }
        if request.predicate == nil, request.sortDescriptors.isEmpty, request.fetchLimit >= 0,
            request.fetchOffset >= 0
        {
            return
        }
        do {
            try model.queries.check(
                StoreRequest(
                    entityID: entity.id, includesSubentities: request.includesSubentities,
                    predicate: request.predicate, sort: request.sortDescriptors, limit: request.fetchLimit,
                    offset: request.fetchOffset), model.schema)
        } catch {
            // A FETCH may ask for an entity that nothing leads to from this class.
            if error.code == .unknownEntity { return }
            throw error
        }
    }

    /// The same for rows of values.
    static func check<Object: ManagedObject>(
        _ request: RowsFetchRequest, of objectClass: Object.Type
    ) throws(StrataError) {
        guard let model = model(around: objectClass), let entity = model.entity(named: request.entityName) else {
            return
        }
        let objects = StoreRequest(
            entityID: entity.id, includesSubentities: request.includesSubentities, predicate: request.predicate,
            sort: request.sortDescriptors, limit: request.fetchLimit, offset: request.fetchOffset)
        do {
            _ = try CompiledRows(request.storeRequest(objects), model.schema)
        } catch {
            // A FETCH may ask for an entity that nothing leads to from this class.
            if error.code == .unknownEntity { return }
            throw error
        }
    }

    /// The same for the condition of a batch.
    static func check<Object: ManagedObject>(
        _ predicate: FetchPredicate, of type: Object.Type, entityName: String
    ) throws(StrataError) {
        _ = try FetchRequest<Object>(entityName: entityName, where: predicate)
    }

    /// Checks the paths where there may be no objects to follow them from.
    static func checkPrefetching(
        _ keyPaths: [String], from entity: EntitySchema, _ schema: Schema
    ) throws(StrataError) {
        for keyPath in keyPaths {
            var entity: EntitySchema? = entity
            for step in keyPath.split(separator: ".", omittingEmptySubsequences: false) {
                let place = StrataError.Context(entityName: entity?.name, key: keyPath)
                guard let property = entity?.property(named: String(step)) else {
                    let nearest = NearestName.of(String(step), among: entity?.properties.map(\.name) ?? [])
                    throw StrataError(
                        .unknownKey,
                        "\(entity?.name ?? "") has no property \(step)"
                            + (nearest.map { "; did you mean \($0)?" } ?? "."), context: place)
                }
                guard let relationship = property.relationship else {
                    throw StrataError(
                        .invalidRequest, "\(step) is no relationship; only relationships are prefetched.",
                        context: place)
                }
                entity = schema.entity(relationship.destination)
            }
        }
    }

    private static func model(around objectClass: ManagedObject.Type) -> ClassModel? {
        let key = ObjectIdentifier(objectClass)
        if let known = cache.withLock({ $0[key] }) { return known }
        let made = make(around: objectClass).map { ClassModel($0, objectClass.entityName) }
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
    /// Requests are checked so when they are made; this is for one whose properties were assigned to afterwards.
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
