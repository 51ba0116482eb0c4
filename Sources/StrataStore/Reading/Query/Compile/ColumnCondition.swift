import StrataModel

/// A condition on one property of the row itself, in a form that an index can answer.
struct ColumnCondition: Sendable {
    enum Kind: Sendable {
        /// `==` or `IN` with at least one value; `null` means nil.
        case values([AttributeValue])
        /// `!=`: any value except this one and nil.
        case otherThan(AttributeValue)
        /// Values between the bounds, without nil.
        case range(lower: Bound?, upper: Bound?)
        /// Text that begins with a prefix.
        case prefix(String)
        /// Any value except nil.
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
    /// Whether every row that meets it meets the whole condition. It is false where it only narrows the search, as the
    /// fixed beginning of a `LIKE` does.
    let isWhole: Bool
}

/// A condition on a row, with the means to find the objects that meet it without reading every row.
struct CompiledCondition: Sendable {
    let row: any RowCondition
    /// nil if rows must be read to decide.
    var access: ConditionAccess?
    /// The predicate that was compiled.
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

/// A way to look up the objects that meet a condition.
indirect enum ConditionAccess: Sendable {
    /// In an index over a property of the row.
    case column(ColumnCondition)
    /// By their ids: `SELF == x`, `SELF IN {…}`.
    case objects([ObjectID])
    /// Through the links of the objects of which one must be a member: `ANY tags == x`.
    case members(relationship: PropertyID, anyOf: [ObjectID])
    /// Through the links of the objects at the other end of a relationship that meet a condition there.
    case join(ConditionJoin)
    /// In the lists of words of a full text.
    case text(TextCondition)
    /// One of several lists of conditions holds.
    case any([[CompiledCondition]])
}

/// A condition on the far end of a relationship, which an object without a far end does not meet.
struct ConditionJoin: Sendable {
    let hop: ResolvedPath.Hop
    /// The access by which objects are found from the far end; nil if there is none.
    let way: LinkAccess.Way?
    /// The entity that the hop starts from.
    let near: EntitySchema
    let far: EntitySchema
    /// The conditions that must all hold at the far end.
    let conditions: [CompiledCondition]
    /// Whether every object that leads to such a far end meets the condition.
    var isExact = true
}
