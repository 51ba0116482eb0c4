package import StrataModel

/// The deletion of stored objects as changes of a save, worked out over rows: no object is made.
package struct BatchDeletion {
    /// A to-one that leads to a deleted object.
    private struct Cut: Hashable {
        let object: ObjectID
        let toOne: PropertyID
        let deleted: ObjectID
    }

    /// A to-many with a least number of members that loses some.
    private struct Losing: Hashable {
        let owner: ObjectID
        let link: PropertyID
    }

    private let snapshot: Snapshot
    package let schema: Schema
    private var revisions: [ObjectID: EventNumber] = [:]
    private var cuts: Set<Cut> = []
    private var losses: [Losing: Int] = [:]

    /// Follows the delete rules from `roots` on. Objects that are not there are passed over.
    package init(of roots: [ObjectID], in snapshot: Snapshot) throws {
        self.snapshot = snapshot
        schema = snapshot.schema
        var walk = DeletionWalk(roots)
        while let id = walk.takeNext() {
            guard revisions[id] == nil, let row = try snapshot.row(id), schema.entity(id.entityID) != nil else {
                continue
            }
            revisions[id] = row.revision
            try walk.applyRules(of: id, row, to: &self)
        }
    }

    /// The objects that are deleted, in the order of their keys.
    package var objectIDs: [ObjectID] { revisions.keys.sorted() }

    /// Adds the deletions, and the updates of the objects that led to deleted ones.
    ///
    /// - Throws: `validationRelationshipDeniedDelete`, or another validation error of the objects that remain; several
    ///   errors as the details of one.
    package func add(to changes: inout ChangeSet) throws {
        let ids = objectIDs
        for id in ids { changes.deletions.append(.init(id: id, baseRevision: revisions[id] ?? .zero)) }
        var failures: [StrataError] = []
        for id in ids where schema.links.deniesDeletion(of: id.entityID) {
            if let row = try snapshot.row(id) { failures += try deniedDeletions(of: id, row) }
        }
        failures += try missingMembers()
        let remaining = Dictionary(grouping: cuts.filter { !isDeleted($0.object) }, by: \.object)
        for (id, cuts) in remaining.sorted(by: { $0.key < $1.key }) {
            guard let update = try update(of: id, cuts, &failures) else { continue }
            changes.updates.append(update)
        }
        try StrataError.throwTogether(failures)
    }

    private func update(of id: ObjectID, _ cuts: [Cut], _ failures: inout [StrataError]) throws -> ChangeSet.Update? {
        guard let row = try snapshot.row(id), let entity = schema.entity(id.entityID) else { return nil }
        var builder = try RowBuilder(try row.converted(to: entity), layout: entity.layout)
        var slots: [Int] = []
        for cut in cuts {
            guard let property = entity.property(cut.toOne),
                try row.reference(cut.toOne, of: schema, id) == cut.deleted
            else { continue }
            let missing = property.relationship?.description.validate(count: 0, entityName: entity.name) ?? []
            failures += missing.map { $0.about(id) }
            builder.setNull(property.slot)
            slots.append(property.slot)
        }
        guard !slots.isEmpty else { return nil }
        let image = try builder.finish()
        failures += try RowRules(entity, schema).failures(of: image, id, snapshot)
        return ChangeSet.Update(id: id, baseRevision: row.revision, image: image, changedSlots: slots)
    }

    private func missingMembers() throws -> [StrataError] {
        var failures: [StrataError] = []
        for (losing, count) in losses where !isDeleted(losing.owner) {
            guard let description = schema.links.link(losing.link)?.description else { continue }
            let left = try snapshot.memberCount(of: losing.link, owner: losing.owner) - count
            failures += description.validate(count: left, entityName: schema.entity(losing.owner.entityID)?.name)
                .map { $0.about(losing.owner) }
        }
        return failures
    }
}

extension BatchDeletion: DeletionHost {
    package func isUnsaved(_ row: SnapshotRow) -> Bool { false }

    package func isDeleted(_ id: ObjectID) -> Bool { revisions[id] != nil }

    package func target(of toOne: SlotLink, in row: SnapshotRow, _ id: ObjectID) throws -> ObjectID? {
        try schema.entity(id.entityID).flatMap { try row.target(of: toOne, in: $0) }
    }

    package func members(of link: Link, owner: ObjectID) throws -> [ObjectID] {
        try snapshot.members(of: link.id, owner: owner)
    }

    package mutating func lose(_ deleted: ObjectID, from owner: ObjectID, _ link: PropertyID, isGoing: Bool) {
        guard !isGoing, schema.links.link(link)?.hasMinimum ?? false else { return }
        losses[Losing(owner: owner, link: link), default: 0] += 1
    }

    package mutating func cut(_ toOne: PropertyID, of object: ObjectID, from deleted: ObjectID) throws {
        cuts.insert(Cut(object: object, toOne: toOne, deleted: deleted))
    }
}
