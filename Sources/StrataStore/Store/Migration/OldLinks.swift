import StrataModel

/// Finds the links that a relationship with a new number had under the old model.
struct OldLinks {
    let old: Schema
    let new: Schema
    /// Relationships that models before `old` had, by number.
    private let returning: [PropertyID: (last: RelationshipSchema, values: PastValues)]
    /// The last values of all properties that return, and of the positions of to-ones.
    let past: [PropertyID: PastValues]
    /// By entity and relationship: the links of another relationship of the same name that gives way to it.
    private var adopted: [EntityID: [PropertyID: Adoption]] = [:]
    /// By a to-one whose inverse adopts links: those links, seen from this end.
    private var adoptedBack: [PropertyID: [BackAdoption]] = [:]
    /// By a to-one, the entities of the objects that it loses: its inverse gave its links to another relationship, or the
    /// entity is removed.
    private var released: [PropertyID: Set<EntityID>] = [:]

    init(old: Schema, new: Schema, _ past: [PropertyID: PastValues], _ histories: SchemaHistory) throws {
        self.old = old
        self.new = new
        var returning: [PropertyID: (last: RelationshipSchema, values: PastValues)] = [:]
        for (number, values) in past {
            guard let last = try histories.schema(values.version)?.property(number)?.relationship else { continue }
            returning[number] = (last, values)
        }
        self.returning = returning
        self.past = past
        findAdopted()
        findGone()
    }

    enum Storage: Sendable, Hashable {
        /// In the slot of a to-one of the object's own row.
        case slot(PropertyID)
        /// In `links`, under this number.
        case members(PropertyID)
        /// In a slot that rows had under an earlier model.
        case formerSlot(PropertyID)
    }

    /// Links that go from one relationship to another.
    struct Adoption: Sendable {
        let links: Storage
        /// The same links from their other end; nil if no order is kept there.
        let back: Storage?
    }

    /// Links that go from one relationship to another, seen from the to-one at their other end.
    struct BackAdoption: Sendable {
        /// The entity of the objects that the to-one leads to.
        let owner: EntityID
        let links: Storage
        /// The members of the owner, for the positions.
        let order: Storage
    }

    /// Nil if there were no such links.
    func storage(of property: PropertySchema) -> Storage? {
        if let number = new.assignment.replaced[property.id]?.first { return forward(number) }
        guard let inverse = property.relationship?.inverse else { return nil }
        if let number = new.assignment.replaced[inverse]?.first { return backward(number) }
        return old.property(inverse) == nil ? nil : backward(inverse)
    }

    private mutating func findAdopted() {
        for entity in new.entities where !entity.isAbstract {
            guard let before = old.entity(entity.id), !before.isAbstract else { continue }
            for property in entity.properties where before.property(property.id) == nil {
                guard let lost = before.property(named: property.name), let earlier = lost.relationship,
                    new.isSuccessor(property, withoutLinksOf: lost, in: entity), let links = forward(lost.id)
                else { continue }
                let back = earlier.isInverseToMany ? earlier.inverse.flatMap(forward) : nil
                adopted[entity.id, default: [:]][property.id] = Adoption(links: links, back: back)
                if let inverse = earlier.inverse, !earlier.isInverseToMany {
                    released[inverse, default: []].insert(entity.id)
                }
                guard let inverse = property.relationship?.inverse, let storage = backward(lost.id),
                    new.property(inverse)?.relationship?.isToMany == false
                else { continue }
                adoptedBack[inverse, default: []].append(BackAdoption(owner: entity.id, links: storage, order: links))
            }
        }
    }

    /// Finds the to-ones that stay and may lead to objects of removed entities.
    private mutating func findGone() {
        for entity in new.entities {
            for property in entity.properties {
                guard let relationship = property.relationship?.description, !relationship.isToMany,
                    let before = old.property(property.id)?.relationship
                else { continue }
                let possible = old.entity(before.destination)?.concreteEntityIDs ?? []
                let gone = possible.filter { new.entity($0) == nil }
                if !gone.isEmpty { released[property.id, default: []].formUnion(gone) }
            }
        }
    }

    /// The links of an object's pairs that end with its entity: the entity is removed, and the relationship stays.
    func lostPairs(of entity: EntitySchema) -> [Link] {
        guard !entity.isAbstract, new.entity(entity.id) == nil else { return [] }
        return old.links.links(ofOwners: entity.id).filter { link in
            guard case .pairs(let canonical, _, _, _) = link.source else { return false }
            return new.links.link(canonical)?.isPairs ?? false
        }
    }

    /// The pairs of an object of a removed entity, each for one of its ends.
    func lostPairs(of id: ObjectID, _ links: [Link], _ snapshot: Snapshot) throws -> [PairKey] {
        var keys: [PairKey] = []
        for link in links {
            try snapshot.members(of: link.id, owner: id) { member in
                guard let key = link.pairKey(owner: id, member: member) else { return true }
                // If the other end is removed too, the source loses the pair for both.
                if new.entity(member.entityID) != nil || link.isSource(id, of: key) { keys.append(key) }
                return true
            }
        }
        return keys
    }

    /// Whether a to-many may have had objects of removed entities.
    func losesMembers(_ property: PropertySchema) -> Bool {
        guard let number = number(before: property), let before = old.property(number)?.relationship else {
            return false
        }
        return old.entity(before.destination)?.concreteEntityIDs.contains { new.entity($0) == nil } ?? false
    }

    /// The number that a relationship had under the old model.
    func number(before property: PropertySchema) -> PropertyID? {
        ([property.id] + (new.assignment.replaced[property.id] ?? [])).first { old.property($0) != nil }
    }

    /// The links of another relationship of the same name that this one takes over in an entity: an entity's own under
    /// a parent that has one of that name, the reverse, or that of one parent after another's. Nil if there are none.
    func adoption(by property: PropertyID, of entity: EntityID) -> Adoption? { adopted[entity]?[property] }

    /// The links that the inverse of a to-one takes over, which this to-one records.
    func adoptions(backTo property: PropertyID) -> [BackAdoption] { adoptedBack[property] ?? [] }

    /// The entities of the objects that a to-one no longer leads to, because its inverse gave its links to another
    /// relationship, or because they are removed.
    func released(by property: PropertyID) -> Set<EntityID> { released[property] ?? [] }

    private func forward(_ number: PropertyID) -> Storage? {
        if let relationship = old.property(number)?.relationship {
            return relationship.isToMany ? .members(number) : .slot(number)
        }
        guard let former = returning[number]?.last else { return nil }
        return former.isToMany ? .members(number) : .formerSlot(number)
    }

    /// The links of an old relationship, from its other end.
    private func backward(_ number: PropertyID) -> Storage? {
        guard let relationship = old.property(number)?.relationship else { return nil }
        if let inverse = relationship.inverse { return forward(inverse) }
        return .members(number.hiddenInverse)
    }

    /// The former targets of an object, each with its position if the links were ordered.
    func targets(
        _ storage: Storage, of id: ObjectID, _ row: SnapshotRow, _ entity: EntitySchema, _ snapshot: Snapshot,
        limit: Int = .max
    ) throws -> [(id: ObjectID, position: Int64)] {
        switch storage {
        case .slot(let number):
            guard let slot = entity.slot(of: number),
                case .objectID(let target) = try snapshot.value(slot, of: row, row.reader, entity)
            else { return [] }
            return [(target, 0)]
        case .members(let number):
            // No model maintained the links of a former relationship when objects were deleted.
            let isFormer = returning[number] != nil
            var targets: [(id: ObjectID, position: Int64)] = []
            try snapshot.membersWithPositions(of: number, owner: id) { member, position in
                if try !isFormer || snapshot.exists(member) { targets.append((member, position)) }
                return targets.count < limit
            }
            return targets
        case .formerSlot(let number):
            return try formerTarget(number, of: id, row, snapshot).map { [$0] } ?? []
        }
    }

    /// The last target of a former to-one, if that object still exists, and still leads back where it has to.
    private func formerTarget(
        _ number: PropertyID, of id: ObjectID, _ row: SnapshotRow, _ snapshot: Snapshot
    ) throws -> (id: ObjectID, position: Int64)? {
        guard let (last, values) = returning[number],
            case .objectID(let target)? = try values.value(of: id, row, snapshot),
            let targetRow = try snapshot.row(target)
        else { return nil }
        if let inverse = last.inverse, !last.isInverseToMany {
            guard let back = returning[inverse]?.values,
                case .objectID(id)? = try back.value(of: target, targetRow, snapshot)
            else { return nil }
        }
        guard let position = last.position.flatMap({ past[$0] }),
            case .integer(let number)? = try position.value(of: id, row, snapshot)
        else { return (target, 0) }
        return (target, number)
    }

    /// The object's position among those that led to `target`.
    func position(_ storage: Storage?, of id: ObjectID, at target: ObjectID, _ snapshot: Snapshot) throws -> Int64 {
        guard case .members(let number)? = storage else { return 0 }
        return try snapshot.position(of: id, in: number, owner: target) ?? 0
    }

    /// Whether one object's links lead to another.
    func leads(_ source: ObjectID, to target: ObjectID, _ storage: Storage, _ snapshot: Snapshot) throws -> Bool {
        switch storage {
        case .slot(let number): try snapshot.row(source)?.reference(number, of: old, source) == target
        case .members(let number): try snapshot.isMember(target, of: number, owner: source)
        case .formerSlot: false
        }
    }
}
