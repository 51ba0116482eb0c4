import StrataModel
import StrataStore

// A save was overtaken: others saved first. The policy is asked about every conflict before anything moves; then the
// context moves to their state (`ContextMove`), with its own changes on top, and the save is submitted again.

extension ManagedObjectContext {
    /// Merges the saves of others into the pending changes, so that the save can be submitted again.
    ///
    /// - Throws: `merge` (133020) with every conflict that the policy does not settle; then the pending changes and the
    ///   context's place are as they were.
    func merge(_ staleness: Staleness) throws {
        let settled = try settle(staleness)
        let returning = ReturningDeletions(settled, in: self)
        record(try move(.overtaken(staleness, settled, returning)), in: &saving.overruled, mergePolicy)
    }

    /// Asks the policy about every conflict; changes only the list of decided conflicts.
    private func settle(_ staleness: Staleness) throws -> [SettledObject] {
        var records = ConflictRecords(mergePolicy)
        func ask(_ conflict: MergeConflict) throws -> MergeResolution {
            try mergePolicy.resolution(of: conflict) {
                try binding.store.named(binding.store.history(of: conflict.objectID, after: base).reversed())
            }
        }
        var settled: [SettledObject] = []
        for stale in staleness.objects {
            guard let object = map[stale.id] ?? objectOfDeletedRow(stale.id) else { continue }
            let merge = try RowMerge(object, against: stale.theirs)
            let conflict = try merge.conflict.map { try described(merge, $0.slots, object, stale) }
            let resolution = try conflict.map(ask) ?? .mine
            if case .values(let values) = resolution { try object.checkValues(values) }
            settled.append(SettledObject(stale: stale, merge: merge, conflict: conflict, resolution: resolution))
        }
        try keepDeletionsOfMembers(&settled)
        for settled in settled where settled.conflict != nil {
            guard let object = map[settled.stale.id] else { continue }
            let slots = settled.merge.overruled(by: settled.resolution)
            records.note(try described(settled.merge, slots, object, settled.stale), settled.resolution)
        }
        let remade = Set(settled.lazy.filter { $0.outcome == .madeAgain }.map(\.stale.id))
        for missing in staleness.missingTargets where !remade.contains(missing.target) {
            guard let conflict = try conflict(missing, staleness) else { continue }
            // No link leads to a deleted object, whichever side wins.
            records.note(conflict, try ask(conflict) == .fail ? .fail : .theirs)
        }
        try records.throwFailed { objects, _ in "Others changed \(objects) of this save." }
        saving.overruled += records.overruled
        return settled
    }

    /// The conflict of an object with the values of some slots.
    private func described(
        _ merge: RowMerge, _ slots: [Int], _ object: ManagedObject, _ stale: Staleness.StaleObject
    ) throws -> MergeConflict {
        let layout = object._entity.layout
        let base = try RowReader(try object.baseImage(), layout: layout)
        return try MergeConflict(object.objectID, object._entity, merge, slots) { property in
            let theirs = try stale.theirs?.withReader(layout) { reader throws(CorruptRecord) in
                try reader.value(property.slot)
            }
            return (try base.value(property.slot), theirs ?? .null, object.attributeValue(property))
        }
    }

    // MARK: Members of deleted objects

    /// My deletion of an object is not taken back where it would go all the same: as a member, still, of an object that
    /// this save deletes with its members.
    private func keepDeletionsOfMembers(_ settled: inout [SettledObject]) throws {
        var returning = Set(settled.lazy.filter { $0.outcome == .comesBack }.map(\.stale.id))
        var isSettled = returning.isEmpty
        while !isSettled {
            isSettled = true
            for (index, object) in settled.enumerated() where returning.contains(object.stale.id) {
                guard try goesWithItsOwner(object.stale, returning) else { continue }
                settled[index].resolution = .mine
                returning.remove(object.stale.id)
                isSettled = false
            }
        }
    }

    private func goesWithItsOwner(_ stale: Staleness.StaleObject, _ returning: Set<ObjectID>) throws -> Bool {
        guard let theirs = stale.theirs, let entity = binding.entity(stale.id.entityID) else { return false }
        return try theirs.withReader(entity.layout) { reader throws(CorruptRecord) in
            entity.toOneIndexes.contains { index in
                let property = entity.properties[index]
                guard property.isInRow else { return false }
                let owner = reader.reference(property.slot)
                guard !owner.isNil, isDeleted(owner), !returning.contains(owner) else { return false }
                return binding.schema.links.deleteRule(of: owner.entityID, forObjectsLeadingBy: property.id) == .cascade
            }
        }
    }

    // MARK: Conflicts

    /// A link to an object that others deleted.
    private func conflict(_ missing: Staleness.MissingTarget, _ staleness: Staleness) throws -> MergeConflict? {
        let id = map[missing.source] == nil ? missing.target : missing.source
        guard let object = map[id] else { return nil }
        let property = object._entity.property(missing.property)
        let before = property.map { object.baseReference($0.location) } ?? ObjectID(rawValue: 0)
        let base: AttributeValue = property?.isInRow ?? false && !before.isNil ? .objectID(before) : .null
        var theirs = AttributeValue.null
        // A link that falls leaves the one that there was; see PartnerMerge.
        if let property, object.linkEnd(property) != nil {
            theirs = base
            if let row = staleness.objects.first(where: { $0.id == id })?.theirs {
                theirs = try row.withReader(object._entity.layout) { reader throws(CorruptRecord) in
                    try reader.value(property.slot)
                }
            }
        }
        return MergeConflict(
            objectID: object.objectID, entityName: object._entity.name, isDeletedInStore: false, isDeletedHere: false,
            properties: [
                .init(
                    name: property?.name ?? binding.link(missing.property)?.name ?? "", base: base, theirs: theirs,
                    mine: .objectID(missing.target))
            ])
    }

    // MARK: Taking theirs

    /// Drops changes of pairs that others made too.
    func settlePairs() throws {
        guard pendingLinks.pairGeneration != 0 else { return }
        pendingLinks.notePairChange()
        let states = pendingLinks.states.values.filter { $0.link.isPairs && $0.hasChanges && !isNew($0.owner) }
        try read { snapshot in
            for state in states {
                for (member, change) in state.pending where !isNew(member) {
                    let isLinked = try snapshot.isMember(member, of: state.link.id, owner: state.owner)
                    switch change {
                    case .added where isLinked && state.link.isOrdered: state.settleAsMoved(member)
                    case .added where isLinked, .removed where !isLinked, .moved where !isLinked:
                        state.settle(member)
                    default: break
                    }
                }
            }
        }
    }

    /// Applies the delete rules to members that others linked to an object which this save deletes.
    func takeUnforeseenMembers(_ members: [Staleness.UnforeseenMember]) throws {
        // The policy may have taken the deletion back.
        for found in members where isDeleted(found.deleted) {
            try applyDeleteRule(of: found.deleted, to: found.member, leadingBy: found.toOne)
        }
    }
}

extension ManagedObject {
    /// The row before any change.
    final func baseImage() throws -> UnsafeRawBufferPointer {
        guard let base = baseBytes else { throw corruption(CorruptRecord("a new object has no base", at: 0)) }
        return base
    }
}

extension RowImage {
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }
}
