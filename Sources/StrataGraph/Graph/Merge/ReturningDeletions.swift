import StrataModel
import StrataStore

// A merge may take a pending deletion back. Its effects on other objects are taken back with it: objects that its
// cascades deleted, links that its delete rules cut.

/// The deletions that a merge takes back.
struct ReturningDeletions {
    /// Objects whose deletion the policy takes back; they are as the store has them.
    private(set) var decided: Set<ObjectID> = []
    /// Objects that were deleted only with those.
    private(set) var following: Set<ObjectID> = []
    /// To-ones that the deletions of all of them have cleared, with their former targets.
    private(set) var cuts: [DeletionCauses.CutLink: ObjectID] = [:]

    var isEmpty: Bool { decided.isEmpty }
    var all: Set<ObjectID> { decided.union(following) }

    /// - Parameters:
    ///   - decided: whose deletion is taken back.
    ///   - kept: whose deletion the policy lets stand.
    init(_ decided: Set<ObjectID>, keeping kept: Set<ObjectID>, in context: ManagedObjectContext) {
        guard !decided.isEmpty else { return }
        self.decided = decided
        following = context.deletionsFollowing(decided, keeping: kept)
        let all = all
        cuts = context.pending.causes.cuts.filter { all.contains($0.value) }
    }

    init(_ settled: [SettledObject], in context: ManagedObjectContext) {
        let decided = settled.filter { $0.outcome == .comesBack }
        let kept = settled.filter { $0.conflict != nil && $0.outcome == .deleted }
        self.init(Set(decided.map(\.stale.id)), keeping: Set(kept.map(\.stale.id)), in: context)
        guard !cuts.isEmpty else { return }
        // What others made of such a to-one stays, and so does the policy's choice between both.
        let settled = Dictionary(settled.map { ($0.stale.id, $0) }) { $1 }
        cuts = cuts.filter { link, _ in
            guard let object = settled[link.object],
                let property = context.binding.entity(link.object.entityID)?.property(link.toOne)
            else { return true }
            let isTheirs = object.merge.slots.contains { $0.number == property.slot && $0.isChangedByThem }
            return !isTheirs && object.word(on: property.name) == nil
        }
    }

    /// The one-to-ones that were cut only by deletions that followed are as they were.
    func restorePartners(_ partners: inout [LinkEnd: PartnerMerge.End]) {
        for (end, state) in partners
        where following.contains(end.object) || state.mine.isNil && following.contains(state.base) {
            partners[end]?.mine = state.base
            partners[end]?.isChanged = false
        }
    }
}

extension ManagedObjectContext {
    /// The objects that are deleted only because some others are.
    fileprivate func deletionsFollowing(_ decided: Set<ObjectID>, keeping kept: Set<ObjectID>) -> Set<ObjectID> {
        var roots = kept
        for list in [pending.deleted, pending.inserted] {
            for object in list where object._flags.contains(.deletedItself) && !decided.contains(object.objectID) {
                roots.insert(object.objectID)
            }
        }
        let standing = pending.causes.reached(from: roots) { isDeletionPending($0) && !decided.contains($0) }
        let reached = pending.causes.reached(from: decided) { isDeletionPending($0) && !standing.contains($0) }
        let following = reached.subtracting(decided)
        makeObjectsOfDeletedPartners(where: following.contains)
        return following
    }

    private func isDeletionPending(_ id: ObjectID) -> Bool {
        pending.deletedRows.contains(id) || map[id].map { $0._state & ObjectState.deleted != 0 } ?? false
    }

    /// Takes the deletions back that followed, when the rows of the others are in place.
    func takeBack(_ returning: ReturningDeletions) throws {
        guard !returning.isEmpty else { return }
        var wasHidden = false
        for id in returning.following.sorted() {
            guard let object = map[id] else {
                wasHidden = pending.takeBackFollowingDeletion(ofRow: id) || wasHidden
                continue
            }
            if object._flags.contains(.withdrawn) {
                pending.takeBackWithdrawal(of: object)
            } else {
                wasHidden = pending.takeBackFollowingDeletion(of: object) || wasHidden
            }
            object.announceAllChanged()
        }
        if wasHidden { pendingLinks.forgetMembers() }
        restorePairs(returning)
        for (link, target) in returning.cuts {
            pending.forgetCut(link.toOne, of: link.object)
            // The merge settles one-to-ones.
            guard let object = map[link.object], let property = object._entity.property(link.toOne),
                object.linkEnd(property) == nil
            else { continue }
            try object.storeOtherEnd(target, link.toOne, ifItWas: ObjectID(rawValue: 0))
        }
        invalidateLayers()
    }

    /// Links the pairs again that the deletions have cut. A pair that the app has cut is noted at both its ends.
    private func restorePairs(_ returning: ReturningDeletions) {
        foldLinkChanges()
        let all = returning.all
        for id in returning.decided {
            for link in binding.pairLinks(of: id.entityID) {
                guard let own = knownState(link, id) else { continue }
                // Cut before: links to objects that are still deleted, and to itself.
                let cut = own.pending.filter { $1 == .removed && ($0 == id || isDeleted($0)) }
                own.forgetChanges()
                for member in cut.keys { own.remove(member) }
            }
        }
        for state in pendingLinks.states.values where state.link.isPairs && state.hasChanges {
            guard case .pairs(_, _, _, let back) = state.link.source, let link = binding.link(back) else { continue }
            for (member, change) in state.pending where change == .removed && member != state.owner {
                guard all.contains(member) else { continue }
                let own = toManyState(link, member)
                if isDeleted(state.owner) {
                    own.remove(state.owner)
                } else if own.pending[state.owner] != .removed {
                    state.settle(member)
                }
            }
        }
        for id in returning.following {
            for link in binding.pairLinks(of: id.entityID) { restoreNewPairs(of: id, link) }
        }
        pendingLinks.notePairChange()
    }

    /// Pairs that were made before the deletion are made at the other end too.
    private func restoreNewPairs(of id: ObjectID, _ link: Link) {
        guard let own = knownState(link, id), case .pairs(_, _, _, let back) = link.source,
            let inverse = binding.link(back)
        else { return }
        for case (let member, .added) in own.pending where member != id {
            if isDeleted(member) {
                own.remove(member)
            } else if toManyState(inverse, member).pending[id] == nil {
                do {
                    let other = toManyState(inverse, member)
                    other.add(id, at: inverse.isOrdered ? try positionAtEnd(other) : 0)
                } catch {
                    report(Self.typed(error))
                }
            }
        }
    }

    /// Has both ends of an object's one-to-ones agree again: a partner that was linked elsewhere meanwhile stays there.
    func restorePartners(of id: ObjectID) throws {
        guard let object = map[id], !isDeleted(id) else { return }
        for index in object._entity.oneToOneIndexes {
            let property = object._entity.properties[index]
            let target = object.reference(property.location)
            guard !target.isNil, !isDeleted(target), let end = object.linkEnd(property),
                let partner = registeredOrFault(target), let back = partner._entity.property(end.inverse)
            else { continue }
            partner.fireFault()
            if partner.reference(back.location) == id { continue }
            if try !partner.storeOtherEnd(id, end.inverse, ifItWas: ObjectID(rawValue: 0)) {
                try object.storeOtherEnd(ObjectID(rawValue: 0), property.id, ifItWas: target)
            }
        }
    }

    /// Applies the delete rules of objects that stay deleted to objects that exist again and lead to them.
    func applyDeleteRules(to returning: ReturningDeletions) throws {
        for id in returning.all.sorted() where !isDeleted(id) {
            for toOne in binding.schema.links.slotLinks(of: id.entityID) {
                let target = try currentTarget(of: toOne, id)
                guard !target.isNil, isDeletionPending(target) else { continue }
                try applyDeleteRule(of: target, to: id, leadingBy: toOne.property)
            }
        }
    }

    private func currentTarget(of toOne: SlotLink, _ id: ObjectID) throws -> ObjectID {
        if let object = map[id], !object.isFault {
            return object.reference(object._entity.property(slot: toOne.slot).location)
        }
        return try read { try $0.reference(toOne.property, of: id) } ?? ObjectID(rawValue: 0)
    }
}
