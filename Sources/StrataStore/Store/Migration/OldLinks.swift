import StrataModel

/// Finds the links that a relationship with a new number had under the old model.
struct OldLinks {
    let old: Schema
    let new: Schema
    /// Relationships that models before `old` had, by number.
    let returning: [PropertyID: (last: RelationshipSchema, values: PastValues)]
    /// The past state through the models that had the returning relationships. Nil for the head, where none of these
    /// changed.
    let former: FormerStates?
    /// The last values of all properties that return, and of the positions of to-ones.
    let past: [PropertyID: PastValues]
    /// By entity: relationships that it had in models before `old`, and has again or another has taken over, while they
    /// live on for other entities.
    private(set) var hidden: [EntityID: [PropertyID: (last: RelationshipSchema, values: PastValues)]] = [:]
    /// By entity: the positions of the to-ones among `hidden`.
    private(set) var hiddenPositions: [EntityID: [PropertyID: PastValues]] = [:]
    /// The pairs of the relationships among `hidden` and `returning` that were unlinked.
    private(set) var departed: DepartedLinks?
    /// By relationship among `returning`: the links that later models kept elsewhere.
    let carried: [PropertyID: Carried]
    /// By entity and relationship: the links of another relationship of the same name that gives way to it.
    private var adopted: [EntityID: [PropertyID: Adoption]] = [:]
    /// By entity: the pairs that its objects no longer have while their relationship lives on for others, because
    /// another one has the links or because the inverse would list them. The objects may have had them under the old
    /// model or an earlier one.
    private var left: [EntityID: [Link]] = [:]
    /// By a to-one whose inverse adopts links: those links, seen from this end.
    private var adoptedBack: [PropertyID: [BackAdoption]] = [:]
    /// By a to-one, the entities of the objects that it loses: its inverse gave its links to another relationship, or the
    /// entity is removed.
    private var released: [PropertyID: Set<EntityID>] = [:]

    /// The last model that had each entity which the new one has again.
    let returned: [EntityID: Schema]
    /// The links that return with these entities.
    let regained: RegainedLinks
    /// By relationship: the order that it has again.
    let orders: [PropertyID: FormerOrder]
    /// The pairs that a truncation has left without entries in `links`.
    let cut: CutPairs?
    /// The members that bounded to-manys get again with an entity or its relationship.
    private(set) var gained: GainedMembers

    init(
        old: Schema, new: Schema, _ past: [PropertyID: PastValues], _ log: LogReader, _ last: TransactionNumber,
        _ former: FormerStates?
    ) throws {
        self.old = old
        self.former = former
        self.new = new
        gained = GainedMembers(new)
        let histories = log.histories
        returned = try Self.returned(from: old, to: new, histories)
        regained = try RegainedLinks(returned, from: old, to: new, log, last)
        var returning: [PropertyID: (last: RelationshipSchema, values: PastValues)] = [:]
        for (number, values) in past {
            guard let last = try histories.schema(values.version)?.property(number)?.relationship else { continue }
            returning[number] = (last, values)
        }
        // Where one end alone returns, the links are found from the other end, too.
        for (last, values) in returning.values {
            guard let inverse = last.inverse, returning[inverse] == nil, old.property(inverse) == nil,
                let back = try histories.schema(values.version)?.property(inverse)?.relationship
            else { continue }
            returning[inverse] = (back, values.of(inverse))
        }
        self.returning = returning
        self.past = past
        carried = try Self.carried(returning, old, histories)
        cut = try CutPairs(log)
        orders = try Self.orders(from: old, to: new, histories, former, cut)
        findAdopted()
        findJoined()
        try findHidden(histories)
        departed = try DepartedLinks(
            hidden.merging(returningOwners(histories)) { $0.merging($1) { hidden, _ in hidden } }, log, last)
        findLeft()
        findGone()
        findGained()
    }

    private static func returned(
        from old: Schema, to new: Schema, _ histories: SchemaHistory
    ) throws -> [EntityID: Schema] {
        let entities = new.returned(after: old)
        if entities.isEmpty { return [:] }
        let earlier = try histories.schemas(histories.versions.filter { $0 < old.version })
        var returned: [EntityID: Schema] = [:]
        for entity in entities { returned[entity.id] = earlier.last { $0.entity(entity.id) != nil } }
        return returned
    }

    enum Storage: Sendable, Hashable {
        /// In the slot of a to-one of the object's own row.
        case slot(PropertyID)
        /// In `links`, under this number.
        case members(PropertyID)
        /// In a slot that rows had under an earlier model.
        case formerSlot(PropertyID)
    }

    /// An object that another led to.
    struct Target: Sendable {
        let id: ObjectID
        /// Its position among the other's members; 0 if they have no order.
        let position: Int64
        /// The other's position among its own members; nil if that has to be looked up.
        var back: Int64?
    }

    /// Links that go from one relationship to another.
    struct Adoption: Sendable {
        let links: Storage
        /// The same links from their other end; nil if no order is kept there.
        let back: Storage?
        /// Whether only models before the old one had the links.
        var isFormer = false
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

    /// Returns the places of the links that a relationship has in an entity, from one end or the other: under the old
    /// model, then under earlier ones, if one end has had another relationship since.
    func storages(of property: PropertySchema, in entity: EntityID) -> [Storage] {
        if let adoption = adoption(by: property.id, of: entity) { return [adoption.links] }
        if hasOwnFormer(property.id, in: entity) { return [] }
        let replaced = new.assignment.replaced
        let inverse = property.relationship?.inverse
        var storages = (replaced[property.id] ?? []).compactMap(forward)
        if let inverse, inverse != property.id { storages += (replaced[inverse] ?? []).compactMap(backward) }
        if storages.isEmpty { return storage(of: property).map { [$0] } ?? [] }
        return storages.filter { !isFormer($0) } + storages.filter(isFormer)
    }

    /// Whether a property continues another one in the objects of an entity than elsewhere.
    private func hasOwnFormer(_ property: PropertyID, in entity: EntityID) -> Bool {
        guard let own = new.assignment.ownFormers[entity]?[property] else { return false }
        return new.assignment.replaced[property]?.first != own
    }

    /// Whether only models before the old one had these links of an object of an entity.
    func isFormer(_ storage: Storage, in entity: EntityID) -> Bool {
        if case .members(let number) = storage, hidden[entity]?[number] != nil { return true }
        return isFormer(storage)
    }

    private func isFormer(_ storage: Storage) -> Bool {
        switch storage {
        case .slot: false
        case .members(let number): returns(number)
        case .formerSlot: true
        }
    }

    private mutating func findAdopted() {
        for entity in new.entities where !entity.isAbstract {
            guard let before = old.entity(entity.id), !before.isAbstract else { continue }
            for property in entity.properties where before.property(property.id) == nil {
                guard let lost = new.adopted(by: property, in: entity, before, old),
                    let earlier = lost.relationship, let links = forward(lost.id)
                else { continue }
                let back = earlier.isInverseToMany ? earlier.inverse.flatMap(forward) : nil
                if let link = old.links.link(lost.id), link.isPairs, new.links.link(lost.id)?.isPairs ?? false {
                    left[entity.id, default: []].append(link)
                }
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

    /// Finds the to-ones that stay and get another relationship of the old model as their inverse, with its links.
    private mutating func findJoined() {
        var seen: Set<PropertyID> = []
        for property in new.entities.flatMap(\.properties) where seen.insert(property.id).inserted {
            guard let relationship = property.relationship, !relationship.isToMany, let inverse = relationship.inverse,
                let earlier = old.property(property.id)?.relationship, let back = new.property(inverse),
                let number = number(before: back), earlier.inverse != number, let links = backward(number),
                let order = forward(number)
            else { continue }
            let owners = new.entity(relationship.destination)?.concreteEntityIDs ?? []
            adoptedBack[property.id, default: []] += owners.map { BackAdoption(owner: $0, links: links, order: order) }
        }
    }

    /// Finds the relationships of entities that had them, or those that they replace, in models before the old one only.
    private mutating func findHidden(_ histories: SchemaHistory) throws {
        for entity in new.entities where !entity.isAbstract {
            guard let before = old.entity(entity.id), !before.isAbstract else { continue }
            for property in entity.properties {
                guard let relationship = property.relationship, !relationship.description.isTransient,
                    before.property(property.id) == nil, adopted[entity.id]?[property.id] == nil,
                    new.former(of: property.id, in: before) == nil,
                    let (last, values) = try PastValues.last(
                        new.assignment.formers(of: property.id, in: entity.id), own: property.id, of: entity.id,
                        before: old.version, in: new, histories),
                    let then = last.relationship, then.isToMany == relationship.isToMany,
                    old.property(property.id) != nil || returning[last.id]?.values.version != values.version
                        || hasOwnFormer(property.id, in: entity.id)
                else { continue }
                hidden[entity.id, default: [:]][last.id] = (then, values)
                if last.id != property.id, let link = new.links.link(last.id), link.isPairs {
                    left[entity.id, default: []].append(link)
                }
                if let position = then.position {
                    hiddenPositions[entity.id, default: [:]][position] = values.of(position)
                }
                adopted[entity.id, default: [:]][property.id] = Adoption(
                    links: then.isToMany ? .members(last.id) : .formerSlot(last.id), back: nil, isFormer: true)
            }
        }
    }

    /// Finds the pairs whose relationship an entity loses, while it lives on for others and its inverse would list them.
    private mutating func findLeft() {
        for entity in new.entities where !entity.isAbstract {
            guard let before = old.entity(entity.id), !before.isAbstract else { continue }
            let kept = Set(new.links.links(ofOwners: entity.id).map(\.id) + leftPairs(of: entity.id).map(\.id))
            left[entity.id, default: []] += old.links.links(ofOwners: entity.id).filter { link in
                link.isPairs && !kept.contains(link.id) && old.property(link.id)?.relationship?.inverse != nil
                    && new.links.link(link.id)?.isPairs ?? false
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

    private mutating func findGained() {
        guard gained.isNeeded else { return }
        for pair in regained.allPairs { gained.add(pair.key) }
        let departed = departed
        for (entity, properties) in adopted {
            for (property, adoption) in properties {
                guard case .members(let number) = adoption.links, hidden[entity]?[number] != nil,
                    let link = new.links.link(property)
                else { continue }
                departed?.forEachMember(of: entity, number) { owner, member in
                    if let key = link.pairKey(owner: owner, member: member) { gained.add(key) }
                }
            }
        }
    }

    /// The links of pairs that objects of an entity leave behind.
    func leftPairs(of entity: EntityID) -> [Link] { left[entity] ?? [] }

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

    /// Whether only models before the old one had a relationship, or the one whose hidden inverse this is.
    func returns(_ number: PropertyID) -> Bool { returning[number.withoutHiding] != nil }

    /// The links of an old relationship, from its other end.
    private func backward(_ number: PropertyID) -> Storage? {
        guard let relationship = old.property(number)?.relationship ?? returning[number]?.last else { return nil }
        if let inverse = relationship.inverse { return forward(inverse) }
        return .members(number.hiddenInverse)
    }

    /// The former targets of an object, each with its position if the links were ordered.
    func targets(
        _ storage: Storage, of id: ObjectID, _ row: SnapshotRow, _ entity: EntitySchema, _ snapshot: Snapshot,
        limit: Int = .max
    ) throws -> [Target] {
        switch storage {
        case .slot(let number):
            guard let slot = entity.slot(of: number),
                case .objectID(let target) = try snapshot.value(slot, of: row, row.reader, entity)
            else { return [] }
            return [Target(id: target, position: 0)]
        case .members(let number):
            if hidden[id.entityID]?[number] != nil || returns(number) {
                return try formerMembers(number, of: id, snapshot, limit: limit)
            }
            var targets: [Target] = []
            try snapshot.membersWithPositions(of: number, owner: id) { member, position in
                targets.append(Target(id: member, position: position))
                return targets.count < limit
            }
            return targets
        case .formerSlot(let number):
            guard let (target, position) = try formerTarget(number, of: id, row, snapshot) else { return [] }
            return [Target(id: target, position: position)]
        }
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
