import StrataModel
import StrataStore

extension ManagedObjectContext {
    /// Marks the object to be deleted by the next save, and applies the delete rules of its relationships at once:
    /// what cascades is deleted, what is nullified points at nothing. `deny` is judged by the save, so that the members
    /// may still be deleted or moved first.
    ///
    /// An object that was never saved just leaves the context. Deleting a deleted object does nothing.
    public func delete(_ object: ManagedObject) {
        do {
            try deleteAll(from: object)
        } catch {
            report(Self.typed(error))
        }
    }

    /// Cascades follow a list, not the stack: a chain may be a million objects long.
    private func deleteAll(from first: ManagedObject) throws {
        var waiting = [first]
        while let object = waiting.popLast() {
            if object._context !== self {
                if object._state & ObjectState.detached != 0, object._context == nil { continue }
                throw StrataError(.otherContext, "The object belongs to another context.", context: object.place())
            }
            if object._state & (ObjectState.deleted | ObjectState.inaccessible) != 0 { continue }
            guard !isReadOnly else { throw readOnlyError }
            object.prepareForDeletion()
            if object._state & ObjectState.fault != 0 { try load(object) }
            if object._state & (ObjectState.deleted | ObjectState.inaccessible) != 0 { continue }
            markDeleted(object)
            try propagateDeletion(of: object, to: &waiting)
        }
    }

    private func markDeleted(_ object: ManagedObject) {
        object._state |= ObjectState.deleted
        if object._flags.contains(.inserted) {
            object._flags.remove(.inserted)
            object._flags.insert(.withdrawn)
            withdrawnCount += 1
            touched.append(object)
        } else {
            object._flags.insert(.deleted)
            deleted.append(object)
        }
        object.announceAllChanged()
    }

    // MARK: Delete rules

    /// Applies the rules of a deleted object; what cascades is added to `waiting`.
    func propagateDeletion(of object: ManagedObject, to waiting: inout [ManagedObject]) throws {
        let entity = object._entity
        for index in entity.toOneIndexes { try propagate(object, entity.properties[index], &waiting) }
        for index in entity.toManyIndexes {
            guard let link = binding.link(entity.properties[index].id) else { continue }
            try propagate(object, link, link.deleteRule, &waiting)
        }
        for link in binding.incomingLinks(of: entity.id) { try propagate(object, link, .nullify, &waiting) }
    }

    private func propagate(
        _ object: ManagedObject, _ property: PropertyRuntime, _ waiting: inout [ManagedObject]
    ) throws {
        guard property.isInRow, let relationship = property.relationship else { return }
        let target = object.reference(property.place)
        guard !target.isNil else { return }
        let rule = relationship.description.deleteRule
        switch property.inverse {
        case .toMany(let link, _):
            noteLinkChange(link, owner: target, member: object.objectID, isAdded: false)
        case .toOne(let inverse):
            if rule == .nullify { try registeredOrFault(target)?.clearReference(inverse, to: object.objectID) }
        case .none: break
        }
        if rule == .cascade, let other = registeredOrFault(target) { waiting.append(other) }
    }

    private func propagate(
        _ object: ManagedObject, _ link: LinkRuntime, _ rule: DeleteRule, _ waiting: inout [ManagedObject]
    ) throws {
        let state = toManyState(link, object.objectID)
        switch link.source {
        case .rows(let toOne):
            switch rule {
            case .cascade:
                for id in try members(state) {
                    if let member = registeredOrFault(id) { waiting.append(member) }
                }
            case .nullify:
                for id in try members(state) {
                    guard let member = registeredOrFault(id), let property = member._entity.property(toOne) else {
                        continue
                    }
                    try member.clearReference(toOne, to: object.objectID)
                    guard case .toMany(let inverse, _) = property.inverse else { continue }
                    noteLinkChange(inverse, owner: object.objectID, member: id, isAdded: false)
                }
            case .deny, .noAction: break
            }
        case .pairs(_, _, _, let inverseID):
            // The store unlinks the pairs of a deleted object; here only the other ends hear of it.
            guard rule != .deny else { return }
            for id in try members(state) {
                if rule == .cascade, let member = registeredOrFault(id) { waiting.append(member) }
                guard let inverse = binding.link(inverseID), id != object.objectID else { continue }
                toManyState(inverse, id).remove(object.objectID)
            }
            pairGeneration += 1
        }
    }

    /// What a deleted object still denies, for `validateForDelete`.
    func deniedDeletions(of object: ManagedObject) throws -> [StrataError] {
        var errors: [StrataError] = []
        let entity = object._entity
        for property in entity.properties {
            guard let relationship = property.relationship, relationship.description.deleteRule == .deny else {
                continue
            }
            var remain = false
            if property.isToMany, let link = binding.link(property.id) {
                remain = try members(toManyState(link, object.objectID)).contains { !isDeleted($0) }
            } else if property.isInRow {
                let target = object.reference(property.place)
                remain = !target.isNil && !isDeleted(target)
            }
            guard remain else { continue }
            errors.append(
                StrataError(
                    .validationRelationshipDeniedDelete,
                    "\(entity.name) cannot be deleted while \(property.name) is not empty.",
                    context: object.place(property.name)))
        }
        return errors
    }

    func isDeleted(_ id: ObjectID) -> Bool {
        map[id].map { $0._state & (ObjectState.deleted | ObjectState.inaccessible) != 0 } ?? false
    }
}
