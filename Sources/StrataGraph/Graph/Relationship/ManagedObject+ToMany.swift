public import StrataModel

// The operations of `ToMany` on its owner. Errors that its methods cannot throw are reported to the context.

extension ManagedObject {
    /// The state of the to-many at `index`; nil outside a context, where it is empty.
    private final func state(at index: Int) -> ToManyState? {
        guard let context = _context, let link = context.binding.link(_entity.properties[index].id) else { return nil }
        return context.toManyState(link, objectID)
    }

    /// Runs `body` and reports what it throws to the context.
    final func reporting(_ body: () throws -> Void) {
        do { try body() } catch { report(ManagedObjectContext.typed(error)) }
    }

    private final func reading<Result>(_ initial: Result, _ body: () throws -> Result) -> Result {
        do {
            return try body()
        } catch {
            report(ManagedObjectContext.typed(error))
            return initial
        }
    }

    final func toManyCount(at index: Int) -> Int { reading(0) { try readCount(at: index) } }

    final func toManyContains(_ member: ManagedObject, at index: Int) -> Bool {
        reading(false) { try readContains(member, at: index) }
    }

    final func toManyIDs(at index: Int) -> [ObjectID] { reading([]) { try readMembers(at: index) } }

    // The same for callers that can throw.

    final func readCount(at index: Int) throws -> Int {
        guard let context = _context, let state = state(at: index) else { return 0 }
        return try context.memberCount(state)
    }

    final func readContains(_ member: ManagedObject, at index: Int) throws -> Bool {
        guard let context = _context, member._context === context, let state = state(at: index) else { return false }
        return try context.isMember(member.objectID, state)
    }

    final func readMembers(at index: Int) throws -> [ObjectID] {
        guard let context = _context else { return [] }
        if let known = context.pendingLinks.knownMembers(_entity.properties[index].id, objectID) { return known }
        guard let state = state(at: index) else { return [] }
        return try context.members(state)
    }

    /// Returns the ids for an iteration: as many as `count` says, since the standard library ends the process of a
    /// collection that has fewer. In a damaged file members that cannot be read get nil ids.
    @usableFromInline final func _toManyIDs(at index: Int) -> [ObjectID] {
        guard let context = _context else { return [] }
        if let known = context.pendingLinks.knownMembers(_entity.properties[index].id, objectID) { return known }
        do {
            let ids = try readMembers(at: index)
            guard let lost = state(at: index)?.lostCount, lost > 0 else { return ids }
            report(fewerMembers(at: index))
            return ids + Array(repeating: ObjectID(rawValue: 0), count: lost)
        } catch {
            report(ManagedObjectContext.typed(error))
            return Array(repeating: ObjectID(rawValue: 0), count: toManyCount(at: index))
        }
    }

    private final func fewerMembers(at index: Int) -> StrataError {
        StrataError(
            .corrupt, "The relationship has fewer members than it counts.",
            context: errorContext(_entity.properties[index].name))
    }

    final func member<Member: ManagedObject>(atPosition position: Int, at index: Int, as type: Member.Type) -> Member {
        guard let context = _context else {
            preconditionFailure("The object's context is gone: keep the context while its objects are used.")
        }
        // In a damaged file more may have been counted than there are links, or can be read.
        do {
            let ids = try readMembers(at: index)
            if ids.indices.contains(position) { return context._member(ids[position], as: type) }
            let lost = state(at: index)?.lostCount ?? 0
            precondition(
                position >= 0 && position < ids.count + lost,
                "There is no member at position \(position) of \(ids.count).")
            throw fewerMembers(at: index)
        } catch {
            report(ManagedObjectContext.typed(error))
            return context.lostMember()
        }
    }

    // MARK: Changing

    final func addMember(_ member: ManagedObject, at index: Int, position: Int?) throws {
        let property = _entity.properties[index]
        let (context, link) = try changing(property, member)
        if let position { try checkPosition(position, property) }
        if _state & ObjectState.observed != 0 { announceWillSet(index) }
        switch link.source {
        case .pairs: try context.linkPair(context.toManyState(link, objectID), member.objectID, at: position)
        case .rows(let toOne):
            guard let back = member._entity.property(toOne) else { throw wrongMember(member, property) }
            try member.changeTarget(self, at: back.index)
            if let position, link.isOrdered {
                let state = context.toManyState(link, objectID)
                try context.moveMember(member.objectID, to: position, state)
            }
        }
        if _state & ObjectState.observed != 0 { announceDidSet(index) }
    }

    final func removeMember(_ member: ManagedObject, at index: Int) throws {
        let property = _entity.properties[index]
        let (context, link) = try changing(property, nil)
        guard member._context === context else { return }
        if _state & ObjectState.observed != 0 { announceWillSet(index) }
        switch link.source {
        case .pairs: try context.unlinkPair(context.toManyState(link, objectID), member.objectID)
        case .rows(let toOne):
            guard let back = member._entity.property(toOne) else { return }
            member.fireFault()
            if member.reference(back.location) == objectID { try member.changeTarget(nil, at: back.index) }
        }
        if _state & ObjectState.observed != 0 { announceDidSet(index) }
    }

    final func moveMember(from source: Int, to destination: Int, at index: Int) throws {
        let property = _entity.properties[index]
        let (context, link) = try changing(property, nil)
        let state = context.toManyState(link, objectID)
        let ids = try context.members(state)
        try checkPosition(destination, property)
        guard ids.indices.contains(source), link.isOrdered else { return }
        if _state & ObjectState.observed != 0 { announceWillSet(index) }
        try context.moveMember(ids[source], to: destination, state)
        if _state & ObjectState.observed != 0 { announceDidSet(index) }
    }

    /// Makes the to-many hold exactly `members`, in their order.
    final func setMembers<Member: ManagedObject>(_ members: ToMany<Member>, at index: Int) {
        if case .live(let owner, let other) = members.storage, owner === self, other == index { return }
        reporting { try replaceMembers(Array(members), at: index) }
    }

    final func replaceMembers(_ members: [ManagedObject], at index: Int) throws {
        let property = _entity.properties[index]
        for member in members { _ = try changing(property, member) }
        var kept: Set<ObjectID> = []
        // A member that is named twice keeps its first position.
        let members = members.filter { kept.insert($0.objectID).inserted }
        for id in try readMembers(at: index) where !kept.contains(id) {
            if let member = _target(id) { try removeMember(member, at: index) }
        }
        if property.isOrdered {
            for (position, member) in members.enumerated() {
                let ids = try readMembers(at: index)
                if position < ids.count, ids[position] == member.objectID { continue }
                try addMember(member, at: index, position: position)
            }
        } else {
            for member in members { try addMember(member, at: index, position: nil) }
        }
    }

    /// Checks that the to-many may be changed, and that `member` may be in it.
    private final func changing(
        _ property: PropertyRuntime, _ member: ManagedObject?
    ) throws -> (ManagedObjectContext, Link) {
        if let refusal = refusalToChange(key: property.name) { throw refusal }
        guard let context = _context, let link = context.binding.link(property.id) else {
            throw unreadable(property.name)
        }
        guard let member else { return (context, link) }
        let value = AttributeValue.objectID(member.objectID)
        if member._context !== context {
            throw StrataError(
                .otherContext, "The member belongs to another context. Link this context's object of its objectID.",
                context: errorContext(property.name, value))
        }
        if member._state & ObjectState.unlinkable != 0 {
            throw StrataError(.deletedObject, "The member was deleted.", context: errorContext(property.name, value))
        }
        guard context.binding.schema.entity(link.memberEntity)?.entityIDs.contains(member._entity.id) ?? false else {
            throw wrongMember(member, property)
        }
        return (context, link)
    }

    private final func checkPosition(_ position: Int, _ property: PropertyRuntime) throws {
        guard position < 0 else { return }
        throw StrataError(
            .invalidRequest, "\(property.name) has no position \(position).", context: errorContext(property.name))
    }

    private final func wrongMember(_ member: ManagedObject, _ property: PropertyRuntime) -> StrataError {
        StrataError(
            .wrongType, "\(property.name) does not take objects of \(member._entity.name).",
            context: errorContext(property.name, .objectID(member.objectID)))
    }
}

extension ManagedObjectContext {
    /// A member of a to-many, in memory or as a fault.
    @inlinable func _member<Member: ManagedObject>(_ id: ObjectID, as type: Member.Type) -> Member {
        if let object = _registeredOrFault(id) {
            if Swift.type(of: object) == Member.self { return unsafeDowncast(object, to: Member.self) }
            if let member = object as? Member { return member }
        }
        return _noMember(id)
    }

    @usableFromInline func _registeredOrFault(_ id: ObjectID) -> ManagedObject? {
        id.isNil ? nil : registeredOrFault(id)
    }

    /// The app walks through these members; the one at `index` is the first fault.
    @usableFromInline func _noteWalk(_ members: [ObjectID], from index: Int) {
        memory.faultRuns.begin(members.last?.isNil == true ? members.filter { !$0.isNil } : members, from: index)
    }

    @usableFromInline func _noMember<Member: ManagedObject>(_ id: ObjectID) -> Member {
        precondition(id.isNil, "The member \(id) is not a \(Member.self).")
        return lostMember()
    }

    /// Returns an object in place of a member that cannot be read: all its values are empty.
    func lostMember<Member: ManagedObject>() -> Member {
        Member(
            _ObjectSeed(
                entity: entity(of: Member.self), objectID: ObjectID(rawValue: 0),
                state: ObjectState.detached | ObjectState.inaccessible, context: nil, isInserted: false))
    }

    /// Moves a member to the index `destination` among the others.
    func moveMember(_ member: ObjectID, to destination: Int, _ state: ToManyState) throws {
        let ids = try members(state)
        guard let current = ids.firstIndex(of: member), current != destination else { return }
        // Between the neighbours it will have: going down the list it passes the one now in its index.
        let index = destination > current ? destination + 1 : destination
        try setPosition(of: member, try position(at: index, state), state)
    }
}
