import StrataModel
import StrataStore

// A cascade over a million members must not make a million objects: where no class wants to hear of it, and no object
// is in memory, the rules are applied to the rows that the context sees. Whatever has unsaved changes is in memory, so
// a row here is always the one of the context's moment.

extension ManagedObjectContext {
    /// A to-one of another object that is to be cleared.
    private struct CutReference {
        let object: ObjectID
        let toOne: PropertyID
        let target: ObjectID
    }

    /// Deletes rows from the end of `waiting`, adding what cascades, until one comes that must be an object.
    func deleteRows(_ waiting: inout [ObjectID]) throws {
        guard let last = waiting.last, pending.deletedRows.contains(last) || isDeletedAsRow(last) else { return }
        foldLinkChanges()
        var cuts: [CutReference] = []
        try read { snapshot in
            while let id = waiting.last, pending.deletedRows.contains(id) || isDeletedAsRow(id) {
                waiting.removeLast()
                guard !pending.deletedRows.contains(id), let entity = binding.entity(id.entityID),
                    let row = try snapshot.row(id)
                else { continue }
                pending.noteDeletedRow(id, revision: row.revision, at: base)
                try propagateToOnes(of: id, entity, row, &cuts, &waiting)
                for index in entity.toManyIndexes {
                    guard let link = binding.link(entity.properties[index].id) else { continue }
                    try propagate(id, link, link.deleteRule, snapshot, &cuts, &waiting)
                }
                for link in binding.incomingLinks(of: entity.id) {
                    try propagate(id, link, .nullify, snapshot, &cuts, &waiting)
                }
            }
        }
        // Hooks and observers may run here, so not under the read.
        for cut in cuts where !pending.deletedRows.contains(cut.object) {
            try registeredOrFault(cut.object)?.clearReference(cut.toOne, to: cut.target)
        }
    }

    private func isDeletedAsRow(_ id: ObjectID) -> Bool {
        guard let entity = binding.entity(id.entityID), !entity.observesDeletion else { return false }
        return map[id] == nil
    }

    private func propagateToOnes(
        of id: ObjectID, _ entity: EntityRuntime, _ row: SnapshotRow, _ cuts: inout [CutReference],
        _ waiting: inout [ObjectID]
    ) throws {
        for index in entity.toOneIndexes {
            let property = entity.properties[index]
            guard let target = try row.target(of: property, entity, id, binding.schema) else { continue }
            noteLoss(of: id, property, target)
            switch (property.deleteRule, property.inverse) {
            case (.cascade, _): waiting.append(target)
            case (.nullify, .toOne(let inverse)):
                cuts.append(CutReference(object: target, toOne: inverse, target: id))
            default: continue
            }
        }
    }

    private func propagate(
        _ id: ObjectID, _ link: Link, _ rule: DeleteRule, _ snapshot: Snapshot, _ cuts: inout [CutReference],
        _ waiting: inout [ObjectID]
    ) throws {
        switch (link.source, rule) {
        case (.rows, .deny), (.rows, .noAction), (.pairs, .deny): return
        case (.rows, .cascade): waiting += try membersOfDeleted(link, id, snapshot)
        case (.rows(let toOne), .nullify):
            cuts += try membersOfDeleted(link, id, snapshot).map { CutReference(object: $0, toOne: toOne, target: id) }
        case (.pairs(_, _, _, let inverse), _):
            try leavePairs(link, inverse, of: id, isCascade: rule == .cascade, snapshot, &waiting)
        }
    }

    /// The store unlinks the pairs of a deleted object; here only the other ends hear of it.
    func leavePairs(
        _ link: Link, _ inverseID: PropertyID, of id: ObjectID, isCascade: Bool, _ snapshot: Snapshot,
        _ waiting: inout [ObjectID]
    ) throws {
        let members = try membersOfDeleted(link, id, snapshot)
        guard !members.isEmpty else { return }
        for member in members {
            if isCascade { waiting.append(member) }
            guard let inverse = binding.link(inverseID), member != id else { continue }
            // What goes too and is in nobody's hands needs no other end.
            if isCascade, map[member] == nil { continue }
            toManyState(inverse, member).remove(id)
        }
        pendingLinks.notePairChange()
    }

    /// The members of an object that goes, which leaves no list behind: each of them would be looked for in it and
    /// taken out when it goes too.
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
}
