import StrataModel

// Setting a to-one: the checks, the slot, and the other end.

extension ManagedObject {
    /// Sets a to-one property; reports an error for a target that cannot be linked.
    final func setTarget(_ target: ManagedObject?, at index: Int) {
        do {
            try changeTarget(target, at: index)
        } catch {
            report(ManagedObjectContext.typed(error))
        }
    }

    /// - Parameter mayBeDeleted: whether the target may be one whose deletion is pending.
    final func changeTarget(_ target: ManagedObject?, at index: Int, mayBeDeleted: Bool = false) throws {
        let property = _entity.properties[index]
        let unlinkable = ObjectState.unlinkable & ~(mayBeDeleted ? ObjectState.deleted : 0)
        if let target, target._context !== _context || target._state & unlinkable != 0 {
            throw refusalToLink(target, property.name)
        }
        guard property.isInRow else {
            setTransientValue(target, at: index)
            return
        }
        if _state & (ObjectState.unchangeable | ObjectState.probe) != 0,
            let refusal = refusalToChange(key: property.name)
        {
            throw refusal
        }
        if _state != 0, !makeWritable(index) { throw unreadable(property.name) }
        try link(property, to: target)
        if _state != 0 { _didWrite(index) }
    }

    private final func link(_ property: PropertyRuntime, to target: ManagedObject?) throws {
        let location = property.location
        let before = reference(location)
        let now = target?.objectID ?? ObjectID(rawValue: 0)
        if let context = _context { context.noteSet(property.id, of: objectID) }
        guard before != now else { return }
        switch property.inverse {
        case .none: storeReference(now, location)
        case .toMany(let link, let positionSlot):
            if let positionSlot { try takePosition(positionSlot, link, owner: now) }
            storeReference(now, location)
            guard let context = _context else { return }
            if !before.isNil {
                context.noteLinkChange(link, owner: before, member: objectID, isAdded: false)
                context.noteLinksChanged(of: before)
            }
            if let target {
                context.noteLinkChange(link, owner: now, member: objectID, isAdded: true)
                context.noteLinksChanged(of: target)
            }
            if context.observesObjects { context.announceMembers(link, of: [before, now]) }
        case .toOne(let inverse): try linkOneToOne(property, before, target, inverse)
        }
    }

    /// The end of the new owner's list.
    private final func takePosition(_ slot: Int, _ link: PropertyID, owner: ObjectID) throws {
        guard let context = _context, !owner.isNil, let link = context.binding.link(link) else { return }
        storePosition(try context.positionAtEnd(context.toManyState(link, owner)), slot: slot)
    }

    private final func linkOneToOne(
        _ property: PropertyRuntime, _ before: ObjectID, _ target: ManagedObject?, _ inverse: PropertyID
    ) throws {
        guard let context = _context else { return }
        if !context.pendingLinks.displaced.isEmpty, let end = linkEnd(property) {
            context.pendingLinks.noteNotDisplaced(end)
        }
        let old = before.isNil ? nil : context.registeredOrFault(before)
        // Both neighbours must be readable before anything changes.
        var rivalID = ObjectID(rawValue: 0)
        if let target, let back = target._entity.property(inverse) {
            target.fireFault()
            rivalID = target.reference(back.location)
        }
        let rival = rivalID.isNil || rivalID == objectID ? nil : context.registeredOrFault(rivalID)
        let change = OneToOneChange(
            of: objectID, property.id, inverse: inverse, from: before.isNil ? nil : before, to: target?.objectID,
            rival: rivalID.isNil ? nil : rivalID)
        storeReference(target?.objectID ?? ObjectID(rawValue: 0), property.location)
        if let slot = change.formerPartner { try old?.store(slot) }
        if let slot = change.rival { try rival?.store(slot) }
        if let slot = change.partner { try target?.store(slot) }
        if !context.pendingLinks.displaced.isEmpty { try context.showDisplacedPartners() }
    }

    /// Sets the other end of a one-to-one without looking further.
    ///
    /// - Returns: whether it was set; not that of a deleted object, or of one that leads elsewhere than expected.
    @discardableResult
    final func storeOtherEnd(_ id: ObjectID, _ property: PropertyID, ifItWas expected: ObjectID?) throws -> Bool {
        guard let property = _entity.property(property), property.isInRow else { return false }
        if _state & (ObjectState.deleted | ObjectState.inaccessible) != 0 { return false }
        fireFault()
        if let expected, reference(property.location) != expected { return false }
        if _state != 0, !makeWritable(property.index) { throw unreadable(property.name) }
        storeReference(id, property.location)
        if _state != 0 { _didWrite(property.index) }
        return true
    }

    private final func store(_ slot: OneToOneChange.Slot) throws {
        try storeOtherEnd(slot.target ?? ObjectID(rawValue: 0), slot.toOne, ifItWas: slot.expected)
    }

    /// Clears a to-one because its target goes away; the target's side is left alone.
    ///
    /// - Returns: whether it led there.
    final func clearReference(_ toOne: PropertyID, to target: ObjectID) throws -> Bool {
        try storeOtherEnd(ObjectID(rawValue: 0), toOne, ifItWas: target)
    }

    final func storePosition(_ position: Int64, slot: Int) {
        let property = _entity.property(slot: slot)
        if _state != 0, !makeWritable(property.index) { return }
        _storeScalar(position.littleEndian, property.location)
        _didStore(property.location)
    }

    final func clearPosition(slot: Int) {
        let property = _entity.property(slot: slot)
        if _state != 0, !makeWritable(property.index) { return }
        _storeNull(property.location)
    }

    final func position(slot: Int) -> Int64 {
        Int64(littleEndian: _loadScalar(_entity.property(slot: slot).location, as: Int64.self))
    }

    /// The target before any change; nil for a new object.
    final func baseReference(_ location: _FieldLocation) -> ObjectID {
        guard let base = baseBytes, let start = base.baseAddress else { return ObjectID(rawValue: 0) }
        return ObjectID(rawValue: start.loadLittleEndian(at: location.start))
    }

    // MARK: Refusals

    private final func refusalToLink(_ target: ManagedObject, _ key: String) -> StrataError {
        if target._state & (ObjectState.deleted | ObjectState.inaccessible) != 0 {
            return StrataError(
                .deletedObject, "The target was deleted.", context: errorContext(key, .objectID(target.objectID)))
        }
        return otherContext(target, "target", key)
    }

    /// The error of linking this object to one of another context, or where one of both is in none.
    ///
    /// - Parameter role: what `object` is to this one, such as "target".
    final func otherContext(_ object: ManagedObject, _ role: String, _ key: String) -> StrataError {
        let place = errorContext(key, .objectID(object.objectID))
        guard _context != nil else { return StrataError(.otherContext, Self.inNoContext("object"), context: place) }
        let advice = object._context == nil ? "" : " Ask this context for the object with that id, and link it."
        return StrataError(.otherContext, object.contextRefusal(role) + advice, context: place)
    }

    /// Why the object cannot be used in a context that is not its own.
    final func contextRefusal(_ role: String) -> String {
        _context == nil ? Self.inNoContext(role) : "The \(role) belongs to another context."
    }

    private static func inNoContext(_ role: String) -> String {
        "The \(role) is in no context: it could not be made, which an earlier error says, or its context has let go of "
            + "it."
    }

    /// Returns the error for a row that cannot be written: the one that reading it has just reported.
    final func unreadable(_ key: String) -> StrataError {
        if isFault, let error = _context?.errors.takeLast() { return error }
        return StrataError(.deletedObject, "The object cannot be read any more.", context: errorContext(key))
    }
}

extension ManagedObjectContext {
    /// The app sets a to-one: earlier effects of deletions on it no longer count.
    @inline(__always)
    fileprivate func noteSet(_ toOne: PropertyID, of object: ObjectID) {
        if pending.causes.hasCuts { pending.forgetCut(toOne, of: object) }
        if !pendingLinks.lost.isEmpty { pendingLinks.forgetLost(toOne, of: object) }
    }
}

extension PropertyRuntime {
    /// The slot of the object's location among the members of the other end.
    var positionSlot: Int? { if case .toMany(_, let slot) = inverse { slot } else { nil } }
}
