import StrataModel
import StrataStore

// Both ends of a relationship agree at once. For one-to-many the member's slot is the truth and the owner's side is
// derived: a change is one entry in a list, folded into the owner's state when the to-many is read. A change of a pair
// changes the states of both ends at once.

extension ManagedObjectContext {
    // MARK: States

    /// The state of a to-many, up to date with every change.
    func toManyState(_ link: Link, _ owner: ObjectID) -> ToManyState {
        foldLinkChanges()
        return pendingLinks.state(link, owner)
    }

    /// The state if there is one, up to date; nil where nothing was changed or looked at.
    func knownState(_ link: Link, _ owner: ObjectID) -> ToManyState? {
        pendingLinks.knownState(link.id, owner)
    }

    func noteLinkChange(_ link: PropertyID, owner: ObjectID, member: ObjectID, isAdded: Bool) {
        pendingLinks.note(LinkChange(link: link, isAdded: isAdded, owner: owner, member: member))
    }

    func foldLinkChanges() {
        guard !pendingLinks.changes.isEmpty else { return }
        for change in pendingLinks.takeChanges() {
            guard let link = binding.link(change.link) else { continue }
            let state = pendingLinks.state(link, change.owner)
            if change.isAdded {
                state.add(change.member, at: link.isOrdered ? position(of: change.member, link) : 0)
            } else {
                state.remove(change.member)
            }
        }
    }

    /// Whether the store cannot know the object.
    func isNew(_ id: ObjectID) -> Bool { map[id]?._flags.contains(.inserted) ?? false }

    /// Whether nothing in the store is a member. To an object that is made again rows may lead which a delete rule has
    /// left as they were.
    private func beginsEmpty(_ state: ToManyState) -> Bool {
        guard let flags = map[state.owner]?._flags, flags.contains(.inserted) else { return false }
        return state.link.isPairs || !flags.contains(.madeAgain)
    }

    // MARK: Reading

    func memberCount(_ state: ToManyState) throws -> Int {
        if let members = state.members { return members.count + state.lostCount }
        if state.baseCount == nil {
            state.baseCount = try beginsEmpty(state) ? 0 : read { snapshot in try countedMembers(state, snapshot) }
        }
        return (state.baseCount ?? 0) + state.difference
    }

    /// The members that the store counts, without those that are leaving.
    private func countedMembers(_ state: ToManyState, _ snapshot: Snapshot) throws -> Int {
        try snapshot.memberCount(of: state.link.id, owner: state.owner)
            - leavingMembers(of: state).count { try snapshot.isMember($0, of: state.link.id, owner: state.owner) }
    }

    func members(_ state: ToManyState) throws -> [ObjectID] {
        if let members = state.members { return members }
        guard !beginsEmpty(state) else {
            state.setMembers(base: [])
            return state.members ?? []
        }
        try read { snapshot in
            let listed = try listedMembers(state, snapshot)
            // Fewer than were counted before: some are leaving since then, or the file is damaged.
            let isShort = state.baseCount.map { $0 > listed.count } ?? false
            state.setMembers(
                base: listed, lost: isShort ? max(0, try countedMembers(state, snapshot) - listed.count) : 0)
        }
        return state.members ?? []
    }

    /// The members that the store lists, in order, without those that are leaving.
    func listedMembers(_ state: ToManyState, _ snapshot: Snapshot) throws -> [(id: ObjectID, position: Int64)] {
        let leaving = leavingMembers(of: state)
        var list: [(id: ObjectID, position: Int64)] = []
        list.reserveCapacity(16)
        var known: EntityID?
        try snapshot.membersWithPositions(of: state.link.id, owner: state.owner) { member, position in
            if member.entityID != known {
                guard mayBeMember(member, state) else { return true }
                known = member.entityID
            }
            if !leaving.contains(member) { list.append((member, position)) }
            return true
        }
        return list
    }

    /// A walk over members yields objects of their class only, also in a damaged file: a link to an object of another
    /// entity is skipped and reported.
    private func mayBeMember(_ member: ObjectID, _ state: ToManyState) -> Bool {
        let entity = binding.schema.entity(state.link.memberEntity)
        if entity?.concreteEntityIDs.contains(member.entityID) ?? false { return true }
        if binding.isGone(member) { return false }
        report(
            StrataError(
                .corrupt, "A link leads to an object of another entity: \(binding.schema.name(of: member)).",
                context: .init(entityName: binding.entity(state.owner.entityID)?.name, objectID: state.owner)))
        return false
    }

    func isMember(_ member: ObjectID, _ state: ToManyState) throws -> Bool {
        switch state.pending[member] {
        case .added?, .moved?: return true
        case .removed?: return false
        case nil: break
        }
        if isNew(member) || beginsEmpty(state) || leavingMembers(of: state).contains(member) { return false }
        if let members = state.members, members.count < 16 { return members.contains(member) }
        return try read {
            try $0.isMember(member, of: state.link.id, owner: state.owner)
        }
    }

    /// Members whose deletion is pending although the to-many has no change for it, since others linked them later.
    /// Where rows are the truth of the link, their deletion is such a change.
    private func leavingMembers(of state: ToManyState) -> Set<ObjectID> {
        if pending.leaving.isEmpty || !state.link.isPairs { return [] }
        return pending.leaving.filter { state.pending[$0] == nil }
    }

    // MARK: Positions

    /// The position behind the last member.
    func positionAtEnd(_ state: ToManyState) throws -> Int64 {
        if state.lastPosition == nil {
            var last = Int64.min
            if !beginsEmpty(state) {
                last =
                    try read {
                        try $0.lastPosition(of: state.link.id, owner: state.owner)
                    } ?? .min
            }
            for change in state.pending.values {
                switch change {
                case .added(let position), .moved(let position): last = max(last, position)
                case .removed: break
                }
            }
            state.lastPosition = last
        }
        let last = state.lastPosition ?? .min
        return last == .min ? 0 : MemberPositions.after(last)
    }

    /// The position in front of the member at `index`; makes room first when there is none.
    func position(at index: Int, _ state: ToManyState) throws -> Int64 {
        let ids = try members(state)
        guard index < ids.count else { return try positionAtEnd(state) }
        if let room = MemberPositions.room(at: index, in: state.positions) { return room }
        let spread = MemberPositions.spread(state.positions, at: index)
        for (member, position) in zip(ids[spread.first...], spread.positions) {
            try setPosition(of: member, position, state)
        }
        _ = try members(state)
        return MemberPositions.room(at: index, in: state.positions) ?? state.positions[index]
    }

    func setPosition(of member: ObjectID, _ position: Int64, _ state: ToManyState) throws {
        if case .rows(let toOne) = state.link.source {
            let object = try existingObject(with: member)
            guard let property = object._entity.property(toOne), let slot = property.positionSlot else { return }
            object.storePosition(position, slot: slot)
        } else {
            pendingLinks.notePairChange()
        }
        noteLinksChanged(of: state.owner)
        state.move(member, to: position)
    }

    /// The position that a member's own row gives it.
    private func position(of member: ObjectID, _ link: Link) -> Int64 {
        guard case .rows(let toOne) = link.source, let object = map[member],
            let slot = object._entity.property(toOne)?.positionSlot
        else { return 0 }
        object.fireFault()
        return object.position(slot: slot)
    }

    // MARK: Changing

    /// Links two objects whose link is a pair; both ends know at once.
    ///
    /// - Returns: whether they were not linked before.
    @discardableResult
    func linkPair(_ state: ToManyState, _ member: ObjectID, at index: Int?) throws -> Bool {
        guard case .pairs(_, _, _, let inverseID) = state.link.source else { return false }
        if try isMember(member, state) {
            if let index, state.link.isOrdered { try moveMember(member, to: index, state) }
            return false
        }
        let position =
            state.link.isOrdered ? try index.map { try self.position(at: $0, state) } ?? positionAtEnd(state) : 0
        state.add(member, at: position)
        if let inverse = binding.link(inverseID) {
            let other = toManyState(inverse, member)
            if other !== state { other.add(state.owner, at: inverse.isOrdered ? try positionAtEnd(other) : 0) }
        }
        pairChanged(state.owner, member)
        if observesObjects { announceMembers(inverseID, of: [member]) }
        return true
    }

    /// - Returns: whether they were linked before.
    @discardableResult
    func unlinkPair(_ state: ToManyState, _ member: ObjectID) throws -> Bool {
        guard case .pairs(_, _, _, let inverseID) = state.link.source, try isMember(member, state) else { return false }
        state.remove(member)
        if let inverse = binding.link(inverseID) {
            let other = toManyState(inverse, member)
            if other !== state { other.remove(state.owner) }
        }
        pairChanged(state.owner, member)
        if observesObjects { announceMembers(inverseID, of: [member]) }
        return true
    }

    private func pairChanged(_ owner: ObjectID, _ member: ObjectID) {
        pendingLinks.notePairChange()
        noteLinksChanged(of: owner)
        noteLinksChanged(of: member)
    }

    /// An object whose to-many has other members, or has them in another order, counts as updated although its row is
    /// as it was: its hooks and checks run at the save. Neither its row nor a member is read for that.
    func noteLinksChanged(of id: ObjectID) {
        if let object = map[id] { return noteLinksChanged(of: object) }
        if !pending.deletedRows.contains(id), let object = registeredOrFault(id) { noteLinksChanged(of: object) }
    }

    @inline(__always)
    func noteLinksChanged(of object: ManagedObject) {
        guard object._state & (ObjectState.gone | ObjectState.detached) == 0 else { return }
        pending.noteUpdated(object)
        if object.takeSeenMark() { pending.noteTouched(object) }
    }

    /// The same for an object that lost a deleted member.
    ///
    /// The other ends of pairs may be very many: those that are not in memory are made only where their class has hooks.
    func noteLostMember(of owner: ObjectID, _ link: PropertyID) {
        let isMade = map[owner] != nil || binding.entity(owner.entityID)?.observesDeletion ?? false
        if isMade || !(binding.link(link)?.isPairs ?? false) { noteLinksChanged(of: owner) }
    }

    /// Works the owners' sides of all to-ones out again, after rows were replaced under them.
    func rebuildLinkChanges() throws {
        pendingLinks.forgetRowChanges()
        for list in pending.lists {
            for object in list where object._flags.isPending { try noteAllLinkChanges(of: object) }
        }
        try noteAllLinkChangesOfDeletedRows()
    }

    private func noteAllLinkChanges(of object: ManagedObject) throws {
        let isGone = object._flags.contains(.deleted)
        for index in object._entity.toOneIndexes {
            let property = object._entity.properties[index]
            guard case .toMany(let link, _) = property.inverse, property.isInRow else { continue }
            let now = isGone ? ObjectID(rawValue: 0) : object.reference(property.location)
            let before = try storedReference(of: object, property)
            if before == now {
                if !now.isNil, property.positionSlot.map(object.isChanged(slot:)) ?? false,
                    let link = binding.link(link), let slot = property.positionSlot
                {
                    pendingLinks.state(link, now).move(object.objectID, to: object.position(slot: slot))
                }
                continue
            }
            if !before.isNil { noteLinkChange(link, owner: before, member: object.objectID, isAdded: false) }
            if !now.isNil { noteLinkChange(link, owner: now, member: object.objectID, isAdded: true) }
        }
    }

    /// Returns the stored target of a to-one: the one that was read, unless others have changed it since.
    private func storedReference(of object: ManagedObject, _ property: PropertyRuntime) throws -> ObjectID {
        guard pending.overtaken.contains(object.objectID) else { return object.baseReference(property.location) }
        return try read { try $0.reference(property.id, of: object.objectID) } ?? ObjectID(rawValue: 0)
    }
}
