import StrataModel

/// A context's to-manys and its links that are not saved. Its methods are the only code that writes them.
///
/// A change of members is noted as one entry of a list; the entries are folded into the states of their owners when
/// a to-many is read.
struct PendingLinks {
    /// Members that came and went, oldest first, and are not folded into states yet.
    private(set) var changes: ContiguousArray<LinkChange> = []
    /// The to-manys that were read or changed.
    private(set) var states: [ToManyKey: ToManyState] = [:]
    /// Ends of one-to-ones that a merge has cleared for links of this context; they keep their targets if those links
    /// are dropped.
    private(set) var displaced: Set<LinkEnd> = []
    /// Links of this context to objects that its parent has deleted.
    private(set) var lost = LostLinks()
    /// Counts changes of pairs, whose truth is no row; 0 where none is pending.
    private(set) var pairGeneration = 0
    /// Counts the moves of the context that may have changed a to-many. Members that were read stay valid until the
    /// next such move.
    private(set) var memberGeneration = 0

    // MARK: States

    /// The state of a to-many, without the changes that are not folded in yet.
    @inline(__always)
    mutating func state(_ link: Link, _ owner: ObjectID) -> ToManyState {
        let key = ToManyKey(link: link.id, owner: owner)
        if let state = states[key] {
            if state.generation != memberGeneration { state.forgetBase(memberGeneration) }
            return state
        }
        let state = ToManyState(link: link, owner: owner, generation: memberGeneration)
        states[key] = state
        return state
    }

    /// The state if there is one; nil where the to-many was neither read nor changed.
    mutating func knownState(_ link: PropertyID, _ owner: ObjectID) -> ToManyState? {
        guard let state = states[ToManyKey(link: link, owner: owner)] else { return nil }
        if state.generation != memberGeneration { state.forgetBase(memberGeneration) }
        return state
    }

    /// The members of a to-many, in order and with every change, if they are listed; nil where they are to be read.
    ///
    /// A walk over members in memory comes here first: it takes one lookup, and retains nothing but the list.
    @inline(__always)
    func knownMembers(_ link: PropertyID, _ owner: ObjectID) -> [ObjectID]? {
        guard changes.isEmpty, let state = states[ToManyKey(link: link, owner: owner)],
            state.generation == memberGeneration, state.lostCount == 0
        else { return nil }
        return state.members
    }

    /// The context shows another state of the store: to-manys are read again.
    mutating func forgetMembers() { memberGeneration += 1 }

    /// Drops states without changes if the table has grown to `threshold`.
    mutating func sweep(from threshold: Int, keeping isKept: (ObjectID) -> Bool) {
        guard states.count >= threshold else { return }
        states = states.filter { $0.value.hasChanges || isKept($0.key.owner) }
    }

    // MARK: Changes of members

    /// A member came or went because its own row changed.
    @inline(__always)
    mutating func note(_ change: LinkChange) { changes.append(change) }

    /// The changes that are not folded into states, which are the caller's to fold now.
    mutating func takeChanges() -> ContiguousArray<LinkChange> {
        defer { changes = [] }
        return changes
    }

    /// Forgets every change that follows from a row, to be worked out again from the rows.
    mutating func forgetRowChanges() {
        changes = []
        for state in states.values where !state.link.isPairs { state.forgetChanges() }
    }

    /// A pair was linked, unlinked, moved or settled.
    mutating func notePairChange() { pairGeneration += 1 }

    /// The objects at both ends of pairs that were linked, unlinked or moved.
    var endsOfChangedPairs: Set<ObjectID> {
        guard pairGeneration != 0 else { return [] }
        var ends: Set<ObjectID> = []
        for state in states.values where state.link.isPairs && state.hasChanges {
            ends.insert(state.owner)
            ends.formUnion(state.pending.keys)
        }
        return ends
    }

    /// Takes back the links and unlinks of an object whose truth are pairs, at both ends.
    mutating func dropPairChanges(of object: ManagedObject) {
        guard pairGeneration != 0 else { return }
        let (id, entity) = (object.objectID, object._entity)
        for index in entity.toManyIndexes {
            guard let state = states[ToManyKey(link: entity.properties[index].id, owner: id)], state.hasChanges,
                case .pairs(_, _, _, let inverse) = state.link.source
            else { continue }
            for member in state.pending.keys { states[ToManyKey(link: inverse, owner: member)]?.settle(id) }
            state.forgetChanges()
            notePairChange()
        }
    }

    // MARK: One-to-ones

    mutating func noteDisplaced(_ end: LinkEnd) { displaced.insert(end) }
    mutating func noteNotDisplaced(_ end: LinkEnd) { displaced.remove(end) }
    mutating func settleDisplaced() { displaced = [] }

    // MARK: Links to objects that a parent has deleted

    mutating func noteLost(_ toOne: PropertyID, of object: ObjectID, _ target: ObjectID) {
        lost.note(toOne, of: object, target)
    }
    mutating func noteLost(_ pair: LostLinks.Pair) { lost.note(pair) }
    mutating func forgetLost(_ toOne: PropertyID, of object: ObjectID) { lost.forget(toOne, of: object) }
    mutating func forgetLost(_ pair: LostLinks.Pair) { lost.forget(pair) }
    mutating func forgetLost(of object: ObjectID) { if !lost.isEmpty { lost.forget(object) } }

    // MARK: After a save or a rollback

    /// Forgets the changes, and the members of to-manys that were read unless the save left them as they were.
    mutating func removeAll(_ members: KnownMembers) {
        changes.removeAll(keepingCapacity: true)
        if case .unknown = members { states.removeAll(keepingCapacity: false) }
        pairGeneration = 0
        displaced = []
        lost = LostLinks()
    }
}

/// Whether members of to-manys that were read are still valid when changes have been saved or dropped.
enum KnownMembers { case unchanged, unknown }
