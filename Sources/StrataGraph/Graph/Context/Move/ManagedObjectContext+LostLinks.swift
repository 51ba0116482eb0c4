import StrataModel
import StrataStore

// A child may link to an object that its parent deletes. When the child moves, it shows that link no more, as an object
// that is gone is the target of no link. The link is remembered: the save asks the policy about it, and where the parent
// takes the deletion back, it is shown again.

/// Links of a context to objects that its parent has deleted.
struct LostLinks {
    /// A link whose truth is a pair, as its owner sees it.
    struct Pair: Hashable {
        let key: ToManyKey
        let member: ObjectID
    }

    /// To-ones, with the targets that they led to.
    private(set) var toOnes: [DeletionCauses.CutLink: ObjectID] = [:]
    private(set) var pairs: Set<Pair> = []

    var isEmpty: Bool { toOnes.isEmpty && pairs.isEmpty }
    /// The deleted objects.
    var targets: Set<ObjectID> { Set(toOnes.values).union(pairs.map(\.member)) }

    mutating func note(_ toOne: PropertyID, of object: ObjectID, _ target: ObjectID) {
        toOnes[DeletionCauses.CutLink(object: object, toOne: toOne)] = target
    }

    mutating func note(_ pair: Pair) { pairs.insert(pair) }
    mutating func forget(_ pair: Pair) { pairs.remove(pair) }

    /// The app has set the to-one itself.
    mutating func forget(_ toOne: PropertyID, of object: ObjectID) {
        toOnes[DeletionCauses.CutLink(object: object, toOne: toOne)] = nil
    }

    /// The changes of the object are dropped.
    mutating func forget(_ object: ObjectID) {
        toOnes = toOnes.filter { $0.key.object != object }
        pairs = pairs.filter { $0.key.owner != object }
    }
}

extension ManagedObjectContext {
    /// Hides links of this context to objects that its parent has deleted, and shows links again whose targets exist
    /// again.
    func settleLostLinks() throws {
        try showFoundLinks()
        let (toOnes, pairs) = (changedToOnes(), addedPairs())
        let targets = Set(toOnes.map(\.target)).union(pairs.map(\.member))
        guard !targets.isEmpty else { return }
        let gone = try read { snapshot in
            try targets.filter { id in
                // One that is changed here is shown until the save.
                let isChanged = map[id].map { $0._flags.contains(.inserted) || $0._base != nil } ?? false
                return try !isChanged && !snapshot.exists(id)
            }
        }
        guard !gone.isEmpty else { return }
        for (object, property, target) in toOnes where gone.contains(target) {
            try object.storeOtherEnd(ObjectID(rawValue: 0), property.id, ifItWas: target)
            pendingLinks.noteLost(property.id, of: object.objectID, target)
        }
        for pair in pairs where gone.contains(pair.member) && !gone.contains(pair.key.owner) {
            pendingLinks.noteLost(pair)
            guard let link = binding.link(pair.key.link), case .pairs(_, _, _, let back) = link.source else { continue }
            toManyState(link, pair.key.owner).settle(pair.member)
            if let inverse = binding.link(back) { knownState(inverse, pair.member)?.settle(pair.key.owner) }
            pendingLinks.notePairChange()
        }
        for id in gone.sorted() {
            guard let object = map[id] else { continue }
            // It may be listed as changed, for those links alone.
            if object._flags.contains(.updated) { dropChanges(of: object) }
            pendingLinks.dropPairChanges(of: object)
            keepAsDeleted(object)
        }
    }

    /// Links made here whose targets exist again.
    private func showFoundLinks() throws {
        let lost = pendingLinks.lost
        guard !lost.isEmpty else { return }
        let found = try read { snapshot in try lost.targets.filter { try snapshot.exists($0) } }
        for (link, target) in lost.toOnes where found.contains(target) {
            pendingLinks.forgetLost(link.toOne, of: link.object)
            guard let object = map[link.object], object._state & ObjectState.unlinkable == 0,
                let property = object._entity.property(link.toOne), object.reference(property.location).isNil
            else { continue }
            try object.changeTarget(registeredOrFault(target), at: property.index)
        }
        for pair in lost.pairs where found.contains(pair.member) {
            pendingLinks.forgetLost(pair)
            guard let link = binding.link(pair.key.link), !isDeleted(pair.key.owner) else { continue }
            try linkPair(toManyState(link, pair.key.owner), pair.member, at: nil)
        }
    }

    /// The to-ones that this context has set.
    private func changedToOnes() -> [(object: ManagedObject, property: PropertyRuntime, target: ObjectID)] {
        var found: [(object: ManagedObject, property: PropertyRuntime, target: ObjectID)] = []
        for list in [pending.inserted, pending.updated] {
            for object in list where object._flags.isPending && !object._flags.contains(.deleted) {
                guard object._base != nil || object._flags.contains(.inserted) else { continue }
                for index in object._entity.toOneIndexes {
                    let property = object._entity.properties[index]
                    guard property.isInRow else { continue }
                    let target = object.reference(property.location)
                    guard !target.isNil, target != object.baseReference(property.location) else { continue }
                    found.append((object, property, target))
                }
            }
        }
        return found
    }

    /// The pairs that this context has linked, from both sides.
    private func addedPairs() -> [LostLinks.Pair] {
        guard pendingLinks.pairGeneration != 0 else { return [] }
        foldLinkChanges()
        var found: [LostLinks.Pair] = []
        for (key, state) in pendingLinks.states where state.link.isPairs && state.hasChanges {
            for case (let member, .added) in state.pending { found.append(LostLinks.Pair(key: key, member: member)) }
        }
        return found
    }
}
