import StrataModel
import StrataStore

extension ManagedObjectContext {
    /// Marks the object to be deleted by the next save, and applies the delete rules of its relationships at once:
    /// what cascades is deleted, what is nullified points at nothing. `deny` is judged by the save, so that the members
    /// may still be deleted or moved first.
    ///
    /// A cascade makes objects only of classes that override a hook of deletions (`prepareForDeletion`, `willSave`,
    /// `didSave`, `validateForDelete`); of the others it knows the ids (`deletedObjectIDs`).
    ///
    /// An object that was never saved just leaves the context, and whatever pointed at it points at nothing, also where
    /// the rule is `deny` or `noAction`. Deleting a deleted object does nothing.
    public func delete(_ object: ManagedObject) {
        do {
            if object._context !== self {
                if object._state & ObjectState.detached != 0, object._context == nil { return }
                throw StrataError(.otherContext, "The object belongs to another context.", context: object.place())
            }
            try deleteAll(from: object.objectID)
        } catch {
            report(Self.typed(error))
        }
    }

    /// Cascades follow a list, not the stack: a chain may be a million objects long.
    func deleteAll(from first: ObjectID) throws {
        var waiting = [first]
        while !waiting.isEmpty {
            try deleteRows(&waiting)
            guard let id = waiting.popLast(), let object = registeredOrFault(id) else { continue }
            try delete(object, &waiting)
        }
    }

    private func delete(_ object: ManagedObject, _ waiting: inout [ObjectID]) throws {
        if object._state & (ObjectState.deleted | ObjectState.inaccessible) != 0 { return }
        guard !isReadOnly else { throw readOnlyError }
        // Two that delete each other there are each told once.
        if object._flags.contains(.preparesDeletion) { return }
        object.beginPreparingDeletion()
        object.prepareForDeletion()
        object.endPreparingDeletion()
        if object._state & ObjectState.fault != 0 { try load(object) }
        if object._state & (ObjectState.deleted | ObjectState.inaccessible) != 0 { return }
        markDeleted(object)
        try propagateDeletion(of: object, to: &waiting)
    }

    private func markDeleted(_ object: ManagedObject) {
        pending.noteDeleted(object)
        object.announceAllChanged()
    }

    // MARK: Delete rules

    /// Applies the rules of a deleted object; what cascades is added to `waiting`.
    private func propagateDeletion(of object: ManagedObject, to waiting: inout [ObjectID]) throws {
        let entity = object._entity
        for index in entity.toOneIndexes { try propagate(object, entity.properties[index], &waiting) }
        for index in entity.toManyIndexes {
            guard let link = binding.link(entity.properties[index].id) else { continue }
            try propagate(object, link, Self.rule(link.deleteRule, of: object), &waiting)
        }
        for link in binding.incomingLinks(of: entity.id) { try propagate(object, link, .nullify, &waiting) }
    }

    /// What the store never knew can neither be denied to go nor be pointed at afterwards.
    private static func rule(_ rule: DeleteRule, of object: ManagedObject) -> DeleteRule {
        object._flags.contains(.withdrawn) && rule != .cascade ? .nullify : rule
    }

    private func propagate(
        _ object: ManagedObject, _ property: PropertyRuntime, _ waiting: inout [ObjectID]
    ) throws {
        guard property.isInRow, let relationship = property.relationship else { return }
        let target = object.reference(property.place)
        guard !target.isNil else { return }
        let rule = Self.rule(relationship.description.deleteRule, of: object)
        switch property.inverse {
        case .toMany(let link, _):
            noteLinkChange(link, owner: target, member: object.objectID, isAdded: false)
        case .toOne(let inverse):
            if rule == .nullify, !pending.deletedRows.contains(target) {
                try registeredOrFault(target)?.clearReference(inverse, to: object.objectID)
            }
        case .none: break
        }
        if rule == .cascade { waiting.append(target) }
    }

    private func propagate(
        _ object: ManagedObject, _ link: Link, _ rule: DeleteRule, _ waiting: inout [ObjectID]
    ) throws {
        let id = object.objectID
        foldLinkChanges()
        switch link.source {
        case .rows(let toOne):
            switch rule {
            case .cascade: waiting += try read { try membersOfDeleted(link, id, $0) }
            case .nullify:
                for member in try members(toManyState(link, id)) where !pending.deletedRows.contains(member) {
                    guard let member = registeredOrFault(member), let property = member._entity.property(toOne) else {
                        continue
                    }
                    try member.clearReference(toOne, to: id)
                    guard case .toMany(let inverse, _) = property.inverse else { continue }
                    noteLinkChange(inverse, owner: id, member: member.objectID, isAdded: false)
                }
            case .deny, .noAction: break
            }
        case .pairs(_, _, _, let inverse):
            guard rule != .deny else { return }
            try read {
                try leavePairs(link, inverse, of: id, isCascade: rule == .cascade, $0, &waiting)
            }
        }
    }

    /// What a deleted object still denies, for `validateForDelete`.
    func deniedDeletions(of object: ManagedObject) throws -> [StrataError] {
        try object._entity.denyIndexes.map { object._entity.properties[$0] }.compactMap { property in
            var remain = false
            if property.isToMany, let link = binding.link(property.id) {
                remain = try members(toManyState(link, object.objectID)).contains { !isDeleted($0) }
            } else if property.isInRow {
                let target = object.reference(property.place)
                remain = !target.isNil && !isDeleted(target)
            }
            return remain ? deniedDeletion(of: object, property) : nil
        }
    }

    func deniedDeletion(of object: ManagedObject, _ property: PropertyRuntime) -> StrataError {
        StrataError(
            .validationRelationshipDeniedDelete,
            "\(object._entity.name) cannot be deleted while \(property.name) is not empty.",
            context: object.place(property.name))
    }

    func isDeleted(_ id: ObjectID) -> Bool {
        if pending.deletedRows.contains(id) { return true }
        return map[id].map { $0._state & (ObjectState.deleted | ObjectState.inaccessible) != 0 } ?? false
    }
}
