import Locking
import StrataModel

/// How rows and pairs of one model turn into entries of the `links` table, worked out once.
final class LinkPlan: Sendable {
    /// A to-one slot of a row that makes a link at the other end.
    struct RowLink: Sendable {
        let slot: Int
        /// The number under which the owner's members stand.
        let link: PropertyID
        /// The slot of the member's place when the to-many is ordered.
        let positionSlot: Int?
    }

    /// Where the members of one link number come from.
    enum Source: Sendable {
        /// Rows of these entities hold the owner in a slot of the to-one with this number.
        case rows(toOne: PropertyID, entities: [EntityID], isOrdered: Bool)
        /// Pairs under the canonical number; `isForward` when the owner is the pair's source. A relationship that is
        /// its own inverse is `isSymmetric`: the owner may be either end.
        case pairs(canonical: PropertyID, isForward: Bool, isSymmetric: Bool, isOrdered: Bool)
    }

    /// A number under which objects of an entity can have members, and what a delete means for these.
    struct OwnedLink: Sendable {
        let link: PropertyID
        let source: Source
        let deleteRule: DeleteRule
    }

    /// A to-one whose inverse is a to-one.
    struct OneToOne: Sendable {
        let slot: Int
        let inverse: PropertyID
        let deleteRule: DeleteRule
    }

    static let empty = LinkPlan()

    private let rowLinks: EntityTable<[RowLink]>
    private let ownedLinks: EntityTable<[OwnedLink]>
    private let oneToOnes: EntityTable<[OneToOne]>
    private let sources: [PropertyID: Source]
    /// Canonical number -> the number of the other direction.
    private let backwards: [PropertyID: (link: PropertyID, isOrdered: Bool)]
    let derivations: DerivationMap

    init(_ schema: Schema) {
        var rowLinks: [EntityID: [RowLink]] = [:]
        var sources: [PropertyID: Source] = [:]
        for entity in schema.entities {
            for property in entity.properties {
                guard let relationship = property.relationship, !relationship.description.isTransient else { continue }
                switch relationship.truth {
                case .slot:
                    guard let link = Self.link(of: property, relationship, schema) else { continue }
                    rowLinks[entity.id, default: []].append(
                        RowLink(slot: property.slot, link: link, positionSlot: relationship.positionSlot))
                    Self.addRows(of: entity, property, relationship, link, to: &sources)
                case .inverseSlot: continue
                case .pair(let canonical):
                    Self.addPairs(property, relationship, canonical, to: &sources)
                }
            }
        }
        var backwards: [PropertyID: (link: PropertyID, isOrdered: Bool)] = [:]
        for (link, source) in sources {
            if case .pairs(let canonical, false, _, let isOrdered) = source {
                backwards[canonical] = (link, isOrdered)
            }
        }
        self.rowLinks = EntityTable(rowLinks, otherwise: [])
        self.sources = sources
        self.backwards = backwards
        ownedLinks = EntityTable(Self.ownedLinks(schema, sources), otherwise: [])
        oneToOnes = EntityTable(Self.oneToOnes(schema), otherwise: [])
        derivations = DerivationMap(schema, sources)
    }

    private init() {
        rowLinks = EntityTable([:], otherwise: [])
        ownedLinks = EntityTable([:], otherwise: [])
        oneToOnes = EntityTable([:], otherwise: [])
        sources = [:]
        backwards = [:]
        derivations = .empty
    }

    /// The plan of a schema, made once.
    static func of(_ schema: Schema) -> LinkPlan { schema.derived(LinkPlan.init) }

    private struct PathKey: Hashable {
        let entity: EntityID
        let text: String
    }

    /// Key paths of requests, bound to the schema; guarded by its mutex.
    private let paths = Locked<[PathKey: ResolvedPath]>([:])
    private static let mostPaths = 4096

    func path(_ text: String, of entity: EntityID) -> ResolvedPath? {
        paths.withLock { $0[PathKey(entity: entity, text: text)] }
    }

    func keep(_ path: ResolvedPath, of entity: EntityID) {
        paths.withLock { paths in
            if paths.count >= Self.mostPaths { paths.removeAll(keepingCapacity: true) }
            paths[PathKey(entity: entity, text: path.text)] = path
        }
    }

    /// Every link under which an object of the entity can have members.
    func ownedLinks(of entity: EntityID) -> [OwnedLink] { ownedLinks[entity] }
    func oneToOnes(of entity: EntityID) -> [OneToOne] { oneToOnes[entity] }

    func rowLinks(of entity: EntityID) -> [RowLink] { rowLinks[entity] }
    func source(of link: PropertyID) -> Source? { sources[link] }
    /// The numbers whose members come from rows.
    var rowSources: [(link: PropertyID, source: Source)] {
        sources.compactMap { if case .rows = $0.value { ($0.key, $0.value) } else { nil } }
    }

    /// The number under which a to-one's links stand at the other end; nil for a one-to-one of a model before such
    /// links were filed.
    ///
    /// A one-to-one has a slot at either end, and the store does not hold the two to each other (a delete rule of no
    /// action leaves one behind), so that what leads to an object is not told by its own.
    private static func link(
        of property: PropertySchema, _ relationship: RelationshipSchema, _ schema: Schema
    ) -> PropertyID? {
        guard let inverse = relationship.inverse else { return property.id.hiddenInverse }
        if relationship.isInverseToMany { return inverse }
        return schema.assignment.filedOneToOnes.contains(property.id) ? property.id.hiddenInverse : nil
    }

    private static func ownedLinks(
        _ schema: Schema, _ sources: [PropertyID: Source]
    ) -> [EntityID: [OwnedLink]] {
        var owned: [EntityID: [PropertyID: OwnedLink]] = [:]
        for entity in schema.entities {
            for property in entity.properties {
                guard let relationship = property.relationship else { continue }
                if relationship.isToMany, let source = sources[property.id] {
                    owned[entity.id, default: [:]][property.id] = OwnedLink(
                        link: property.id, source: source, deleteRule: relationship.description.deleteRule)
                }
                guard relationship.inverse == nil, let source = sources[property.id.hiddenInverse] else { continue }
                for destination in schema.entity(relationship.destination)?.entityIDs ?? [] {
                    owned[destination, default: [:]][property.id.hiddenInverse] = OwnedLink(
                        link: property.id.hiddenInverse, source: source, deleteRule: .nullify)
                }
            }
        }
        return owned.mapValues { $0.values.sorted { $0.link < $1.link } }
    }

    private static func oneToOnes(_ schema: Schema) -> [EntityID: [OneToOne]] {
        var found: [EntityID: [OneToOne]] = [:]
        for entity in schema.entities {
            for property in entity.properties {
                guard let relationship = property.relationship, relationship.truth == .slot,
                    let inverse = relationship.inverse, !relationship.isInverseToMany
                else { continue }
                found[entity.id, default: []].append(
                    OneToOne(
                        slot: property.slot, inverse: inverse, deleteRule: relationship.description.deleteRule))
            }
        }
        return found
    }

    private static func addRows(
        of entity: EntitySchema, _ property: PropertySchema, _ relationship: RelationshipSchema, _ link: PropertyID,
        to sources: inout [PropertyID: Source]
    ) {
        var entities = entity.isAbstract ? [] : [entity.id]
        if case .rows(_, let others, _)? = sources[link] { entities = others + entities }
        sources[link] = .rows(
            toOne: property.id, entities: entities.sorted(), isOrdered: relationship.isInverseOrdered)
    }

    private static func addPairs(
        _ property: PropertySchema, _ relationship: RelationshipSchema, _ canonical: PropertyID,
        to sources: inout [PropertyID: Source]
    ) {
        let isSymmetric = relationship.inverse == property.id
        sources[property.id] = .pairs(
            canonical: canonical, isForward: canonical == property.id, isSymmetric: isSymmetric,
            isOrdered: relationship.description.isOrdered)
        if relationship.inverse == nil {
            sources[property.id.hiddenInverse] = .pairs(
                canonical: canonical, isForward: false, isSymmetric: false, isOrdered: false)
        }
    }
}

/// One entry that a pair makes in `links`.
struct PairLink {
    let link: PropertyID
    let owner: ObjectID
    let position: Int64?
    let member: ObjectID
}

extension LinkPlan {
    /// The entries of one pair: one in each direction, a single one for an object linked with itself.
    func links(of key: PairKey, _ positions: PairPositions) -> [PairLink] {
        guard case .pairs(_, _, let isSymmetric, let isOrdered)? = source(of: key.property) else { return [] }
        let forward = PairLink(
            link: key.property, owner: key.source, position: isOrdered ? positions.inSource : nil, member: key.target)
        if isSymmetric {
            guard key.source != key.target else { return [forward] }
            return [
                forward,
                PairLink(
                    link: key.property, owner: key.target, position: isOrdered ? positions.inTarget : nil,
                    member: key.source),
            ]
        }
        guard let back = backwards[key.property] else { return [forward] }
        return [
            forward,
            PairLink(
                link: back.link, owner: key.target, position: back.isOrdered ? positions.inTarget : nil,
                member: key.source),
        ]
    }
}
