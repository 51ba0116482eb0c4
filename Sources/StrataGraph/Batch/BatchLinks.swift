import StrataModel
import StrataStore

/// Keeps both ends of relationships consistent in one step of a batch: partners of one-to-ones, members of to-manys.
///
/// It changes the change set of the step, which was made from a snapshot. The result is that of linking the rows one
/// after the other. So `takeBack` first resets the links that all rows give, and `set` sets those of one row.
struct BatchLinks {
    /// The value that one row gives to a relationship which other rows or objects hold a part of, too.
    enum GivenLink {
        /// The object at the other end of a one-to-one, or none.
        case partner(PropertyRuntime, ObjectID?)
        /// The target of a to-one. Another row of the step may give the members of the target's to-many.
        case owner(PropertyRuntime, ObjectID?)
        /// All members of a to-many, in order.
        case members(PropertyRuntime, [ObjectID])

        var property: PropertyRuntime {
            switch self {
            case .partner(let property, _), .owner(let property, _), .members(let property, _): property
            }
        }

        var isOwner: Bool { if case .owner = self { true } else { false } }
    }

    /// An object that is to be linked is not in the store.
    private struct MissingObject: Error {
        let id: ObjectID
    }

    private let binding: StoreBinding
    private let snapshot: Snapshot
    private var changes: ChangeSet
    private var insertions: [ObjectID: Int]
    private var updates: [ObjectID: Int]
    /// Objects that change only because another was linked.
    private var others: Set<ObjectID> = []
    private var positions: BatchPositions
    private var pairs: [PairKey: ChangeSet.PairChange.Kind] = [:]
    /// Members that the step has added. It may have removed some of them again.
    private var added: [ToManyKey: [ObjectID]] = [:]
    /// Updates whose links were reset.
    private var takenBack: Set<ObjectID> = []

    init(_ binding: StoreBinding, _ changes: ChangeSet, _ snapshot: Snapshot) {
        self.binding = binding
        self.changes = changes
        self.snapshot = snapshot
        positions = BatchPositions(snapshot)
        insertions = Dictionary(
            changes.insertions.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        updates = Dictionary(changes.updates.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Resets to-ones of a row to the targets that they have in the store, if any.
    mutating func takeBack(_ values: [GivenLink], of id: ObjectID) throws {
        guard insertions[id] != nil || updates[id] != nil, let entity = binding.entity(id.entityID) else { return }
        for value in values {
            let property: PropertyRuntime
            switch value {
            case .partner(let toOne, _), .owner(let toOne, _): property = toOne
            case .members: continue
            }
            var slots = [property.slot]
            if case .toMany(_, let positionSlot?) = property.inverse { slots.append(positionSlot) }
            if let index = insertions[id] {
                changes.insertions[index].image = try changes.insertions[index].image.with(
                    slots, of: RowImage(canonical: Array(entity.template)), entity)
            } else if let index = updates[id], let row = try snapshot.row(id) {
                changes.updates[index].image = try changes.updates[index].image.with(
                    slots, of: try row.converted(to: entity.schema), entity)
                takenBack.insert(id)
            }
        }
    }

    mutating func set(_ values: [GivenLink], of id: ObjectID) throws {
        for value in values {
            do {
                switch value {
                case .partner(let property, let partner): try pair(id, property, with: partner)
                case .owner(let property, let owner): try lead(id, property, to: owner)
                case .members(let property, let members): try setMembers(of: id, property, members)
                }
            } catch let missing as MissingObject {
                throw binding.noTarget(missing.id, of: value.property.name, of: id)
            }
        }
    }

    /// The change set with all that was given.
    mutating func finish() throws -> ChangeSet {
        for id in takenBack {
            guard let index = updates[id], let row = try snapshot.row(id), let entity = binding.entity(id.entityID)
            else {
                continue
            }
            let update = changes.updates[index]
            changes.updates[index].changedSlots = SlotSet(
                entity.slots(
                    update.changedSlots.slots, thatDifferIn: try row.converted(to: entity.schema), update.image))
        }
        changes.updates.removeAll { $0.changedSlots.isEmpty }
        changes.pairs = pairs.map { ChangeSet.PairChange(key: $0.key, kind: $0.value) }.sorted { $0.key < $1.key }
        return changes
    }

    // MARK: To-one

    private mutating func lead(_ id: ObjectID, _ property: PropertyRuntime, to owner: ObjectID?) throws {
        guard try reference(of: id, property.id) != owner else { return }
        var position: Int64?
        if let owner, case .toMany(let link, _?) = property.inverse { position = try positions.next(link, owner) }
        try setReference(of: id, property.id, to: owner, position: position)
    }

    private mutating func pair(_ id: ObjectID, _ property: PropertyRuntime, with partner: ObjectID?) throws {
        guard case .toOne(let inverse) = property.inverse else { return }
        let change = OneToOneChange(
            of: id, property.id, inverse: inverse, from: try reference(of: id, property.id), to: partner,
            rival: try partner.flatMap { try reference(of: $0, inverse) })
        try setReference(of: id, property.id, to: partner)
        for slot in [change.formerPartner, change.rival, change.partner] {
            guard let slot else { continue }
            if let expected = slot.expected, try reference(of: slot.object, slot.toOne) != expected { continue }
            try setReference(of: slot.object, slot.toOne, to: slot.target)
        }
    }

    private func savedReference(of id: ObjectID, _ property: PropertyRuntime) throws -> ObjectID? {
        guard let row = try snapshot.row(id), let entity = binding.entity(id.entityID) else { return nil }
        let image = try row.converted(to: entity.schema)
        return try reference(in: image, entity, property.slot)
    }

    // MARK: To-many

    private mutating func setMembers(of id: ObjectID, _ property: PropertyRuntime, _ members: [ObjectID]) throws {
        guard let link = binding.link(property.id) else { return }
        var seen: Set<ObjectID> = []
        let wanted = members.filter { seen.insert($0).inserted }
        let current = try self.members(of: id, link)
        if current == wanted, added[ToManyKey(link: link.id, owner: id)] == nil { return }
        let kept = Set(wanted)
        let gone = current.filter { !kept.contains($0) }
        switch link.source {
        case .rows(let toOne):
            for member in gone where try reference(of: member, toOne) == id {
                try setReference(of: member, toOne, to: nil)
            }
            for (index, member) in wanted.enumerated() {
                try setReference(of: member, toOne, to: id, position: Int64(index) * MemberPositions.gap)
            }
        case .pairs(_, _, _, let inverse):
            for member in gone { unlink(link, id, member) }
            for (index, member) in wanted.enumerated() {
                let position = link.isOrdered ? Int64(index) * MemberPositions.gap : 0
                try self.link(link, id, member, position, other: inverse)
            }
        }
        if link.isOrdered { positions.note(link.id, id, count: wanted.count) }
    }

    /// The members of a to-many, with the changes of the step so far.
    private func members(of id: ObjectID, _ link: Link) throws -> [ObjectID] {
        let saved = insertions[id] == nil ? try snapshot.members(of: link.id, owner: id) : []
        var seen: Set<ObjectID> = []
        return try (saved + (added[ToManyKey(link: link.id, owner: id)] ?? [])).filter { member in
            guard seen.insert(member).inserted else { return false }
            if case .rows(let toOne) = link.source { return try reference(of: member, toOne) == id }
            return link.pairKey(owner: id, member: member).map { pairs[$0] != .unlink } ?? false
        }
    }

    private mutating func unlink(_ link: Link, _ owner: ObjectID, _ member: ObjectID) {
        guard let key = link.pairKey(owner: owner, member: member) else { return }
        pairs[key] = .unlink
    }

    private mutating func link(
        _ link: Link, _ owner: ObjectID, _ member: ObjectID, _ position: Int64, other: PropertyID
    ) throws {
        guard let key = link.pairKey(owner: owner, member: member) else { return }
        let isSource = link.isSource(owner, of: key)
        var otherPosition: Int64 = 0
        if let back = binding.link(other), back.isOrdered, back !== link || owner != member {
            switch pairs[key] {
            case .link(let known)?, .move(let known)?: otherPosition = isSource ? known.inTarget : known.inSource
            case .unlink?: otherPosition = try positions.next(other, member)
            case nil:
                otherPosition =
                    try snapshot.position(of: owner, in: other, owner: member) ?? positions.next(other, member)
            }
        }
        added[ToManyKey(link: link.id, owner: owner), default: []].append(member)
        added[ToManyKey(link: other, owner: member), default: []].append(owner)
        let positions = PairPositions(
            inSource: isSource ? position : otherPosition, inTarget: isSource ? otherPosition : position)
        pairs[key] = .link(positions)
    }

    // MARK: Rows

    /// The target of a to-one, with the changes of the step so far.
    private func reference(of id: ObjectID, _ toOne: PropertyID) throws -> ObjectID? {
        guard let entity = binding.entity(id.entityID), let property = entity.property(toOne) else { return nil }
        if let index = insertions[id] {
            return try reference(in: changes.insertions[index].image, entity, property.slot)
        }
        if let index = updates[id] { return try reference(in: changes.updates[index].image, entity, property.slot) }
        return try savedReference(of: id, property)
    }

    private func reference(in image: RowImage, _ entity: EntityRuntime, _ slot: Int) throws -> ObjectID? {
        let id = try image.bytes.withUnsafeBytes { try RowReader($0, layout: entity.layout).reference(slot) }
        return id.isNil ? nil : id
    }

    private mutating func setReference(
        of id: ObjectID, _ toOne: PropertyID, to target: ObjectID?, position: Int64? = nil
    ) throws {
        guard let entity = binding.entity(id.entityID), let property = entity.property(toOne) else { return }
        if let target, case .toMany(let link, _) = property.inverse {
            added[ToManyKey(link: link, owner: target), default: []].append(id)
        }
        var slots = [property.slot]
        func change(_ image: RowImage) throws -> RowImage {
            var builder = try RowBuilder(image, layout: entity.layout)
            if let target { try builder.setReference(property.slot, target) } else { builder.setNull(property.slot) }
            if let position, case .toMany(_, let positionSlot?) = property.inverse {
                try builder.setPosition(positionSlot, position)
                slots.append(positionSlot)
            }
            return try builder.finish()
        }
        if target == nil { others.insert(id) }
        if let index = insertions[id] {
            changes.insertions[index].image = try change(changes.insertions[index].image)
            changes.insertions[index].givenSlots.formUnion(slots)
            changes.insertions[index].failures.removeAll { target != nil && $0.slot == property.slot }
            return
        }
        if let index = updates[id] {
            changes.updates[index].image = try change(changes.updates[index].image)
            changes.updates[index].changedSlots.formUnion(slots)
            return
        }
        guard let row = try snapshot.row(id) else { throw MissingObject(id: id) }
        let before = try row.converted(to: entity.schema)
        let image = try change(before)
        let changed = entity.slots(slots, thatDifferIn: before, image)
        guard !changed.isEmpty else { return }
        updates[id] = changes.updates.count
        others.insert(id)
        changes.updates.append(
            .init(id: id, baseRevision: row.revision, image: image, changedSlots: changed))
    }

    // MARK: Rules

    /// Validation errors of objects that changed only because others were linked.
    func failures() throws -> [StrataError] {
        var failures: [StrataError] = []
        for id in others.sorted() {
            guard let entity = binding.entity(id.entityID) else { continue }
            if let index = updates[id] {
                let update = changes.updates[index]
                failures += try missingTargets(of: id, entity, update.image, update.changedSlots)
                failures += try RowRules(entity.schema, binding.schema).failures(of: update.image, id, snapshot)
            } else if let index = insertions[id] {
                // Values that the row itself lacks are reported already.
                let insertion = changes.insertions[index]
                var slots = insertion.givenSlots
                for failure in insertion.failures { slots.remove(failure.slot) }
                failures += try missingTargets(of: id, entity, insertion.image, slots)
            }
        }
        return failures
    }

    private func missingTargets(
        of id: ObjectID, _ entity: EntityRuntime, _ image: RowImage, _ slots: SlotSet
    ) throws -> [StrataError] {
        var failures: [StrataError] = []
        for slot in slots {
            let property = entity.property(slot: slot)
            guard property.isToOne else { continue }
            let count = try reference(in: image, entity, slot) == nil ? 0 : 1
            failures += (property.relationship?.description.validate(count: count, entityName: entity.name) ?? [])
                .map { $0.about(id) }
        }
        return failures
    }
}

/// Counts the members of to-manys with a minimum or maximum that a step changes.
struct BatchBounds {
    let binding: StoreBinding
    let snapshot: Snapshot

    func failures(_ changes: ChangeSet) throws -> [StrataError] {
        guard binding.hasBoundedLinks else { return [] }
        var differences: [ToManyKey: Int] = [:]
        let deleted = Set(changes.deletions.map(\.id))
        var inserted: Set<ObjectID> = []
        for insertion in changes.insertions {
            guard let entity = binding.entity(insertion.id.entityID) else { continue }
            inserted.insert(insertion.id)
            for index in entity.toManyIndexes { add(entity.properties[index].id, insertion.id, 0, &differences) }
            for index in entity.toOneIndexes {
                try addOwner(in: insertion.image, entity.properties[index], entity, 1, &differences)
            }
        }
        for update in changes.updates {
            guard let entity = binding.entity(update.id.entityID) else { continue }
            let bounded = update.changedSlots.map(entity.property(slot:)).filter(isBounded)
            guard !bounded.isEmpty, let row = try snapshot.row(update.id) else { continue }
            let before = try row.converted(to: entity.schema)
            for property in bounded {
                try addOwner(in: before, property, entity, -1, &differences)
                try addOwner(in: update.image, property, entity, 1, &differences)
            }
        }
        for change in changes.pairs { try addEnds(of: change, &differences) }
        return try differences.filter { !deleted.contains($0.key.owner) }
            .sorted { ($0.key.owner, $0.key.link) < ($1.key.owner, $1.key.link) }
            .flatMap { key, difference in
                let before = inserted.contains(key.owner) ? 0 : try snapshot.memberCount(of: key.link, owner: key.owner)
                let entity = binding.entity(key.owner.entityID)
                return
                    (binding.link(key.link)?.description?.validate(
                        count: before + difference, entityName: entity?.name) ?? []).map { $0.about(key.owner) }
            }
    }

    private func isBounded(_ property: PropertyRuntime) -> Bool {
        guard property.isToOne, case .toMany(let link, _) = property.inverse else { return false }
        return binding.link(link)?.isBounded ?? false
    }

    private func add(_ link: PropertyID, _ owner: ObjectID, _ count: Int, _ differences: inout [ToManyKey: Int]) {
        guard binding.link(link)?.isBounded ?? false else { return }
        differences[ToManyKey(link: link, owner: owner), default: 0] += count
    }

    private func addOwner(
        in image: RowImage, _ property: PropertyRuntime, _ entity: EntityRuntime, _ count: Int,
        _ differences: inout [ToManyKey: Int]
    ) throws {
        guard isBounded(property), case .toMany(let link, _) = property.inverse else { return }
        let owner = try image.bytes.withUnsafeBytes {
            try RowReader($0, layout: entity.layout).reference(property.slot)
        }
        if !owner.isNil { add(link, owner, count, &differences) }
    }

    private func addEnds(of change: ChangeSet.PairChange, _ differences: inout [ToManyKey: Int]) throws {
        guard let link = binding.link(change.key.property),
            case .pairs(_, _, let isSymmetric, let inverse) = link.source
        else { return }
        let isThere = try snapshot.isMember(change.key.target, of: link.id, owner: change.key.source)
        let difference: Int =
            switch change.kind {
            case .link: isThere ? 0 : 1
            case .unlink: isThere ? -1 : 0
            case .move: 0
            }
        add(link.id, change.key.source, difference, &differences)
        add(isSymmetric ? link.id : inverse, change.key.target, difference, &differences)
    }
}

extension RowImage {
    /// The row with the values of some slots taken from another.
    fileprivate func with(_ slots: [Int], of other: RowImage, _ entity: EntityRuntime) throws -> RowImage {
        var builder = try RowBuilder(self, layout: entity.layout)
        for slot in slots {
            try builder.set(
                slot,
                try other.withReader(entity.layout) { reader throws(CorruptRecord) in try reader.value(slot) })
        }
        return try builder.finish()
    }
}
