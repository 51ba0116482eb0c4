import StrataModel

/// What a conjunct asks of one property of the row itself, in a form that an index can answer.
struct ColumnCondition: Sendable {
    enum Kind: Sendable {
        /// `==` or `IN`; `null` asks for nil. At least one.
        case values([AttributeValue])
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

/// A test, and what an index could do for it.
struct CompiledTest {
    let test: any RowTest
    /// nil when no index can help.
    var condition: ColumnCondition?
    /// Objects that the test is about, when it is `SELF == x` or `SELF IN {…}`.
    var objects: [ObjectID]?
    /// A to-many of the object and those of whom one must be a member, when it is `ANY tags == x` or like it.
    var members: (relationship: PropertyID, anyOf: [ObjectID])?
    /// What was compiled.
    let predicate: FetchPredicate

    init(_ test: any RowTest, _ predicate: FetchPredicate) {
        self.test = test
        self.predicate = predicate
    }
}
