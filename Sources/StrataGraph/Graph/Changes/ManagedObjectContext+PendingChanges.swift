import StrataModel
import StrataStore

extension ManagedObjectContext {
    /// The changes that the next save would write, one value an object.
    ///
    /// - Throws: `corrupt`, when the values before the changes cannot be read.
    public func changes() throws -> [ObjectChange] { try described(try netChanges()) }

    func described(_ changes: NetChanges) throws -> [ObjectChange] {
        ObjectChange.list(
            changes, try binding.store.recordedNames(), binding.store.keyRing, isPosition: binding.isPosition)
    }

    /// Objects that are as they were read, after changes were taken back, do not count as updated any more.
    ///
    /// - Parameter changes: all that is to be saved.
    func forgetTakenBackChanges(beside changes: NetChanges) throws {
        let owners = ownersOfChangedMembers(changes)
        let wasAny = pending.dropUnchanged { !owners.contains($0.objectID) && $0.differsInNothing }
        guard wasAny else { return }
        invalidateLayers()
        try rebuildLinkChanges()
    }

    /// The objects whose to-manys have other members than they had, or have them in another order.
    private func ownersOfChangedMembers(_ changes: NetChanges) -> Set<ObjectID> {
        var owners: Set<ObjectID> = []
        for pair in changes.pairs.keys { owners.formUnion([pair.source, pair.target]) }
        for (id, change) in changes.objects {
            guard let entity = binding.entity(id.entityID) else { continue }
            for property in entity.toOneIndexes.map({ entity.properties[$0] }) {
                guard case .toMany(_, let positionSlot) = property.inverse else { continue }
                if let values = change.values[property.id],
                    !values.isNothing || change.existedBefore != change.existsAfter
                {
                    owners.formUnion([values.before, values.after].compactMap(\.objectReference))
                }
                let position = positionSlot.flatMap { change.values[entity.property(slot: $0).id] }
                if let position, !position.isNothing, let object = map[id] {
                    owners.insert(object.reference(property.location))
                }
            }
        }
        return owners
    }

    /// The unsaved changes of the context, relative to the state that it shows.
    func netChanges() throws -> NetChanges {
        foldLinkChanges()
        var changes = NetChanges()
        for list in pending.lists {
            for object in list { changes.objects[object.objectID] = try netChange(of: object) }
        }
        for (id, change) in try netChanges(ofRows: pending.deletedRows.rows.keys) { changes.objects[id] = change }
        changes.pairs = try netPairChanges()
        changes.simplify()
        return changes
    }

    /// nil for an object that is as the store has it.
    func netChange(of object: ManagedObject) throws -> NetChanges.Object? {
        let flags = object._flags
        guard flags.isPending else { return nil }
        let layout = object._entity.layout
        if flags.contains(.deleted) {
            let base = try RowReader(object.baseImage(), layout: layout)
            return try NetChanges.Object(base, object._entity.schema, isInserted: false)
        }
        let now = try RowReader(object.rowBytes, layout: layout)
        guard flags.contains(.updated) else {
            return try NetChanges.Object(now, object._entity.schema, isInserted: true)
        }
        guard object._base != nil, let bytes = object.baseBytes else { return nil }
        let base = try RowReader(bytes, layout: layout)
        var change = NetChanges.Object(existedBefore: true, existsAfter: true)
        for slot in object.slotsThatDiffer(from: bytes) {
            change.note(
                object._entity.property(slot: slot).id, before: try base.value(slot), after: try now.value(slot))
        }
        return change
    }

    /// The deletions of objects that were deleted as rows.
    func netChanges(ofRows ids: some Collection<ObjectID>) throws -> [ObjectID: NetChanges.Object] {
        guard !ids.isEmpty else { return [:] }
        var changes: [ObjectID: NetChanges.Object] = [:]
        try read { snapshot in
            for id in ids {
                guard let entity = binding.entity(id.entityID), let row = try snapshot.row(id) else { continue }
                changes[id] = try row.converted(to: entity.schema).withReader(entity.layout) {
                    reader throws(CorruptRecord) in
                    try NetChanges.Object(reader, entity.schema, isInserted: false)
                }
            }
        }
        return changes
    }

    /// Pairs that were made, cut or moved, those that go with a deleted object among them.
    func netPairChanges() throws -> [PairKey: NetChanges.PairPositionChange] {
        let gone = deletedObjectIDs
        let hasDeletions = !gone.isEmpty
        guard pendingLinks.pairGeneration != 0 || hasDeletions else { return [:] }
        var pairs: [PairKey: NetChanges.PairPositionChange] = [:]
        try read { snapshot in
            for change in try pairChanges() {
                let before = try snapshot.pair(change.key)
                switch change.kind {
                case .link(let positions), .move(let positions):
                    pairs[change.key] = .init(before: before, after: positions)
                case .unlink: pairs[change.key] = .init(before: before, after: nil)
                }
            }
            for id in gone {
                for link in binding.pairLinks(of: id.entityID) {
                    try snapshot.members(of: link.id, owner: id) { member in
                        if let key = link.pairKey(owner: id, member: member) {
                            pairs[key] = .init(before: try snapshot.pair(key), after: nil)
                        }
                        return true
                    }
                }
            }
        }
        return pairs.filter { $0.value.before != $0.value.after }
    }
}

extension EntityRuntime {
    /// Every slot that the row holds.
    var slotsInRow: [Int] { schema.properties.indices.filter { property(slot: $0).isInRow } }
}

extension StoreBinding {
    /// The relationships of an entity's objects whose truth are pairs, hidden ways back among them.
    func pairLinks(of entity: EntityID) -> [Link] {
        let declared = self.entity(entity).map { runtime in
            runtime.toManyIndexes.compactMap { link(runtime.properties[$0].id) }
        }
        return ((declared ?? []) + incomingLinks(of: entity)).filter(\.isPairs)
    }

    /// Whether a property is the hidden position of an object among the members of an ordered relationship.
    func isPosition(_ property: PropertyID) -> Bool { positionProperties.contains(property) }
}
