public import StrataModel
import StrataStore

extension ManagedObjectContext {
    // MARK: New objects

    func seedForNewObject(of objectClass: ManagedObject.Type) -> ObjectSeed {
        seedForNewObject(in: entity(of: objectClass))
    }

    func seedForNewObject(in entity: EntityRuntime) -> ObjectSeed {
        do {
            guard !isReadOnly else { throw readOnlyError }
            precondition(!entity.schema.isAbstract, "\(entity.name) is abstract: make an object of a subentity.")
            let id = try binding.store.newObjectID(in: entity.id)
            return ObjectSeed(
                entity: entity, objectID: id, state: observesObjects ? ObjectState.observed : 0, context: self,
                isInserted: true)
        } catch {
            report(Self.typed(error))
            return ObjectSeed(
                entity: entity, objectID: ObjectID(rawValue: 0), state: ObjectState.detached, context: nil,
                isInserted: true)
        }
    }

    func registerInserted(_ object: ManagedObject) {
        object._flags = .inserted
        map.insert(object)
        inserted.append(object)
        object.awakeFromInsert()
    }

    /// Makes a new object of an entity by name.
    ///
    /// - Throws: `unknownEntity`, also for an abstract entity; `readOnly`.
    public func insertNewObject(forEntityName name: String) throws -> ManagedObject {
        guard let entity = binding.entity(named: name) else { throw Self.unknownEntity(name) }
        if entity.schema.isAbstract {
            throw StrataError(
                .unknownEntity, "An abstract entity has no objects of its own.", context: .init(entityName: name))
        }
        guard !isReadOnly else { throw readOnlyError }
        let errors = pendingErrors.count
        let object = entity.objectClass.init(seedForNewObject(in: entity))
        guard object._context != nil else {
            throw pendingErrors.count > errors ? pendingErrors.removeLast() : readOnlyError
        }
        registerInserted(object)
        return object
    }

    // MARK: Objects by id

    /// The object in memory, if it is; never reads the store.
    public func registeredObject(for id: ObjectID) -> ManagedObject? { map[id] }

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
    /// - Throws: `referentialIntegrity` (133000) when there is no such object, or it is deleted in this context.
    public func existingObject(with id: ObjectID) throws -> ManagedObject {
        if deletedRows.contains(id) { throw Self.noObject(id, binding.entity(id.entityID)?.name) }
        let known = map[id]
        guard let entity = known?._entity ?? binding.entity(id.entityID), !id.isNil else {
            throw Self.noObject(id, nil)
        }
        let object = known ?? makeFault(id, entity)
        if object._state & ObjectState.fault != 0 { try load(object) }
        if object._state & (ObjectState.deleted | ObjectState.inaccessible) != 0 {
            if known == nil { forget(object) }
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
            throw StrataError(.wrongType, "The object is not a \(type).", context: object.place())
        }
        return typed
    }

    func registeredOrFault(_ id: ObjectID) -> ManagedObject? {
        if let known = map[id] { return known }
        guard let entity = binding.entity(id.entityID), !id.isNil else {
            report(StrataError(.corrupt, "An object id is of no known entity.", context: .init(objectID: id)))
            return nil
        }
        return makeFault(id, entity)
    }

    func makeFault(_ id: ObjectID, _ entity: EntityRuntime) -> ManagedObject {
        if map.count >= sweepThreshold { sweep() }
        var state = ObjectState.fault | ObjectState.clean
        if observesObjects { state |= ObjectState.observed }
        if isReadOnly { state |= ObjectState.readOnly }
        let object = entity.objectClass.init(
            ObjectSeed(entity: entity, objectID: id, state: state, context: self, isInserted: false))
        map.insert(object)
        if let row = deletedRows.take(id) { adoptDeletion(of: object, row) }
        return object
    }

    /// Lets go of clean objects that nobody else holds, and of what is known of their relationships.
    ///
    /// The smallest threshold keeps the objects of a walk over many in the processor's cache: reading 200,000 of 300,000
    /// movies at random took a tenth longer with 8192.
    func sweep() {
        guard !retainsRegisteredObjects else { return }
        map.sweep()
        sweepThreshold = max(Self.leastSweepThreshold, map.count * 2)
        if toManyStates.count >= sweepThreshold {
            toManyStates = toManyStates.filter { $0.value.hasChanges || map[$0.key.owner] != nil }
        }
    }

    /// Takes the object out of the context for good.
    func forget(_ object: ManagedObject) {
        map.remove(object.objectID)
        object.detach()
    }

    // MARK: Faults

    /// Fires a fault for a property that cannot throw.
    func fire(_ object: ManagedObject) {
        do {
            try load(object)
        } catch {
            report(Self.typed(error))
            return
        }
        if object._state & ObjectState.inaccessible != 0, !shouldDeleteInaccessibleFaults {
            report(Self.noObject(object.objectID, object._entity.name))
        }
    }

    /// Reads the object's row; an object that is not there becomes inaccessible.
    func load(_ object: ManagedObject) throws {
        guard object._state & ObjectState.fault != 0 else { return }
        let found = try binding.store.readRow(
            object.objectID, at: base, layers: inherited, through: binding.schema
        ) { row in try Self.load(object, row) }
        if !found { object._state |= ObjectState.inaccessible }
        object._state &= ~ObjectState.fault
        if found { object.awakeFromFetch() }
        let following = faultRuns.following(object.objectID)
        if !following.isEmpty { readAhead(following) }
    }

    /// Reads objects that are likely to be asked for next; what cannot be read stays a fault, which tells when it fires.
    private func readAhead(_ ids: ArraySlice<ObjectID>) {
        var faults: ContiguousArray<ManagedObject> = []
        faults.reserveCapacity(ids.count)
        for id in ids where !deletedRows.contains(id) {
            guard let object = map[id] ?? binding.entity(id.entityID).map({ makeFault(id, $0) }) else { continue }
            if object.isFault, !object.isDeleted { faults.append(object) }
        }
        var readCount = 0
        do {
            try read { view in
                for object in faults {
                    guard try Self.load(object, from: view) else { return }
                    object._state &= ~ObjectState.fault
                    readCount += 1
                }
            }
        } catch {
            // Nobody asked for that object yet. It stays a fault, and whoever asks is told.
        }
        for object in faults.prefix(readCount) { object.awakeFromFetch() }
    }

    /// Reads the faults that somebody still holds, since nobody can when the context is gone.
    ///
    /// No code of the app runs here, which could hold on to a context that goes.
    func readHeldFaults() {
        map.sweep()
        var faults: [ManagedObject] = []
        map.forEach { if $0.isFault { faults.append($0) } }
        guard !faults.isEmpty else { return }
        do {
            try read { view in
                for object in faults where try Self.load(object, from: view) { object._state &= ~ObjectState.fault }
            }
        } catch {
            report(Self.typed(error))
        }
    }

    static func load(_ object: ManagedObject, from view: View) throws -> Bool {
        try load(object, view.row(object.objectID))
    }

    private static func load(_ object: ManagedObject, _ row: RowView?) throws -> Bool {
        guard let row else { return false }
        let entity = object._entity
        if row.layout === entity.layout {
            try entity.checkVariableSlots(row.image, of: object.objectID)
            object.adoptRow(row.image, revision: row.revision)
        } else {
            let image = try row.converted(to: entity.schema)
            image.bytes.withUnsafeBytes { object.adoptRow($0, revision: row.revision) }
        }
        return true
    }

    // MARK: Lists

    func noteUpdated(_ object: ManagedObject) {
        guard object._flags.isDisjoint(with: [.inserted, .updated]) else { return }
        object._flags.insert(.updated)
        updated.append(object)
    }

    func noteTouched(_ object: ManagedObject) { touched.append(object) }

    // MARK: Errors

    var readOnlyError: StrataError {
        StrataError(
            .readOnly, isPast ? "A past state cannot be changed." : "The container is open for reading only.",
            context: .init(sequence: isPast ? base : nil))
    }

    static func unknownEntity(_ name: String) -> StrataError {
        StrataError(.unknownEntity, "The model has no such entity.", context: .init(entityName: name))
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

extension EntityRuntime {
    /// Checks that every value of variable width lies inside the row, so that reading need not.
    func checkVariableSlots(_ image: UnsafeRawBufferPointer, of id: ObjectID) throws {
        do {
            let reader = try RowReader(image, layout: layout)
            for slot in layout.variableSlots where !reader.isNull(slot) {
                _ = try reader.variableBytes(reader.entry(slot))
            }
        } catch {
            throw StrataError(
                .corrupt, "The object's row is damaged.", context: .init(entityName: name, objectID: id), cause: error)
        }
    }
}
