import StrataModel
import StrataStore

extension ManagedObjectContext {
    /// Deletes the object from the context; the next save deletes it from the store.
    ///
    /// The delete rules of its relationships apply at once: `cascade` deletes the objects at the other end, and
    /// `nullify` clears their references. The save checks `deny`, so that members can still be deleted or moved before
    /// it.
    ///
    /// A cascade makes objects only of classes that override `prepareForDeletion`, `willSave`, `didSave` or
    /// `validateForDelete`. The ids of the others are in `deletedObjectIDs`.
    ///
    /// An object that was never saved just leaves the context, and references to it are cleared even where the rule is
    /// `deny` or `noAction`. Deleting a deleted object does nothing.
    public func delete(_ object: ManagedObject) {
        do {
            if object._context !== self {
                if object._state & ObjectState.detached != 0, object._context == nil { return }
                throw StrataError(
                    .otherContext, object.contextRefusal("object"), context: object.errorContext())
            }
            try deleteAll(from: object.objectID)
        } catch {
            report(Self.typed(error))
        }
    }

    /// Deletes an object and all that its deletion cascades to.
    ///
    /// - Parameters:
    ///   - prepared: objects whose `prepareForDeletion` has been called, in a child context.
    ///   - isItself: whether the deletion of the object was asked for; else it follows from another one.
    func deleteAll(from first: ObjectID, prepared: Set<ObjectID> = [], isItself: Bool = true) throws {
        defer {
            if isItself, let object = map[first], object._state & ObjectState.deleted != 0 {
                object.noteDeletedItself()
            }
        }
        var walk = DeletionWalk([first])
        var deletion = ObjectDeletion(context: self)
        while let id = walk.next {
            if pending.deletedRows.contains(id) || isDeletedAsRow(id) {
                try deleteRows(&walk)
            } else if walk.takeNext() != nil, let object = registeredOrFault(id),
                try begin(object, isPrepared: prepared.contains(id))
            {
                try walk.applyRules(of: id, object, to: &deletion)
            }
        }
    }

    /// Runs the object's hook and marks the object deleted.
    ///
    /// - Returns: false when it is deleted already.
    private func begin(_ object: ManagedObject, isPrepared: Bool) throws -> Bool {
        if object._state & (ObjectState.deleted | ObjectState.inaccessible) != 0 { return false }
        guard !isReadOnly else { throw readOnlyError }
        // Two objects whose hooks delete each other have each hook run once.
        if object._flags.contains(.preparesDeletion) { return false }
        if !isPrepared {
            object.beginPreparingDeletion()
            object.prepareForDeletion()
            object.endPreparingDeletion()
        }
        if object._state & ObjectState.fault != 0 { try load(object) }
        if object._state & (ObjectState.deleted | ObjectState.inaccessible) != 0 { return false }
        pending.noteDeleted(object)
        object.announceAllChanged()
        return true
    }

    // MARK: Other objects

    /// Clears the to-one of an object that leads to a deleted one; the deleted one's side follows.
    func cutReference(_ toOne: PropertyID, of id: ObjectID, from deleted: ObjectID) throws {
        guard !pending.deletedRows.contains(id), let object = registeredOrFault(id),
            let property = object._entity.property(toOne)
        else { return }
        if try object.clearReference(toOne, to: deleted) { pending.noteCut(toOne, of: id, from: deleted) }
        guard case .toMany(let link, _) = property.inverse else { return }
        noteLinkChange(link, owner: deleted, member: id, isAdded: false)
    }

    /// Notes that a later deletion of an owner would have reached an object that is deleted already.
    func noteReach(of owner: ObjectID, _ link: PropertyID, _ deleted: ObjectID) {
        guard binding.link(link)?.deleteRule == .cascade, !isDeleted(owner) else { return }
        pending.noteTaken([deleted], by: owner)
    }

    /// Takes a deleted object out of the members of another one.
    ///
    /// - Parameter isGoing: whether the owner is to be deleted too.
    func noteLoss(of deleted: ObjectID, from owner: ObjectID, _ link: PropertyID, isGoing: Bool) {
        // The members of an owner that is deleted without an object cannot be looked at.
        if pending.deletedRows.contains(owner) || isGoing && map[owner] == nil { return }
        guard let pairs = binding.link(link), pairs.isPairs else {
            return noteLinkChange(link, owner: owner, member: deleted, isAdded: false)
        }
        toManyState(pairs, owner).remove(deleted)
        pendingLinks.notePairChange()
    }

    /// Applies the delete rule of a deleted object to one that others linked to it meanwhile.
    func applyDeleteRule(of deleted: ObjectID, to member: ObjectID, leadingBy toOne: PropertyID) throws {
        switch binding.schema.links.deleteRule(of: deleted.entityID, forObjectsLeadingBy: toOne) {
        case .cascade:
            pending.noteTaken([member], by: deleted)
            try deleteAll(from: member, isItself: false)
        case .nullify: try cutReference(toOne, of: member, from: deleted)
        case .deny, .noAction: return
        }
    }

    /// The members of a deleted object. It leaves no list behind: each of them would be looked for in it and taken out
    /// when it is deleted too.
    func membersOfDeleted(_ link: Link, _ owner: ObjectID, _ snapshot: Snapshot) throws -> [ObjectID] {
        foldLinkChanges()
        let state = knownState(link, owner)
        if let members = state?.members {
            state?.forgetMembers()
            return members
        }
        if isNew(owner) { return state?.merged(with: []).map(\.id) ?? [] }
        guard let state, state.hasChanges else { return try snapshot.members(of: link.id, owner: owner) }
        var list: [(id: ObjectID, position: Int64)] = []
        try snapshot.membersWithPositions(of: link.id, owner: owner) { member, position in
            list.append((member, position))
            return true
        }
        return state.merged(with: list).map(\.id)
    }

    /// The errors for a deleted object that the rule `deny` protects, for `validateForDelete`.
    func deniedDeletions(of object: ManagedObject) throws -> [StrataError] {
        try ObjectDeletion(context: self).deniedDeletions(of: object.objectID, object)
    }

    func isDeleted(_ id: ObjectID) -> Bool {
        if pending.deletedRows.contains(id) { return true }
        return map[id].map { $0._state & (ObjectState.deleted | ObjectState.inaccessible) != 0 } ?? false
    }
}

/// The deletion of objects that are in memory.
private struct ObjectDeletion: DeletionHost {
    let context: ManagedObjectContext

    var schema: Schema { context.binding.schema }

    func isUnsaved(_ object: ManagedObject) -> Bool { object._flags.contains(.withdrawn) }

    func isDeleted(_ id: ObjectID) -> Bool { context.isDeleted(id) }

    func target(of toOne: SlotLink, in object: ManagedObject, _ id: ObjectID) -> ObjectID? {
        let target = object.reference(object._entity.property(slot: toOne.slot).location)
        return target.isNil ? nil : target
    }

    func members(of link: Link, owner: ObjectID) throws -> [ObjectID] {
        try context.read { try context.membersOfDeleted(link, owner, $0) }
    }

    mutating func lose(_ deleted: ObjectID, from owner: ObjectID, _ link: PropertyID, isGoing: Bool) {
        context.noteReach(of: owner, link, deleted)
        context.noteLoss(of: deleted, from: owner, link, isGoing: isGoing)
        if !isGoing { context.noteLostMember(of: owner, link) }
    }

    mutating func cut(_ toOne: PropertyID, of object: ObjectID, from deleted: ObjectID) throws {
        try context.cutReference(toOne, of: object, from: deleted)
    }

    mutating func cascade(to members: [ObjectID], from deleted: ObjectID) {
        context.pending.noteTaken(members, by: deleted)
    }
}
