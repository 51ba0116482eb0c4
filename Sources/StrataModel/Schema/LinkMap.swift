/// The links of one model: where each is recorded, and which concern the objects of each entity.
@usableFromInline package final class LinkMap: Sendable {
    /// The links of a store without a model.
    package static let empty = LinkMap([], filedOneToOnes: [])

    private let byID: [PropertyID: Link]
    /// Links with a small number, found without hashing it; hidden ones by that of the relationship they read
    /// backwards.
    private let declared: [Link?]
    private let hidden: [Link?]
    private let slotLinks: EntityTable<[SlotLink]>
    private let rowLinks: EntityTable<[RowLink]>
    private let owned: EntityTable<[Link]>
    private let denying: EntityTable<Bool>
    /// Ascending by number.
    package let all: [Link]

    /// - Parameter filedOneToOnes: the one-to-ones whose links have entries of their own, which those of older models
    ///   have not.
    init(_ entities: [EntitySchema], filedOneToOnes: Set<PropertyID>) {
        var builder = LinkMapBuilder(entities, filedOneToOnes)
        for entity in entities { builder.addProperties(of: entity) }
        let links = builder.links.values.sorted { $0.id < $1.id }
        all = links
        byID = builder.links
        declared = Self.table(links.filter { !$0.id.isHiddenInverse })
        hidden = Self.table(links.filter(\.id.isHiddenInverse))
        slotLinks = EntityTable(builder.slotLinks, otherwise: [])
        rowLinks = EntityTable(builder.rowLinks, otherwise: [])
        var owned: [EntityID: [Link]] = [:]
        // The link of a one-to-one is also in the owner's own row, and is no list of members.
        for link in links where !builder.oneToOnes.contains(link.id) {
            for id in builder.entities[link.ownerEntity]?.entityIDs ?? [] { owned[id, default: []].append(link) }
        }
        self.owned = EntityTable(owned, otherwise: [])
        let denying = entities.filter { entity in
            entity.properties.contains { $0.relationship?.description.deleteRule == .deny }
        }
        self.denying = EntityTable(
            Dictionary(denying.map { ($0.id, true) }, uniquingKeysWith: { first, _ in first }), otherwise: false)
    }

    private static func table(_ links: [Link]) -> [Link?] {
        var table: [Link?] = []
        for link in links where link.id.number < 1 << 16 {
            while table.count <= link.id.number { table.append(nil) }
            table[link.id.number] = link
        }
        return table
    }

    package func link(_ id: PropertyID) -> Link? {
        let table = id.isHiddenInverse ? hidden : declared
        return id.number < table.count ? table[id.number] : byID[id]
    }

    /// The links under which objects of an entity have members, ascending by number.
    @usableFromInline package func links(ofOwners entity: EntityID) -> [Link] { owned[entity] }

    /// The to-ones that rows of an entity hold.
    @usableFromInline package func slotLinks(of entity: EntityID) -> [SlotLink] { slotLinks[entity] }

    /// The entries that rows of an entity make.
    package func rowLinks(of entity: EntityID) -> [RowLink] { rowLinks[entity] }

    /// Whether the entity has a relationship with the rule `deny`.
    package func deniesDeletion(of entity: EntityID) -> Bool { denying[entity] }

    /// Returns the effect of the deletion of an object of the entity on those that lead to it with a to-one.
    package func deleteRule(of entity: EntityID, forObjectsLeadingBy toOne: PropertyID) -> DeleteRule {
        for link in links(ofOwners: entity) {
            if case .rows(toOne) = link.source { return link.deleteRule }
        }
        for slotLink in slotLinks(of: entity) {
            if case .toOne(toOne) = slotLink.inverse { return slotLink.deleteRule }
        }
        return .nullify
    }
}

/// Derives the links of a model from its entities.
private struct LinkMapBuilder {
    let entities: [EntityID: EntitySchema]
    private let filedOneToOnes: Set<PropertyID>
    private(set) var links: [PropertyID: Link] = [:]
    private(set) var slotLinks: [EntityID: [SlotLink]] = [:]
    private(set) var rowLinks: [EntityID: [RowLink]] = [:]
    /// Hidden links that only mirror the owner's own to-one.
    private(set) var oneToOnes: Set<PropertyID> = []
    /// The entity that declares each property.
    private var declaring: [PropertyID: EntitySchema] = [:]

    init(_ entities: [EntitySchema], _ filedOneToOnes: Set<PropertyID>) {
        self.entities = Dictionary(entities.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        self.filedOneToOnes = filedOneToOnes
        for entity in entities {
            let parent = entity.superentityID.flatMap { self.entities[$0] }
            for property in entity.properties where parent?.slot(of: property.id) == nil {
                declaring[property.id] = entity
            }
        }
    }

    mutating func addProperties(of entity: EntitySchema) {
        for property in entity.properties {
            guard let relationship = property.relationship, !relationship.description.isTransient else { continue }
            if relationship.truth == .slot { addSlot(property, relationship, of: entity) }
            if declaring[property.id] === entity { addLinks(of: property, relationship, declaredBy: entity) }
        }
    }

    private mutating func addSlot(
        _ property: PropertySchema, _ relationship: RelationshipSchema, of entity: EntitySchema
    ) {
        let slotLink = SlotLink(
            property: property.id, slot: property.slot, deleteRule: relationship.description.deleteRule,
            inverse: ToOneInverse(property))
        slotLinks[entity.id, default: []].append(slotLink)
        guard let (link, positionSlot) = entry(of: slotLink) else { return }
        rowLinks[entity.id, default: []].append(
            RowLink(
                link: link, slot: property.slot, positionSlot: positionSlot, property: property.id,
                positionProperty: positionSlot.map { entity.properties[$0].id }))
    }

    /// The number under which a to-one's links are stored at the other end; nil for a one-to-one of a model before such
    /// links were filed.
    ///
    /// A one-to-one has a slot at either end, and the store does not hold the two to each other: a delete rule of no
    /// action leaves one behind. So an object's own slot does not tell which objects lead to it.
    private func entry(of slotLink: SlotLink) -> (link: PropertyID, positionSlot: Int?)? {
        switch slotLink.inverse {
        case .none: return nil
        case .toMany(let link, let positionSlot): return (link, positionSlot)
        case .toOne:
            return filedOneToOnes.contains(slotLink.property) ? (slotLink.property.hiddenInverse, nil) : nil
        }
    }

    private mutating func addLinks(
        of property: PropertySchema, _ relationship: RelationshipSchema, declaredBy entity: EntitySchema
    ) {
        guard let destination = entities[relationship.destination] else { return }
        let id = property.id
        func hidden(_ source: Link.Source) -> Link {
            Link(id: id.hiddenInverse, name: property.name, source: source, owner: destination, members: entity)
        }
        func declared(_ source: Link.Source, holders: EntitySchema? = nil) -> Link {
            Link(
                id: id, name: property.name, source: source, owner: entity, members: destination, holders: holders,
                relationship.description)
        }
        switch (relationship.truth, relationship.inverse) {
        case (.slot, nil): add(hidden(.rows(toOne: id)))
        case (.slot, _?):
            guard !relationship.isInverseToMany, filedOneToOnes.contains(id) else { return }
            oneToOnes.insert(id.hiddenInverse)
            add(hidden(.rows(toOne: id)))
        case (.inverseSlot, let toOne?): add(declared(.rows(toOne: toOne), holders: declaring[toOne]))
        case (.inverseSlot, nil): return
        case (.pair(let canonical), let inverse):
            add(
                declared(
                    .pairs(
                        canonical: canonical, isForward: canonical == id, isSymmetric: inverse == id,
                        inverse: inverse ?? id.hiddenInverse)))
            guard inverse == nil else { return }
            add(hidden(.pairs(canonical: canonical, isForward: false, isSymmetric: false, inverse: id)))
        }
    }

    private mutating func add(_ link: Link) { links[link.id] = link }
}

extension PropertyID {
    /// The number of the relationship, for a hidden inverse too.
    fileprivate var number: Int { Int(rawValue & ~PropertyID(rawValue: 0).hiddenInverse.rawValue) }
}
