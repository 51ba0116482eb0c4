import StrataModel
package import StrataStore

// Changes that were made elsewhere (in a child context, by a step of undo, by a transaction that is taken back) become
// changes of this context. Conflicts are decided first (`ChangeApplication`). Then objects come back under their own
// ids, values and to-ones are set, one-to-ones settled, and pairs set. Objects are deleted last, by the delete rules,
// so that objects which the changes do not know of are left in order too.

extension ManagedObjectContext {
    /// Makes the changes in this context, and replaces other values; values that are equal already are left alone.
    package func apply(_ changes: NetChanges) throws { _ = try apply(changes, ChangeApplication.Rules()) }

    /// Makes the changes in this context.
    ///
    /// - Returns: the conflicts that the policy decided.
    /// - Throws: `merge` with every conflict that fails; then nothing was changed.
    func apply(_ changes: NetChanges, _ rules: ChangeApplication.Rules) throws -> [ConflictRecord] {
        guard !isReadOnly else { throw readOnlyError }
        let application = try ChangeApplication(changes, rules, in: self)
        let links = try move(.applied(application))
        guard let policy = rules.policy else { return [] }
        var records = application.records
        record(links, in: &records, policy)
        return records
    }

    // MARK: The steps, in the order of `ContextMove`

    func makeRows(of application: ChangeApplication) throws {
        try makeObjects(application)
        for id in application.going { try cutKnownLinks(of: id, application) }
        for id in application.ids { try setAttributes(of: id, application) }
        for id in application.ids { try setTargets(of: id, application) }
    }

    /// - Returns: links that were overruled.
    func applyPartners(_ partners: [LinkEnd: PartnerMerge.End]) throws -> [OverruledLink] {
        let merge = PartnerMerge(partners)
        let settled = try write(merge)
        try showDisplacedPartners()
        return overruled(merge, settled)
    }

    func finish(_ application: ChangeApplication) throws {
        for id in application.ids { try setGivenValues(of: id, application) }
        try setPairs(
            application.pairs.filter {
                $1.after != nil || !isCutByRules($0, application.deletedIDs) && !isDenying($0, application)
            })
        for id in application.going {
            if try presentObject(id) == nil { continue }
            try deleteAll(
                from: id, prepared: application.preparedDeletions,
                isItself: application.deletedItself.contains(id))
        }
    }

    /// Cuts the to-ones of a deleted object to objects that the changes keep: a delete rule would delete those too. The
    /// rules apply to objects that the changes do not contain.
    private func cutKnownLinks(of id: ObjectID, _ application: ChangeApplication) throws {
        guard let change = application.objects[id], let object = try presentObject(id) else { return }
        for index in object._entity.toOneIndexes {
            let property = object._entity.properties[index]
            guard property.isInRow, property.deleteRule != .noAction, !application.denies(property.id, of: id),
                let target = change.values[property.id]?.before.objectReference,
                !application.deletedIDs.contains(target), object.reference(property.location) == target
            else { continue }
            try object.changeTarget(nil, at: index)
        }
    }

    // MARK: Objects

    /// The object, read; nil when it is not there or its deletion is pending.
    func presentObject(_ id: ObjectID) throws -> ManagedObject? {
        do {
            return try existingObject(with: id)
        } catch let error as StrataError where error.code == .referentialIntegrity {
            return nil
        }
    }

    private func makeObjects(_ application: ChangeApplication) throws {
        var isChanged = false
        for id in application.ids {
            guard application.objects[id]?.existsAfter ?? false, let entity = binding.entity(id.entityID),
                try presentObject(id) == nil
            else { continue }
            bringBack(id, entity, wasThere: application.mayHaveBeenThere(id))
            isChanged = true
        }
        // An object whose deletion is taken back still points where it did; its owners do not know.
        if isChanged { try rebuildLinkChanges() }
    }

    /// Makes an object under an id that it had before, or takes its pending deletion back.
    private func bringBack(_ id: ObjectID, _ entity: EntityRuntime, wasThere: Bool) {
        if let known = map[id] ?? objectOfDeletedRow(id) {
            if known._flags.contains(.withdrawn) { return takeBackWithdrawal(of: known) }
            if known._flags.contains(.deleted) { return takeBackDeletion(of: known) }
            forgetWithChanges(known)
        }
        let object = entity.objectClass.init(
            _ObjectSeed(
                entity: entity, objectID: id, state: observesObjects ? ObjectState.observed : 0, context: self,
                isInserted: true))
        map.insert(object)
        pending.noteInserted(object)
        if wasThere { object.noteMadeAgain() }
    }

    private func takeBackWithdrawal(of object: ManagedObject) {
        pending.takeBackWithdrawal(of: object)
        object.announceAllChanged()
        // Its links went at their other ends only; those that come back are made again.
        for link in binding.pairLinks(of: object.objectID.entityID) {
            toManyState(link, object.objectID).forgetChanges()
            pendingLinks.notePairChange()
        }
    }

    // MARK: Values

    private func setAttributes(of id: ObjectID, _ application: ChangeApplication) throws {
        guard let change = application.objects[id], change.existsAfter, let object = try presentObject(id) else {
            return
        }
        for (property, value) in changedProperties(of: object, change) where property.relationship == nil {
            guard property.kind != .position, !object.storedValue(property).isIdentical(to: value) else { continue }
            try object.write(value, to: property)
        }
    }

    private func setTargets(of id: ObjectID, _ application: ChangeApplication) throws {
        guard let change = application.objects[id], change.existsAfter, let object = try presentObject(id) else {
            return
        }
        let properties = changedProperties(of: object, change)
        // A new owner's list is entered at its end; the changes say where, or that the position stays.
        var positions = positions(of: object)
        for (property, value) in properties where property.kind == .position { positions[property.slot] = value }
        for (property, value) in properties where property.isToOne {
            // Those are settled link by link.
            if object.linkEnd(property) != nil { continue }
            guard object.attributeValue(property) != value else { continue }
            // A target that is gone by now cannot be linked to.
            let target = try value.objectReference.flatMap { try presentObject($0) ?? heldTarget($0, property) }
            try object.changeTarget(target, at: property.index, mayBeDeleted: true)
        }
        for (slot, value) in positions.sorted(by: { $0.key < $1.key }) {
            guard object.attributeValue(object._entity.property(slot: slot)) != value else { continue }
            if case .integer(let position) = value { object.storePosition(position, slot: slot) }
            if value.isNull { object.clearPosition(slot: slot) }
        }
    }

    /// The object if its deletion is pending and leaves links to it as they are, until the save judges it.
    private func heldTarget(_ id: ObjectID, _ property: PropertyRuntime) -> ManagedObject? {
        switch binding.schema.links.deleteRule(of: id.entityID, forObjectsLeadingBy: property.id) {
        case .deny, .noAction: map[id].flatMap { $0._flags.contains(.deleted) ? $0 : nil }
        case .cascade, .nullify: nil
        }
    }

    private func setGivenValues(of id: ObjectID, _ application: ChangeApplication) throws {
        guard let values = application.given[id], let object = try presentObject(id) else { return }
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            let property = try object.declared(key)
            if property.relationship != nil {
                try object.changeTarget(try value.objectReference.flatMap { try presentObject($0) }, at: property.index)
            } else {
                try object.write(try object.boxed(value.isNull ? nil : value, for: property), to: property)
            }
        }
    }

    private func positions(of object: ManagedObject) -> [Int: AttributeValue] {
        var positions: [Int: AttributeValue] = [:]
        for property in object._entity.properties where property.kind == .position {
            positions[property.slot] = object.attributeValue(property)
        }
        return positions
    }

    private func changedProperties(
        of object: ManagedObject, _ change: NetChanges.Object
    ) -> [(PropertyRuntime, AttributeValue)] {
        change.values.compactMap { number, values in
            object._entity.property(number).flatMap { $0.isInRow && !$0.isDerived ? ($0, values.after) : nil }
        }.sorted { $0.0.slot < $1.0.slot }
    }

    // MARK: Pairs

    /// Whether the deletion of an end cuts a pair, and has no other effect on the other end than the changes.
    private func isCutByRules(_ key: PairKey, _ deleted: Set<ObjectID>) -> Bool {
        guard let link = binding.link(key.property), case .pairs(_, _, _, let inverse) = link.source else {
            return false
        }
        return switch (deleted.contains(key.source), deleted.contains(key.target)) {
        case (true, true): true
        case (true, false): link.deleteRule == .nullify
        case (false, true): binding.link(inverse)?.deleteRule == .nullify
        case (false, false): false
        }
    }

    /// Whether a pair denied the deletion of one of its ends.
    private func isDenying(_ key: PairKey, _ application: ChangeApplication) -> Bool {
        guard case .pairs(_, _, _, let inverse)? = binding.link(key.property)?.source else { return false }
        return application.denies(key.property, of: key.source) || application.denies(inverse, of: key.target)
    }

    private func setPairs(_ pairs: [PairKey: NetChanges.PairPositionChange]) throws {
        for (key, positions) in pairs.sorted(by: { $0.key < $1.key }) {
            guard let link = binding.link(key.property), case .pairs(_, _, _, let inverseID) = link.source else {
                continue
            }
            guard try presentObject(key.source) != nil, try presentObject(key.target) != nil else { continue }
            let state = toManyState(link, key.source)
            guard let after = positions.after else {
                try unlinkPair(state, key.target)
                continue
            }
            try linkPair(state, key.target, at: nil)
            if link.isOrdered { try setPosition(of: key.target, after.inSource, state) }
            if let inverse = binding.link(inverseID), inverse.isOrdered, key.source != key.target {
                try setPosition(of: key.source, after.inTarget, toManyState(inverse, key.target))
            }
        }
    }
}
