import StrataModel
import StrataStore

// Settles clashes of a unique value that an object of another save, or another new object, has already. The policy
// `error` reports them; every other policy settles them: a new object gives way to the stored one, or to the first of
// the new ones, and links to it lead there. A saved object takes its change back, or the save fails.

extension ManagedObjectContext {
    /// Settles every clash of a save that the store refused, so that it can be submitted again.
    ///
    /// - Throws: `refusal` when one cannot be settled: two saved objects of which mine is to win.
    func settleClashes(_ refusal: StrataError) throws {
        guard mergePolicy.settlesSilently, mergePolicy.resolve == nil else { throw refusal }
        // The other object may be younger than what this context has seen.
        try moveToHead()
        for clash in refusal.details.isEmpty ? [refusal] : refusal.details {
            let all = (clash.context.objectID.map { [$0] } ?? []) + clash.context.conflictingObjectIDs
            let holders = all.filter { map[$0].map { !$0._flags.contains(.withdrawn) } ?? true }
            // Settled with another clash of the same objects.
            guard holders.count > 1 else { continue }
            let mine = holders.filter { isNew($0) }.sorted()
            let stored = holders.filter { !isNew($0) }
            switch (mine.count, stored.count) {
            case (1..., 1):
                for id in mine { try replace(id, by: try existingObject(with: stored[0]), clash) }
            case (2..., 0):
                for id in mine.dropFirst() { try replace(id, by: try existingObject(with: mine[0]), clash) }
            case (0, 2) where !mergePolicy.prefersMine:
                guard let changed = stored.compactMap({ map[$0] }).first(where: { $0._flags.contains(.updated) }) else {
                    throw refusal
                }
                try takeBack(changed, clash, holder: stored.first { $0 != changed.objectID })
            default: throw refusal
            }
        }
    }

    private static func names(_ clash: StrataError) -> [String] {
        (clash.context.key ?? "").split(separator: ",").map { String($0.prefix { $0 != "." }) }
    }

    private func record(
        _ object: ManagedObject, _ clash: StrataError, mine: ManagedObject, _ winner: ConflictRecord.Winner,
        holder: ObjectID? = nil
    ) {
        let properties = Self.names(clash).compactMap { name -> MergeConflict.Property? in
            guard let property = object._entity.property(named: name), property.isInRow else { return nil }
            var described = MergeConflict.Property(
                name: name, base: .null, theirs: object.attributeValue(property), mine: mine.attributeValue(property))
            described.isEncrypted = property.cipher != nil
            return described
        }
        let conflict = MergeConflict(
            objectID: object.objectID, entityName: object._entity.name, isDeletedInStore: false, isDeletedHere: false,
            properties: properties)
        saving.overruled.append(ConflictRecord(conflict, winner: winner, policy: mergePolicy.name, holder: holder))
    }

    // MARK: Two objects become one

    private func replace(_ id: ObjectID, by stored: ManagedObject, _ clash: StrataError) throws {
        guard let new = map[id], stored._state & ObjectState.unlinkable == 0, new._entity.id == stored._entity.id
        else { throw clash }
        record(stored, clash, mine: new, mergePolicy.prefersMine ? .mine : .theirs)
        if mergePolicy.prefersMine { try copyValues(from: new, to: stored) }
        try redirectReferences(from: new, to: stored)
        try redirectPairs(from: new, to: stored)
        // Its to-ones are cleared first, so that the delete rules touch no target: the app has deleted nothing.
        for index in new._entity.toOneIndexes where new._entity.properties[index].isInRow {
            try new.changeTarget(nil, at: index)
        }
        delete(new)
    }

    /// Values that were given; under `overwrite` the defaults too.
    private func copyValues(from new: ManagedObject, to stored: ManagedObject) throws {
        let fresh = UnsafeRawBufferPointer(new._entity.template)
        for property in new._entity.properties where property.isInRow && property.index < new._entity.declaredCount {
            let isGiven = !new._entity.isEqual(slot: property.slot, new.rowBytes, fresh)
            guard isGiven || mergePolicy.kind == .overwrite else { continue }
            if property.relationship != nil {
                let target = new.reference(property.location)
                try stored.changeTarget(target.isNil ? nil : registeredOrFault(target), at: property.index)
            } else {
                try stored.write(new.attributeValue(property), to: property)
            }
        }
    }

    private func redirectReferences(from new: ManagedObject, to stored: ManagedObject) throws {
        for list in [pending.inserted, pending.updated] {
            for object in list where object !== new && object._flags.isPending && !object._flags.contains(.deleted) {
                for index in object._entity.toOneIndexes {
                    let property = object._entity.properties[index]
                    guard property.isInRow, object.reference(property.location) == new.objectID else { continue }
                    try object.changeTarget(stored, at: index)
                }
            }
        }
    }

    private func redirectPairs(from new: ManagedObject, to stored: ManagedObject) throws {
        foldLinkChanges()
        for state in pendingLinks.states.values where state.link.isPairs && state.owner == new.objectID {
            for member in try members(state) {
                try unlinkPair(state, member)
                try linkPair(toManyState(state.link, stored.objectID), member, at: nil)
            }
        }
    }

    // MARK: A change goes back

    private func takeBack(_ changed: ManagedObject, _ clash: StrataError, holder: ObjectID?) throws {
        record(changed, clash, mine: changed, .theirs, holder: holder)
        let base = try RowReader(try changed.baseImage(), layout: changed._entity.layout)
        for name in Self.names(clash) {
            guard let property = changed._entity.property(named: name), property.isInRow else { continue }
            let value = try base.value(property.slot)
            if property.relationship != nil {
                if case .objectID(let id) = value {
                    try changed.changeTarget(registeredOrFault(id), at: property.index)
                } else {
                    try changed.changeTarget(nil, at: property.index)
                }
            } else {
                try changed.write(value, to: property)
            }
        }
    }
}
