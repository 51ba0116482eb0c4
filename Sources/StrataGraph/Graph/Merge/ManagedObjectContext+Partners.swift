import StrataModel
import StrataStore

// Merging one-to-ones: the context notes their ends before rows are exchanged, lets `PartnerMerge` settle the links
// when the new rows are in place, and writes both ends of each.

extension ManagedObjectContext {
    /// The ends of pending one-to-ones before a merge, without the changes of others.
    ///
    /// - Parameters:
    ///   - others: the objects that others changed; nil when that is not known.
    ///   - word: the side that the policy chose for a property of an object.
    func pendingPartners(
        changedByOthers others: Set<ObjectID>?, _ word: (ObjectID, String) -> PartnerMerge.Word? = { _, _ in nil }
    ) -> [LinkEnd: PartnerMerge.End] {
        var ends: [LinkEnd: PartnerMerge.End] = [:]
        for list in self.pending.lists {
            for object in list where object._flags.isPending && !object._entity.oneToOneIndexes.isEmpty {
                for index in object._entity.oneToOneIndexes {
                    let property = object._entity.properties[index]
                    guard let end = object.linkEnd(property) else { continue }
                    var state = pendingEnd(end, property, of: object)
                    state.word = word(object.objectID, property.name)
                    guard state.isChanged || state.word != nil || others?.contains(object.objectID) ?? true else {
                        continue
                    }
                    ends[end] = state
                }
            }
        }
        return ends
    }

    /// Makes objects of rows that were deleted without, where others may have given them a partner.
    func makeObjectsOfDeletedPartners(where isWanted: (ObjectID) -> Bool) {
        guard !pending.deletedRows.isEmpty else { return }
        let ids = pending.deletedRows.rows.keys.filter {
            isWanted($0) && !(binding.entity($0.entityID)?.oneToOneIndexes.isEmpty ?? true)
        }
        for id in ids.sorted() { _ = registeredOrFault(id) }
    }

    private func pendingEnd(
        _ end: LinkEnd, _ property: PropertyRuntime, of object: ManagedObject
    ) -> PartnerMerge.End {
        var state = PartnerMerge.End()
        state.base = object.baseReference(property.location)
        if !object._flags.contains(.deleted) { state.mine = object.reference(property.location) }
        // A merge has cleared the end; this context did not.
        if state.mine.isNil, pendingLinks.displaced.contains(end) { state.mine = state.base }
        state.isChanged = state.mine != state.base
        return state
    }

    /// Settles the pending one-to-ones, when the context reads the new state.
    ///
    /// - Returns: the links that were overruled.
    func settlePartners(_ pending: [LinkEnd: PartnerMerge.End]) throws -> [OverruledLink] {
        guard !pending.isEmpty else { return [] }
        let merge = PartnerMerge(try completed(pending))
        let settled = try write(merge)
        pendingLinks.settleDisplaced()
        return overruled(merge, settled)
    }

    /// Shows the pending one-to-ones as this context has them, until a save settles them.
    func showPartners(_ pending: [LinkEnd: PartnerMerge.End]) throws {
        guard !pending.isEmpty else { return }
        let merge = PartnerMerge(try completed(pending), deletions: .cut)
        for (end, target) in try write(merge) {
            if !target.isNil {
                pendingLinks.noteNotDisplaced(end)
            } else if let state = merge.ends[end], !state.isChanged, !state.theirs.isNil {
                pendingLinks.noteDisplaced(end)
            }
        }
        // A change of theirs alone is no conflict any more; later changes here are changes of it.
        for (end, state) in merge.ends where !state.isContested {
            guard let object = map[end.object], object._flags.contains(.updated),
                let property = object._entity.property(end.property)
            else { continue }
            object.rebaseReference(state.theirs, property.location)
        }
    }

    /// Shows links again that a merge has cut to make room for links of this context, if these are gone; and shows
    /// partners that others gave to objects which are changed here too.
    func showDisplacedPartners() throws {
        guard !pendingLinks.displaced.isEmpty || !pending.overtaken.isEmpty || parent != nil && hasChanges else {
            return
        }
        try showPartners(pendingPartners(changedByOthers: nil))
    }

    private func completed(_ pending: [LinkEnd: PartnerMerge.End]) throws -> [LinkEnd: PartnerMerge.End] {
        try read { snapshot in
            try completed(pending) {
                try snapshot.reference($0.property, of: $0.object) ?? ObjectID(rawValue: 0)
            } isGone: {
                if isDeleted($0) { return true }
                // An object that others deleted and this context changed is shown until the save.
                return try !(map[$0]?._flags.isPending ?? false) && !snapshot.exists($0)
            }
        }
    }

    /// Adds where the ends lead in the state of the others, and the ends of all partners.
    func completed(
        _ pending: [LinkEnd: PartnerMerge.End], theirs: (LinkEnd) throws -> ObjectID,
        isGone: (ObjectID) throws -> Bool
    ) rethrows -> [LinkEnd: PartnerMerge.End] {
        var ends = pending
        var waiting = pending.keys.sorted()
        while let end = waiting.popLast() {
            var state = ends[end] ?? PartnerMerge.End()
            state.theirs = try theirs(end)
            state.isGone = try isGone(end.object)
            let property = binding.entity(end.object.entityID)?.property(end.property)
            state.leavesPartner = property?.deleteRule == .noAction || property?.deleteRule == .deny
            ends[end] = state
            for target in [state.mine, state.theirs] where !target.isNil {
                let partner = end.partner(target)
                guard ends[partner] == nil else { continue }
                // This context has not changed it: it led back before if this end led to it.
                var other = PartnerMerge.End()
                if state.base == target { other.base = end.object }
                other.mine = other.base
                ends[partner] = other
                waiting.append(partner)
            }
        }
        return ends
    }

    /// Writes the settled targets into every row.
    ///
    /// - Returns: where each end leads now.
    func write(_ merge: PartnerMerge) throws -> [LinkEnd: ObjectID] {
        let settled = merge.settled()
        for (end, target) in settled.sorted(by: { $0.key < $1.key }) {
            guard let object = try presentObject(end.object), let property = object._entity.property(end.property),
                object.reference(property.location) != target
            else { continue }
            try object.storeOtherEnd(target, end.property, ifItWas: nil)
        }
        return settled
    }

    func overruled(_ merge: PartnerMerge, _ settled: [LinkEnd: ObjectID]) -> [OverruledLink] {
        merge.overruled(by: settled).compactMap { end, winner in
            merge.ends[end].map { OverruledLink(end: end, state: $0, winner: winner) }
        }
    }

    /// Adds what happened to links to the record of what the policy overruled, where it does not say so already.
    func record(_ links: [OverruledLink], in records: inout [ConflictRecord], _ policy: MergePolicy) {
        for link in links {
            guard let entity = binding.entity(link.end.object.entityID),
                let property = entity.property(link.end.property)
            else { continue }
            let isKnown = records.contains { record in
                record.conflict.objectID == link.end.object
                    && record.conflict.properties.contains { $0.name == property.name }
            }
            if isKnown { continue }
            let conflict = MergeConflict(
                objectID: link.end.object, entityName: entity.name, isDeletedInStore: false, isDeletedHere: false,
                properties: [
                    .init(
                        name: property.name, base: link.state.base.asValue, theirs: link.state.theirs.asValue,
                        mine: link.state.mine.asValue)
                ])
            records.append(ConflictRecord(conflict, winner: link.recordedWinner, policy: policy.name))
        }
    }
}

/// An end of a link that one side made and that the merge dropped.
struct OverruledLink {
    let end: LinkEnd
    let state: PartnerMerge.End
    let winner: PartnerMerge.Word?

    var recordedWinner: ConflictRecord.Winner {
        switch winner {
        case .mine: .mine
        case .theirs: .theirs
        case nil: .values
        }
    }
}

extension ManagedObject {
    /// nil where the property is no one-to-one of the row.
    func linkEnd(_ property: PropertyRuntime) -> LinkEnd? {
        guard property.isInRow, case .toOne(let inverse) = property.inverse else { return nil }
        return LinkEnd(object: objectID, property: property.id, inverse: inverse)
    }
}

extension MergeResolution {
    /// The side that it chooses for a property of an object in conflict; nil where the property is in none.
    func word(on name: String, in conflict: MergeConflict) -> PartnerMerge.Word? {
        let isNamed = conflict.properties.contains { $0.name == name }
        return switch self {
        case .fail: nil
        case .allMine: .mine
        case .allTheirs: .theirs
        case .mine: conflict.isDeletedInStore || isNamed ? .mine : nil
        case .theirs: conflict.isDeletedHere || isNamed ? .theirs : nil
        case .values: conflict.isDeletedInStore ? .mine : conflict.isDeletedHere || isNamed ? .theirs : nil
        }
    }
}

extension ObjectID {
    fileprivate var asValue: AttributeValue { isNil ? .null : .objectID(self) }
}
