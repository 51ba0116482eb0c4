import StrataModel

// The steps of a migration that check and change links.

extension EntityMigration {
    func point(
        _ step: PropertyStep, _ storages: [OldLinks.Storage], _ back: OldLinks.Storage?, _ id: ObjectID,
        _ row: SnapshotRow, _ snapshot: Snapshot, _ changes: inout [PropertyChange], _ failures: inout MigrationFailures
    ) throws {
        guard let property = step.property, let relationship = property.relationship, changes.leaveEmpty(property)
        else {
            return
        }
        var found: [OldLinks.Target] = []
        var storage: OldLinks.Storage?
        for next in storages where found.isEmpty {
            found = try links.targets(next, of: id, row, old, snapshot, limit: 3)
            storage = next
            // What the object had under an earlier model stays hidden if it does not fit.
            guard links.isFormer(next, in: id.entityID) else { continue }
            let allowed = links.new.entity(relationship.destination)?.entityIDs ?? []
            found.removeAll { !allowed.contains($0.id.entityID) }
        }
        let targets = found.map(\.id)
        if targets.count > 1 {
            let names = targets.map { links.old.name(of: $0) }.joined(separator: ", ")
            return failures.add(
                .validationRelationshipExceedsMaximumCount,
                "\(property.name) can lead to one object only, not to \(names).", entity, id, property.name)
        }
        try checkTargets(step, id, targets, &failures)
        // A row of an earlier model shows the target that the object had then.
        let reader = try row.reader
        let (shown, after) = (try shown(property, row, reader), targets.first.map(AttributeValue.objectID) ?? .null)
        if !after.isIdentical(to: shown) || after.isNull && regains(step, row) {
            changes.append(PropertyChange(property: property.id, before: .value(shown), after: .value(after)))
        }
        guard let target = targets.first, let hidden = relationship.position.flatMap({ entity.property($0) }) else {
            return
        }
        var position = try links.position(back, of: id, at: target, snapshot)
        if case .formerSlot? = storage { position = found[0].position }
        let shownPosition = try self.shown(hidden, row, reader)
        guard !AttributeValue.integer(position).isIdentical(to: shownPosition) else { return }
        changes.append(
            PropertyChange(property: hidden.id, before: .value(shownPosition), after: .value(.integer(position))))
    }

    func checkTargets(
        _ step: PropertyStep, _ id: ObjectID, _ targets: [ObjectID], _ failures: inout MigrationFailures
    ) throws {
        guard let property = step.property, let relationship = property.relationship else { return }
        if targets.isEmpty, step.isLast, !relationship.description.isOptional {
            failures.add(
                .validationMissingMandatoryProperty, "\(property.name) is required.", entity, id, property.name)
        }
        let allowed = links.new.entity(relationship.destination)?.entityIDs ?? []
        for target in targets where !allowed.contains(target.entityID) {
            guard let found = links.new.entity(target.entityID)?.name else { continue }
            let destination = links.new.entity(relationship.destination)?.name ?? "another entity"
            failures.add(
                .migration,
                "\(property.name) can no longer lead to \(links.old.name(of: target)). It leads to \(destination) now: make "
                    + "\(found) a subentity of \(destination), say that \(destination) was called \(found) by its renaming "
                    + "identifier, or remove the link under the old model first.", entity, id, property.name)
        }
    }

    /// Says that a to-one has no target, after the last step that may give it one.
    func lookForTarget(
        _ step: PropertyStep, _ id: ObjectID, _ row: SnapshotRow, _ snapshot: Snapshot, _ changes: [PropertyChange],
        _ failures: inout MigrationFailures
    ) throws {
        guard step.looksForTarget, let property = step.property, changes.leaveEmpty(property) else { return }
        let slot = links.number(before: property).flatMap(old.slot)
        if changes.made(property) == nil, let slot, try snapshot.value(slot, of: row, row.reader, old).target != nil {
            return
        }
        try checkTargets(step, id, [], &failures)
    }

    /// Makes a to-one nil that leads to an object of these entities.
    func release(
        _ step: PropertyStep, _ slot: Int, _ entities: Set<EntityID>, _ row: SnapshotRow, _ snapshot: Snapshot,
        _ changes: inout [PropertyChange]
    ) throws {
        guard let property = step.property else { return }
        let value = try snapshot.value(slot, of: row, row.reader, old)
        guard let target = value.target, entities.contains(target.entityID) else { return }
        changes.append(PropertyChange(property: property.id, before: .value(value), after: .value(.null)))
    }

    /// Gives a to-one that is nil the object whose inverse takes over a link to it.
    func adopt(
        _ step: PropertyStep, _ adoptions: [OldLinks.BackAdoption], _ id: ObjectID, _ row: SnapshotRow,
        _ snapshot: Snapshot, _ changes: inout [PropertyChange], _ failures: inout MigrationFailures
    ) throws {
        guard let property = step.property else { return }
        var found: [(id: ObjectID, order: OldLinks.Storage)] = []
        for adoption in adoptions {
            for target in try links.targets(adoption.links, of: id, row, old, snapshot, limit: 3).map(\.id)
            where target.entityID == adoption.owner && !found.contains(where: { $0.id == target }) {
                found.append((target, adoption.order))
            }
        }
        var current = changes.last { $0.property == property.id }.flatMap { change in
            if case .value(.objectID(let id)) = change.after { id } else { nil }
        }
        if current == nil, let slot = old.slot(of: property.id) {
            current = try snapshot.value(slot, of: row, row.reader, old).target
            if let id = current, links.released(by: property.id).contains(id.entityID) { current = nil }
        }
        let others = found.filter { $0.id != current }
        guard let target = others.first else {
            try checkTargets(step, id, current.map { [$0] } ?? [], &failures)
            guard let same = found.first else { return }
            return try adoptPosition(step, same.order, at: same.id, of: id, row, snapshot, &changes)
        }
        guard current == nil, others.count == 1 else {
            let names = ((current.map { [$0] } ?? []) + others.map(\.id)).map { links.old.name(of: $0) }
            return failures.add(
                .validationRelationshipExceedsMaximumCount,
                "\(property.name) can lead to one object only, not to \(names.joined(separator: ", ")).", entity, id,
                property.name)
        }
        // The object that the to-one loses is no longer there, and an event names a property once.
        let isNew = old.property(property.id) == nil
        var before = RecordedValue.value(isNew ? try shown(property, row, row.reader) : .null)
        if let released = changes.firstIndex(where: { $0.property == property.id }) {
            before = changes.remove(at: released).before
        }
        changes.append(PropertyChange(property: property.id, before: before, after: .value(.objectID(target.id))))
        try adoptPosition(step, target.order, at: target.id, of: id, row, snapshot, &changes)
    }

    /// Gives a to-one its position in the order of its target's members.
    private func adoptPosition(
        _ step: PropertyStep, _ order: OldLinks.Storage, at target: ObjectID, of id: ObjectID, _ row: SnapshotRow,
        _ snapshot: Snapshot, _ changes: inout [PropertyChange]
    ) throws {
        guard let number = step.property?.relationship?.position else { return }
        // A to-one that became nil has kept its position.
        let kept = try old.slot(of: number).map { try snapshot.value($0, of: row, row.reader, old) } ?? .null
        let position = AttributeValue.integer(try links.position(order, of: id, at: target, snapshot))
        guard !position.isIdentical(to: kept) else { return }
        changes.append(PropertyChange(property: number, before: .value(kept), after: .value(position)))
    }

    func checkLinks(
        _ step: PropertyStep, _ storage: OldLinks.Storage, _ id: ObjectID, _ row: SnapshotRow, _ snapshot: Snapshot,
        _ failures: inout MigrationFailures
    ) throws {
        try checkTargets(step, id, try links.targets(storage, of: id, row, old, snapshot).map(\.id), &failures)
    }

    func checkMost(
        _ step: PropertyStep, _ storages: [OldLinks.Storage], _ id: ObjectID, _ row: SnapshotRow, _ snapshot: Snapshot,
        _ failures: inout MigrationFailures
    ) throws {
        guard let property = step.property, let relationship = property.relationship else { return }
        let allowed = links.new.entity(relationship.destination)?.entityIDs ?? []
        var members = try links.gained.members(of: property.id, owner: id).filter { try links.isThere($0, snapshot) }
        for storage in storages {
            for target in try links.targets(storage, of: id, row, old, snapshot)
            where allowed.contains(target.id.entityID) {
                members.insert(target.id)
            }
        }
        guard members.count > relationship.description.maxCount else { return }
        let problems = relationship.description.validate(count: members.count, entityName: entity.name)
        for problem in problems { failures.add(problem, id) }
    }

    func checkCount(
        _ step: PropertyStep, _ number: PropertyID, _ id: ObjectID, _ snapshot: Snapshot,
        _ failures: inout MigrationFailures
    ) throws {
        guard let property = step.property, let description = property.relationship?.description else { return }
        var count = 0
        if links.losesMembers(property) {
            try snapshot.members(of: number, owner: id) { member in
                if links.keepsMembers(of: member.entityID, number) { count += 1 }
                return true
            }
        } else {
            count = try snapshot.memberCount(of: number, owner: id)
        }
        count += try links.gained.members(of: property.id, owner: id).count { member in
            try links.isThere(member, snapshot) && !snapshot.isMember(member, of: number, owner: id)
        }
        for problem in description.validate(count: count, entityName: entity.name) { failures.add(problem, id) }
    }
}

extension EntityMigration.PropertyStep.Kind {
    /// Whether it says that a to-one has no target.
    var checksTarget: Bool {
        switch self {
        case .point, .adopt, .revive, .checkTarget: true
        default: false
        }
    }
}

extension AttributeValue {
    /// The object that a to-one leads to.
    var target: ObjectID? { if case .objectID(let id) = self { id } else { nil } }
}
