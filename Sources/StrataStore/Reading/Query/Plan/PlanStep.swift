import StrataModel

/// One step of a plan, which yields the ids of objects, sorted and without repetition.
final class PlanStep: Sendable {
    enum Kind: Sendable {
        /// No objects.
        case nothing
        /// All rows of the entities.
        case scan
        /// Objects whose ids the predicate has, sorted.
        case objects([ObjectID])
        case index(IndexAccess)
        case links(LinkAccess)
        /// The objects that a text query finds.
        case text(TextCondition)
        case intersection([PlanStep])
        case union([PlanStep])
        case filter(PlanStep, RowFilter)
    }

    let kind: Kind
    /// The concrete entities whose objects it yields.
    let entities: EntitySet
    /// The estimated number of ids.
    let rows: Double
    /// The estimated cost, in nanoseconds.
    let cost: Double

    init(_ kind: Kind, _ entities: EntitySet, rows: Double, cost: Double) {
        self.kind = kind
        self.entities = entities
        self.rows = rows
        self.cost = cost
    }

    var isScan: Bool { if case .scan = kind { true } else { false } }
    var isNothing: Bool { if case .nothing = kind { true } else { false } }

    /// The source of the ids, in a word: the first step of its kind below filters.
    var source: String {
        switch kind {
        case .nothing: "nothing"
        case .scan: "scan"
        case .objects: "objects"
        case .index: "index"
        case .links: "links"
        case .text: "text"
        case .intersection: "intersection"
        case .union: "union"
        case .filter(let step, _): step.source
        }
    }

    /// The steps from which it gets its ids.
    var inputs: [PlanStep] {
        switch kind {
        case .nothing, .scan, .objects, .index, .text: []
        case .links(let access): [access.owners]
        case .intersection(let steps), .union(let steps): steps
        case .filter(let step, _): [step]
        }
    }
}

/// A set of concrete entities.
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
    /// The number of elements of its keys that give the order; nil for all.
    var orderElements: Int?
    /// Whether the ids of each range are sorted, since all its keys are equal.
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

    /// Makes an access with the ranges for the conditions of a query.
    init(
        _ prepared: IndexMap.PreparedIndex, _ match: IndexMatch, _ entities: EntitySet,
        _ ordering: IndexMatch.Ordering? = nil
    ) {
        index = prepared.index
        ranges = match.ranges
        isDescending = ordering?.direction == .backwards
        orderElements = ordering?.elements
        // A constant between two keys makes a range with several keys.
        isSortedByID = match.isWhole && match.ranges.count == 1 && !match.needsRecheck
        isCovered = prepared.declaredEntities.allSatisfy { entities.contains(ObjectID(entity: $0, row: 1)) }
    }
}

/// The objects at the near end of links whose far ends another step yields.
struct LinkAccess: Sendable {
    enum Way: Sendable {
        /// Entries of the `links` table under the far end.
        case links(PropertyID)
        /// The to-one in the far end's own row.
        case reference(slot: Int)
    }

    /// The step that yields the far ends.
    let owners: PlanStep
    let way: Way
    /// The relationship as the request names it.
    let name: String
}

/// The conditions that a step checks after reading a row.
struct RowFilter: Sendable {
    /// The conditions that the step below does not cover; empty if rows are read only for their values.
    let conditions: [CompiledCondition]
    /// `conditions` as one condition; nil for none.
    let remaining: (any RowCondition)?
    /// All conditions of the query, for a scan that replaces the step below.
    let all: (any RowCondition)?

    init(_ remaining: [CompiledCondition], of all: [CompiledCondition]) {
        conditions = remaining
        self.remaining = Self.conjunction(remaining)
        self.all = remaining.count == all.count ? self.remaining : Self.conjunction(all)
    }

    static func conjunction(_ parts: [CompiledCondition]) -> (any RowCondition)? {
        parts.count > 1 ? JunctionCondition(.and, parts) : parts.first?.row
    }
}
