import StrataModel

/// What a conjunct asks of one property of the row itself, in a form that an index can answer.
struct ColumnCondition: Sendable {
    enum Kind: Sendable {
        /// `==` or `IN`; `null` asks for nil. At least one.
        case values([AttributeValue])
        /// `!=`: any value that is there but this one.
        case otherThan(AttributeValue)
        /// Values that are there and lie between the bounds.
        case range(lower: Bound?, upper: Bound?)
        /// Text that begins so.
        case prefix(String)
        /// Any value that is there.
        case notNil
    }

    struct Bound: Sendable {
        let value: AttributeValue
        let isIncluded: Bool
    }

    let slot: Int
    /// Element names below a composite.
    let elementPath: [String]
    let folding: StringFolding
    let kind: Kind
    /// Whether nothing is left to ask of a row that meets it: false for what only narrows the search, as the fixed
    /// beginning of a `LIKE` does.
    let isWhole: Bool
}

/// A condition on a row, and how the objects that meet it could be found without asking every row.
struct CompiledCondition: Sendable {
    let row: any RowCondition
    /// nil when only rows tell.
    var access: ConditionAccess?
    /// What was compiled.
    let predicate: FetchPredicate

    init(_ row: any RowCondition, _ predicate: FetchPredicate, access: ConditionAccess? = nil) {
        self.row = row
        self.predicate = predicate
        self.access = access
    }

    var column: ColumnCondition? {
        if case .column(let column)? = access { column } else { nil }
    }
}

/// Where the objects that meet a condition can be looked up.
indirect enum ConditionAccess: Sendable {
    /// In an index over a property of the row.
    case column(ColumnCondition)
    /// They are named: `SELF == x`, `SELF IN {…}`.
    case objects([ObjectID])
    /// Through the links of those of whom one must be a member: `ANY tags == x`.
    case members(relationship: PropertyID, anyOf: [ObjectID])
    /// Through the links of the objects at the other end of a relationship that meet a condition there.
    case join(ConditionJoin)
    /// One of several lists of conditions holds.
    case any([[CompiledCondition]])
}

/// A condition on the far end of a relationship, where an object without a far end does not meet it.
struct ConditionJoin: Sendable {
    let hop: ResolvedPath.Hop
    /// How objects are found from the far end; nil when they are not.
    let way: LinkAccess.Way?
    /// The entity that the hop starts from.
    let near: EntitySchema
    let far: EntitySchema
    /// All of them hold at the far end.
    let conditions: [CompiledCondition]
    /// Whether every object that leads to such a far end meets the condition.
    var isExact = true
}
