// The objects of a context: making new ones, finding them by id, refreshing and releasing them.

public import StrataModel
import StrataStore

extension ManagedObjectContext {
    // MARK: New objects

    func seedForNewObject(of objectClass: ManagedObject.Type) -> _ObjectSeed {
        seedForNewObject(in: entity(of: objectClass))
    }

    func seedForNewObject(in entity: EntityRuntime) -> _ObjectSeed {
        do {
            guard !isReadOnly else { throw readOnlyError }
            precondition(!entity.schema.isAbstract, "\(entity.name) is abstract: make an object of a subentity.")
            let id = try binding.store.newObjectID(in: entity.id)
            return _ObjectSeed(
                entity: entity, objectID: id, state: observesObjects ? ObjectState.observed : 0, context: self,
                isInserted: true)
        } catch {
            report(Self.typed(error))
            return _ObjectSeed(
                entity: entity, objectID: ObjectID(rawValue: 0), state: ObjectState.detached, context: nil,
                isInserted: true)
        }
    }

    func registerInserted(_ object: ManagedObject) {
        map.insert(object)
        pending.noteInserted(object)
        if pending.event.followsAnother { object.keepEventBase(isUnchanged: true) }
        object.awakeFromInsert()
    }

    /// Makes a new object of an entity by name.
    ///
    /// - Throws: `unknownEntity`, also for an abstract entity; `readOnly`.
    public func insertNewObject(forEntityName name: String) throws -> ManagedObject {
        guard let entity = binding.entity(named: name) else { throw binding.schema.unknownEntity(name) }
        try entity.checkIsConcrete()
        guard !isReadOnly else { throw readOnlyError }
        let known = errors.unreported.count
        let object = entity.objectClass.init(seedForNewObject(in: entity))
        guard object._context != nil else {
            throw errors.unreported.count > known ? errors.takeLast() ?? readOnlyError : readOnlyError
        }
        registerInserted(object)
        return object
    }

    // MARK: Objects by id

    /// The object in memory, if it is; never reads the store. Nil for a new object that was deleted again.
    public func registeredObject(for id: ObjectID) -> ManagedObject? {
        map[id].flatMap { $0._flags.contains(.withdrawn) ? nil : $0 }
    }

    /// The object, as a fault if it is not in memory; whether it is in the store shows when it is read.
    ///
    /// The id must be of an entity of this store; `existingObject(with:)` checks everything.
    public func object(with id: ObjectID) -> ManagedObject {
        guard let object = registeredOrFault(id) else {
            preconditionFailure("The object id \(id) is of no entity in this container's model.")
        }
        return object
    }

    /// The object, read from the store unless its values are in memory.
    ///
    /// - Throws: `referentialIntegrity` (133000) when there is no such object, or it is deleted in this context;
    ///   `corrupt`, `storeClosed`.
    public func existingObject(with id: ObjectID) throws -> ManagedObject {
        if pending.deletedRows.contains(id) { throw Self.noObject(id, binding.entity(id.entityID)?.name) }
        if let known = map[id] {
            if known._state & ObjectState.fault != 0 { try load(known) }
            guard known._state & ObjectState.gone == 0 else { throw Self.noObject(id, known._entity.name) }
            return known
        }
        guard let entity = binding.entity(id.entityID), !id.isNil else { throw Self.noObject(id, nil) }
        let object = makeFault(id, entity)
        if object._state & ObjectState.fault != 0 { try load(object) }
        guard object._state & ObjectState.gone == 0 else {
            forget(object)
            throw Self.noObject(id, object._entity.name)
        }
        return object
    }

    /// `existingObject(with:)` as the class asked for.
    ///
    /// - Throws: `wrongType` too, when the object is of another class.
    public func existingObject<Object: ManagedObject>(with id: ObjectID, as type: Object.Type) throws -> Object {
        let object = try existingObject(with: id)
        if Swift.type(of: object) == Object.self { return unsafeDowncast(object, to: Object.self) }
        guard let typed = object as? Object else {
            throw StrataError(.wrongType, "The object is not a \(type).", context: object.errorContext())
        }
        return typed
    }

    @inline(__always)
    func registeredOrFault(_ id: ObjectID) -> ManagedObject? { map[id] ?? faultOfUnregistered(id) }

    @inline(never)
    private func faultOfUnregistered(_ id: ObjectID) -> ManagedObject? {
        if let entity = binding.entity(id.entityID), !id.isNil { return makeFault(id, entity) }
        if !binding.isGone(id) { reportUnknownEntity(id) }
        return nil
    }

    @inline(never)
    private func reportUnknownEntity(_ id: ObjectID) {
        report(StrataError(.corrupt, "An object id is of no known entity.", context: .init(objectID: id)))
    }

    func makeFault(_ id: ObjectID, _ entity: EntityRuntime) -> ManagedObject {
        if map.count >= memory.sweepThreshold { sweepAhead() }
        var state = ObjectState.fault | ObjectState.clean
        if observesObjects { state |= ObjectState.observed }
        if isReadOnly { state |= ObjectState.readOnly }
        let object = entity.objectClass.init(
            _ObjectSeed(entity: entity, objectID: id, state: state, context: self, isInserted: false))
        map.insert(object)
        if let row = pending.takeDeletedRow(id) { adoptDeletion(of: object, row) }
        return object
    }

    /// Releases some clean objects that the app does not hold, so that new objects reuse their memory.
    ///
    /// The smallest threshold keeps the objects of a walk over many in the processor's cache: reading 200,000 of
    /// 300,000 movies at random took a tenth longer with 8192.
    private func sweepAhead() {
        for _ in 0..<ContextMemory.sweptAtOnce {
            switch map.sweepStep() {
            case .released: break
            case .nothing: return
            case .end(let heldCount): return noteSwept(heldCount)
            }
        }
    }

    /// Releases all clean objects that the app does not hold, with the members of their relationships.
    ///
    /// - Parameter saved: the changes that were just saved, sorted by id.
    func sweep(first saved: ChangeSet? = nil) {
        guard !retainsRegisteredObjects else { return }
        if let saved {
            for index in saved.insertions.indices { map.release(saved.insertions[index].id) }
            for index in saved.updates.indices { map.release(saved.updates[index].id) }
        }
        map.sweep()
        noteSwept(map.count)
    }

    private func noteSwept(_ heldCount: Int) {
        memory.noteSwept(heldCount: heldCount)
        pendingLinks.sweep(from: memory.sweepThreshold) { map[$0] != nil }
    }

    /// Takes the object out of the context for good.
    func forget(_ object: ManagedObject) {
        map.remove(object.objectID)
        object.detach()
    }

    /// Removes the object and its pending changes from the context.
    func forgetWithChanges(_ object: ManagedObject) {
        map.remove(object.objectID)
        object.detachDroppingChanges()
    }

    /// Takes the object out whose deletion is saved.
    func forgetSavedDeletion(_ object: ManagedObject) {
        map.remove(object.objectID)
        object.detachAsSavedDeletion()
    }

    // MARK: Errors

    var readOnlyError: StrataError {
        StrataError(
            .readOnly, isPast ? "A past state cannot be changed." : "The container is open for reading only.",
            context: .init(eventNumber: isPast ? base : nil))
    }

    static func noObject(_ id: ObjectID, _ entityName: String?) -> StrataError {
        StrataError(
            .referentialIntegrity, "The object is not in the store.",
            context: .init(entityName: entityName, objectID: id))
    }

    static func typed(_ error: any Error) -> StrataError {
        (error as? StrataError) ?? StrataError(.corrupt, "A record is damaged.", cause: error)
    }
}
