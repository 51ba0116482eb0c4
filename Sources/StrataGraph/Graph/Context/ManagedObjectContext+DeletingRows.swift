import StrataModel
import StrataStore

// A cascade over a million members must not make a million objects. Where no class has hooks of deletion, and no object
// is in memory, the delete rules apply to the rows that the context sees. An object with unsaved changes is in memory,
// so a row here is always the one at the context's own point.

extension ManagedObjectContext {
    /// Deletes the rows that are next in the walk, until one comes that must be an object.
    func deleteRows(_ walk: inout DeletionWalk) throws {
        foldLinkChanges()
        let deletion = try read { snapshot in
            var deletion = RowDeletion(context: self, snapshot: snapshot)
            while let id = walk.next, pending.deletedRows.contains(id) || isDeletedAsRow(id) {
                guard walk.takeNext() != nil, !pending.deletedRows.contains(id), let row = try snapshot.row(id) else {
                    continue
                }
                pending.noteDeletedRow(id, revision: row.revision, at: base)
                try walk.applyRules(of: id, row, to: &deletion)
            }
            return deletion
        }
        // Hooks and observers may run here, so not under the read.
        for loss in deletion.losses { noteLostMember(of: loss.owner, loss.link) }
        for cut in deletion.cuts { try cutReference(cut.toOne, of: cut.object, from: cut.deleted) }
    }

    /// Whether an object can be deleted without being made.
    func isDeletedAsRow(_ id: ObjectID) -> Bool {
        guard let entity = binding.entity(id.entityID), !entity.observesDeletion else { return false }
        return map[id] == nil
    }

    /// The errors for objects that were deleted as rows and that the rule `deny` protects.
    func deniedRowDeletions() throws -> [StrataError] {
        let denying = pending.deletedRows.entities.filter(binding.schema.links.deniesDeletion)
        guard !denying.isEmpty else { return [] }
        foldLinkChanges()
        let errors = try read { snapshot in
            let deletion = RowDeletion(context: self, snapshot: snapshot)
            return try pending.deletedRows.rows.keys.filter { denying.contains($0.entityID) }.sorted().flatMap { id in
                try snapshot.row(id).map { try deletion.deniedDeletions(of: id, $0) } ?? []
            }
        }
        return errors.map { error in
            error.context.objectID.flatMap { registeredOrFault($0) }?.completing(error) ?? error
        }
    }

    /// Notes once more which members the owners of deleted rows lose.
    func noteAllLinkChangesOfDeletedRows() throws {
        guard !pending.deletedRows.isEmpty else { return }
        try read { snapshot in
            for id in pending.deletedRows.rows.keys {
                guard let entity = binding.schema.entity(id.entityID), let row = try snapshot.row(id) else { continue }
                for toOne in binding.schema.links.slotLinks(of: id.entityID) {
                    guard case .toMany(let link, _) = toOne.inverse, let owner = try row.target(of: toOne, in: entity)
                    else { continue }
                    noteLoss(of: id, from: owner, link, isGoing: false)
                }
            }
        }
    }
}

/// The deletion of rows that have no object in memory.
private struct RowDeletion: DeletionHost {
    /// A to-one of another object that leads to a deleted one.
    struct Cut {
        let object: ObjectID
        let toOne: PropertyID
        let deleted: ObjectID
    }

    let context: ManagedObjectContext
    let snapshot: Snapshot
    private(set) var cuts: [Cut] = []
    /// The to-manys that lost a member and whose owners stay.
    private(set) var losses: Set<ToManyKey> = []

    var schema: Schema { context.binding.schema }

    func isUnsaved(_ row: SnapshotRow) -> Bool { false }

    func isDeleted(_ id: ObjectID) -> Bool { context.isDeleted(id) }

    func target(of toOne: SlotLink, in row: SnapshotRow, _ id: ObjectID) throws -> ObjectID? {
        try schema.entity(id.entityID).flatMap { try row.target(of: toOne, in: $0) }
    }

    func members(of link: Link, owner: ObjectID) throws -> [ObjectID] {
        try context.membersOfDeleted(link, owner, snapshot)
    }

    mutating func lose(_ deleted: ObjectID, from owner: ObjectID, _ link: PropertyID, isGoing: Bool) {
        context.noteReach(of: owner, link, deleted)
        context.noteLoss(of: deleted, from: owner, link, isGoing: isGoing)
        if !isGoing { losses.insert(ToManyKey(link: link, owner: owner)) }
    }

    mutating func cut(_ toOne: PropertyID, of object: ObjectID, from deleted: ObjectID) throws {
        cuts.append(Cut(object: object, toOne: toOne, deleted: deleted))
    }

    mutating func cascade(to members: [ObjectID], from deleted: ObjectID) {
        context.pending.noteTaken(members, by: deleted)
    }
}
