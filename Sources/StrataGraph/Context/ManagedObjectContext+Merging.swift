import StrataModel
import StrataStore

// Merging is three-way, per slot: base is the row as this context read it, theirs the row now, mine the row here. A
// slot that only one side changed is that side's; changed to different values on both sides it is a conflict. All
// conflicts of a save are thrown together, and then nothing has moved.

extension ManagedObjectContext {
    /// Takes what others saved into the pending changes, so that the save can be submitted again.
    ///
    /// - Throws: `merge` (133020) with every conflict that the policy does not settle; then the pending changes and the
    ///   context's place are as they were.
    func merge(_ staleness: Staleness) throws {
        let settled = try settle(staleness)
        let words = Dictionary(settled.map { ($0.stale.id, $0) }, uniquingKeysWith: { $1 })
        let partners = pendingPartners(changedByOthers: Set(words.keys)) { id, name in
            words[id].flatMap { settled in settled.conflict.flatMap { settled.resolution.word(on: name, in: $0) } }
        }
        for object in settled {
            try adopt(object)
            pending.noteMerged(object.stale.id)
        }
        pending.settleVanished()
        let before = base
        standpoint.move(to: staleness.head)
        pendingLinks.forgetMembers()
        let news = try refreshRows(changesToShow(after: before, through: staleness.head))
        invalidateLayers()
        try rebuildLinkChanges()
        try settlePairs()
        record(try settlePartners(partners), in: &saving.overruled, mergePolicy)
        try cutLinks(staleness.missingTargets)
        for object in settled { try setTargets(of: object) }
        try takeUnforeseenMembers(staleness.members)
        undoManager?.rebase()
        if let news { announce(news) }
    }

    /// Asks the policy about every conflict; changes nothing but the list of what it overrules.
    private func settle(_ staleness: Staleness) throws -> [SettledObject] {
        var settled: [SettledObject] = []
        var records: [ConflictRecord] = []
        var failed: [MergeConflict] = []
        func ask(_ conflict: MergeConflict) throws -> MergeResolution {
            try mergePolicy.resolution(of: conflict) {
                try binding.store.named(
                    binding.store.history(of: conflict.objectID, after: base).reversed())
            }
        }
        func note(_ conflict: MergeConflict, _ resolution: MergeResolution) {
            guard let winner = resolution.winner else { return failed.append(conflict) }
            if conflict.isAgreed { return }
            records.append(ConflictRecord(conflict, winner: winner, policy: mergePolicy.name))
        }
        for stale in staleness.objects {
            guard let object = map[stale.id] ?? objectOfDeletedRow(stale.id) else { continue }
            let conflict = try conflict(object, stale)
            let resolution = try conflict.map(ask) ?? .mine
            if case .values(let values) = resolution { try object.checkValues(values) }
            settled.append(SettledObject(stale: stale, conflict: conflict, resolution: resolution))
        }
        try keepDeletionsOfMembers(&settled)
        for object in settled {
            if let conflict = try widened(object) { note(conflict, object.resolution) }
        }
        let remade = Set(settled.lazy.filter(\.isMadeAgain).map(\.stale.id))
        for missing in staleness.missingTargets where !remade.contains(missing.target) {
            guard let conflict = try conflict(missing, staleness) else { continue }
            // Nothing links to what is gone, whoever is to win.
            note(conflict, try ask(conflict) == .fail ? .fail : .theirs)
        }
        guard failed.isEmpty else {
            throw StrataError(
                .merge,
                "Others changed \(failed.count == 1 ? "an object" : "\(failed.count) objects") of this save.",
                context: .init(
                    entityName: failed[0].entityName, objectID: failed[0].objectID, conflicts: failed))
        }
        saving.overruled += records
        return settled
    }

    // MARK: Members of what goes

    /// My deletion of an object is not taken back where it would go all the same: as a member, still, of an object that
    /// this save deletes with its members.
    private func keepDeletionsOfMembers(_ settled: inout [SettledObject]) throws {
        var returning = Set(settled.lazy.filter { self.comesBack($0) }.map(\.stale.id))
        var isSettled = returning.isEmpty
        while !isSettled {
            isSettled = true
            for (index, object) in settled.enumerated() where returning.contains(object.stale.id) {
                guard try goesWithItsOwner(object.stale, returning) else { continue }
                settled[index] = SettledObject(stale: object.stale, conflict: object.conflict, resolution: .mine)
                returning.remove(object.stale.id)
                isSettled = false
            }
        }
    }

    private func comesBack(_ settled: SettledObject) -> Bool {
        settled.stale.theirs != nil && settled.resolution != .fail && !settled.resolution.keepsMyDeletion
            && isDeleted(settled.stale.id)
    }

    private func goesWithItsOwner(_ stale: Staleness.StaleObject, _ returning: Set<ObjectID>) throws -> Bool {
        guard let theirs = stale.theirs, let entity = binding.entity(stale.id.entityID) else { return false }
        return try theirs.withReader(entity.layout) { reader throws(CorruptRecord) in
            entity.toOneIndexes.contains { index in
                let property = entity.properties[index]
                guard property.isInRow else { return false }
                let owner = reader.reference(property.slot)
                guard !owner.isNil, isDeleted(owner), !returning.contains(owner) else { return false }
                return binding.entity(owner.entityID).map { rule(of: $0, for: property.id) } == .cascade
            }
        }
    }

    // MARK: Conflicts

    private func conflict(_ object: ManagedObject, _ stale: Staleness.StaleObject) throws -> MergeConflict? {
        let isDeletedHere = object._flags.contains(.deleted)
        guard let theirs = stale.theirs else {
            // Both deleted it: agreed.
            if isDeletedHere { return nil }
            return MergeConflict(
                objectID: object.objectID, entityName: object._entity.name, isDeletedInStore: true,
                isDeletedHere: false, properties: try properties(object, mine: object.changedSlots.slots, theirs: nil))
        }
        let isChangedHere = object._base != nil
        guard isDeletedHere || isChangedHere else { return nil }
        let base = try object.baseImage()
        let changed = theirs.withBytes { bytes in
            object._entity.schema.properties.indices.filter {
                let property = object._entity.property(slot: $0)
                return property.isInRow && !property.isDerived && !object._entity.isEqual(slot: $0, bytes, base)
            }
        }
        if isDeletedHere {
            // What is derived goes with the object that it is derived for.
            if changed.isEmpty, !object._entity.derivedSlots.isEmpty { return nil }
            // What they changed would be lost with the object.
            return MergeConflict(
                objectID: object.objectID, entityName: object._entity.name, isDeletedInStore: false,
                isDeletedHere: true, properties: try properties(object, mine: changed, theirs: theirs))
        }
        let mine = object.slotsThatDiffer(from: base)
        // An attribute that both changed is in conflict even where both wrote the same: two that add one to a counter
        // would else be merged to one more. A link that both made is the same link.
        let both = theirs.withBytes { bytes in
            changed.filter { slot in
                guard mine.contains(slot) else { return false }
                return object._entity.property(slot: slot).attribute != nil
                    || !object._entity.isEqual(slot: slot, bytes, object.rowBytes)
            }
        }
        // Places are nobody's words: mine stand.
        let real = both.filter { object._entity.property(slot: $0).kind != .position }
        guard !real.isEmpty else { return nil }
        return MergeConflict(
            objectID: object.objectID, entityName: object._entity.name, isDeletedInStore: false, isDeletedHere: false,
            properties: try properties(object, mine: real, theirs: theirs))
    }

    /// The conflict with all that the resolution overrules: of a whole object also what only one side changed.
    private func widened(_ settled: SettledObject) throws -> MergeConflict? {
        guard let conflict = settled.conflict, let theirs = settled.stale.theirs, !conflict.isDeletedHere,
            let object = map[settled.stale.id]
        else { return settled.conflict }
        let base = try object.baseImage()
        let lost: [Int]
        switch settled.resolution {
        case .allMine: lost = object._entity.slotsInRow.filter { !object._entity.derivedSlots.contains($0) }
        case .allTheirs: lost = object.slotsThatDiffer(from: base).slots
        default: return conflict
        }
        let slots = theirs.withBytes { bytes in
            lost.filter { slot in
                let property = object._entity.property(slot: slot)
                if conflict.properties.contains(where: { $0.name == property.name }) { return true }
                return property.kind != .position && !object._entity.isEqual(slot: slot, bytes, object.rowBytes)
            }
        }
        return MergeConflict(
            objectID: conflict.objectID, entityName: conflict.entityName, isDeletedInStore: false,
            isDeletedHere: false, properties: try properties(object, mine: slots, theirs: theirs))
    }

    private func properties(
        _ object: ManagedObject, mine slots: [Int], theirs: RowImage?
    ) throws -> [MergeConflict.Property] {
        let layout = object._entity.layout
        let base = try RowReader(try object.baseImage(), layout: layout)
        return try slots.compactMap { slot in
            let property = object._entity.property(slot: slot)
            guard property.index < object._entity.declaredCount else { return nil }
            return MergeConflict.Property(
                name: property.name, base: try base.value(slot),
                theirs: try theirs?.withReader(layout) { reader throws(CorruptRecord) in try reader.value(slot) }
                    ?? .null,
                mine: object._flags.contains(.deleted) ? .null : object.attributeValue(property))
        }
    }

    /// A link to an object that others deleted.
    private func conflict(_ missing: Staleness.MissingTarget, _ staleness: Staleness) throws -> MergeConflict? {
        let id = map[missing.source] == nil ? missing.target : missing.source
        guard let object = map[id] else { return nil }
        let property = object._entity.property(missing.property)
        let before = property.map { object.baseReference($0.place) } ?? ObjectID(rawValue: 0)
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
    private func takeUnforeseenMembers(_ members: [Staleness.UnforeseenMember]) throws {
        for found in members {
            // The policy may have taken the deletion back.
            guard isDeleted(found.deleted), let owner = binding.entity(found.deleted.entityID) else { continue }
            switch rule(of: owner, for: found.toOne) {
            case .cascade: try deleteAll(from: found.member)
            case .nullify:
                guard !pending.deletedRows.contains(found.member), let member = registeredOrFault(found.member) else {
                    continue
                }
                try member.clearReference(found.toOne, to: found.deleted)
                guard let property = member._entity.property(found.toOne), case .toMany(let link, _) = property.inverse
                else { continue }
                noteLinkChange(link, owner: found.deleted, member: found.member, isAdded: false)
            case .deny, .noAction: continue
            }
        }
    }

    private func rule(of owner: EntityRuntime, for toOne: PropertyID) -> DeleteRule {
        for property in owner.properties {
            guard let relationship = property.relationship, relationship.inverse == toOne else { continue }
            return relationship.description.deleteRule
        }
        return .nullify
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
