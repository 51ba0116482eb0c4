import StrataModel

/// One step of a plan: it yields the ids of objects, sorted, each once.
final class PlanStep: Sendable {
    enum Kind: Sendable {
        /// A condition that no object meets.
        case nothing
        /// Every row of the entities.
        case scan
        /// Objects that the predicate names, sorted.
        case objects([ObjectID])
        case index(IndexAccess)
        case links(LinkAccess)
        case intersection([PlanStep])
        case union([PlanStep])
        case filter(PlanStep, RowFilter)
    }

    let kind: Kind
    /// The concrete entities whose objects it yields.
    let entities: EntitySet
    /// How many ids it is thought to yield.
    let rows: Double
    /// What it is thought to take, in nanoseconds.
    let cost: Double

    init(_ kind: Kind, _ entities: EntitySet, rows: Double, cost: Double) {
        self.kind = kind
        self.entities = entities
        self.rows = rows
        self.cost = cost
    }

    var isScan: Bool { if case .scan = kind { true } else { false } }
    var isNothing: Bool { if case .nothing = kind { true } else { false } }

    /// The steps that it takes its ids from.
    var inputs: [PlanStep] {
        switch kind {
        case .nothing, .scan, .objects, .index: []
        case .links(let access): [access.owners]
        case .intersection(let steps), .union(let steps): steps
        case .filter(let step, _): [step]
        }
    }
}

/// Concrete entities of a query, by number.
struct EntitySet: Sendable {
    let schemas: [EntitySchema]
    private let ids: [EntityID]

    init(_ ids: [EntityID], _ schema: Schema) {
        schemas = ids.sorted().compactMap { schema.entity($0) }
        self.ids = schemas.map(\.id)
    }

    func contains(_ id: ObjectID) -> Bool {
        ids.count == 1 ? id.entityID == ids[0] : ids.contains(id.entityID)
    }
}

/// Ranges of one index.
struct IndexAccess: Sendable {
    let index: IndexSchema
    /// In key order, without overlaps.
    var ranges: [KeyRange]
    var isDescending = false
    /// How many of the first elements of its keys give the order; nil for all.
    var orderElements: Int?
    /// Whether the ids of each range come sorted, since all its keys are equal.
    let isSortedByID: Bool
    /// Whether all its entries are of the query's entities.
    let isCovered: Bool

    init(
        index: IndexSchema, ranges: [KeyRange], isDescending: Bool = false, isSortedByID: Bool, isCovered: Bool
    ) {
        self.index = index
        self.ranges = ranges
        self.isDescending = isDescending
        self.isSortedByID = isSortedByID
        self.isCovered = isCovered
    }

    /// The ranges that the conditions of a query come to.
    init(
        _ prepared: IndexMap.PreparedIndex, _ match: IndexMatch, _ entities: EntitySet,
        _ ordering: IndexMatch.Ordering? = nil
    ) {
        index = prepared.index
        ranges = match.ranges
        isDescending = ordering?.direction == .backwards
        orderElements = ordering?.elements
        // A constant between two keys makes a range of several.
        isSortedByID = match.isWhole && match.ranges.count == 1 && !match.needsRecheck
        isCovered = prepared.declaredEntities.allSatisfy { entities.contains(ObjectID(entity: $0, row: 1)) }
    }
}

/// The objects at the near end of links whose far ends are known.
struct LinkAccess: Sendable {
    enum Way: Sendable {
        /// Entries of the `links` table under the far end.
        case links(PropertyID)
        /// The to-one in the far end's own row.
        case reference(slot: Int)
    }

    /// Yields the far ends.
    let owners: PlanStep
    let way: Way
    /// The relationship as it was asked for.
    let name: String
}

/// What rows are asked, once they are read.
struct RowFilter: Sendable {
    /// What the step below does not settle; empty where rows are read only for what they hold.
    let conditions: [CompiledCondition]
    /// `conditions` as one; nil for none.
    let remaining: (any RowCondition)?
    /// All of the query's conditions, for a scan instead of the step below.
    let all: (any RowCondition)?

    init(_ remaining: [CompiledCondition], of all: [CompiledCondition]) {
        conditions = remaining
        self.remaining = Self.conjunction(remaining)
        self.all = remaining.count == all.count ? self.remaining : Self.conjunction(all)
    }

    static func conjunction(_ parts: [CompiledCondition]) -> (any RowCondition)? {
        parts.count > 1 ? AndCondition(parts.map(\.row)) : parts.first?.row
    }
}
