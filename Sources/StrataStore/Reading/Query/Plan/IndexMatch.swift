import StrataModel

/// The ranges of one index for the conditions of a query: equality on its first elements, a range on the next.
struct IndexMatch {
    /// The direction in which an index is read.
    enum Direction { case forwards, backwards }

    private let index: IndexSchema
    private let codec: IndexKeyCodec
    /// The conditions in the form that an index can answer; nil for the others.
    private let columns: [ColumnCondition?]
    /// The values of the first elements, while each is bound to one.
    private var prefix: [AttributeValue] = []
    /// The combinations of values, each of which is one range; empty while there is only `prefix`.
    private var prefixes: [[AttributeValue]] = []
    /// The condition on the next element.
    private var next = KeyCondition.any
    /// A second range of that element.
    private var other: KeyCondition?
    /// Elements bound to a single value, on which no order depends.
    private var single = ConditionSet()
    /// The number of elements that are bound to values.
    private(set) var boundElements = 0
    /// The conditions from which the ranges were made.
    private(set) var used = ConditionSet()
    /// Whether rows must be checked although the ranges cover all conditions.
    private(set) var needsRecheck = false
    /// The estimated part of the index in the range after the equalities, without statistics.
    private(set) var rangeGuess = 1.0
    /// In key order, without overlaps; empty before `close`.
    private(set) var ranges: [KeyRange] = []

    /// With more ranges than this, the seeks cost too much.
    private static let mostRanges = 4096

    init(_ index: IndexSchema, _ codec: IndexKeyCodec, _ columns: [ColumnCondition?]) {
        self.index = index
        self.codec = codec
        self.columns = columns
        while boundElements < index.elements.count, takeValues(boundElements) { boundElements += 1 }
        if boundElements < index.elements.count { takeRange(boundElements) }
    }

    /// Whether every element is bound. Then all keys of a range are equal except for the ids at their ends.
    var isWhole: Bool { boundElements == index.elements.count }

    // MARK: Matching

    private func column(_ position: Int, _ element: IndexSchema.Element) -> ColumnCondition? {
        guard let column = columns[position], column.slot == element.slot,
            column.elementPath == element.compositePath
        else { return nil }
        return column
    }

    /// Uses an equality or IN on an element; false if there is none.
    private mutating func takeValues(_ number: Int) -> Bool {
        let element = index.elements[number]
        for position in columns.indices {
            guard let column = column(position, element), case .values(let values) = column.kind else { continue }
            let distinct = values.count == 1 ? values : Array(Set(values))
            let isFolded = column.folding == element.folding || distinct.count == 1 && distinct[0].isNull
            // Texts that are equal are also equal when folded.
            guard isFolded || element.folding.isSuperset(of: column.folding),
                distinct.count * max(1, prefixes.count) <= Self.mostRanges
            else { continue }
            if !isFolded || !column.isWhole { needsRecheck = true }
            if distinct.count == 1, prefixes.isEmpty {
                prefix.append(distinct[0])
            } else {
                let known = prefixes.isEmpty ? [prefix] : prefixes
                prefixes = known.flatMap { prefix in distinct.map { prefix + [$0] } }
            }
            used.insert(position)
            if distinct.count == 1 { single.insert(number) }
            return true
        }
        return false
    }

    /// Uses a prefix, bounds, `!=` or `!= nil` on the element after the equalities.
    private mutating func takeRange(_ number: Int) {
        let element = index.elements[number]
        var lower: KeyBound?, upper: KeyBound?
        for position in columns.indices {
            guard let column = column(position, element) else { continue }
            switch column.kind {
            case .prefix(let text) where column.folding == element.folding && lower == nil && upper == nil:
                next = .beginsWith(text)
                if !column.isWhole { needsRecheck = true }
                used.insert(position)
                rangeGuess = PlanEstimator.Guess.prefix
                return
            case .range(let low, let high) where column.folding == element.folding:
                guard low == nil || lower == nil, high == nil || upper == nil else { continue }
                lower = lower ?? low.map { KeyBound($0.value, isInclusive: $0.isIncluded) }
                upper = upper ?? high.map { KeyBound($0.value, isInclusive: $0.isIncluded) }
                used.insert(position)
            default: continue
            }
        }
        if lower != nil || upper != nil {
            next = .range(lower: lower, upper: upper)
            rangeGuess = lower != nil && upper != nil ? PlanEstimator.Guess.closed : PlanEstimator.Guess.halfOpen
        } else {
            takeNotNil(element)
        }
    }

    private mutating func takeNotNil(_ element: IndexSchema.Element) {
        rangeGuess = 0.9
        for position in columns.indices {
            guard let column = column(position, element) else { continue }
            switch column.kind {
            case .notNil: next = .isNotNull
            case .otherThan(let value) where column.folding == element.folding:
                next = .range(lower: nil, upper: KeyBound(value, isInclusive: false))
                other = .range(lower: KeyBound(value, isInclusive: false), upper: nil)
            default: continue
            }
            used.insert(position)
            return
        }
        rangeGuess = 1
    }

    // MARK: Ranges

    /// Makes the ranges; false if the index cannot contain such values.
    mutating func close() -> Bool {
        var found: [KeyRange] = []
        do throws(UncomparableKey) {
            if prefixes.isEmpty { try add(prefix, to: &found) }
            for prefix in prefixes { try add(prefix, to: &found) }
        } catch {
            return false
        }
        ranges = found.count > 1 ? Self.distinct(found) : found
        return true
    }

    private mutating func add(_ prefix: [AttributeValue], to found: inout [KeyRange]) throws(UncomparableKey) {
        try add(prefix, next, to: &found)
        if let other { try add(prefix, other, to: &found) }
    }

    private mutating func add(
        _ prefix: [AttributeValue], _ condition: KeyCondition, to found: inout [KeyRange]
    ) throws(UncomparableKey) {
        guard let range = try codec.range(equal: prefix, then: condition), !range.isEmpty else { return }
        needsRecheck = needsRecheck || range.needsRecheck
        found.append(KeyRange(lower: range.lower, upper: range.upper, needsRecheck: false))
    }

    private static func distinct(_ ranges: [KeyRange]) -> [KeyRange] {
        let sorted = ranges.sorted { $0.lower.lexicographicallyPrecedes($1.lower) }
        var distinct: [KeyRange] = []
        // Two values may have the same key, as 1 and 1.0; the range of a rounded value may overlap the next.
        for range in sorted {
            guard let last = distinct.last, let end = last.upper, range.lower.lexicographicallyPrecedes(end) else {
                if let last = distinct.last, last.upper == nil { continue }
                distinct.append(range)
                continue
            }
            let upper = range.upper.map { $0.lexicographicallyPrecedes(end) ? end : $0 }
            distinct[distinct.count - 1] = KeyRange(lower: last.lower, upper: upper, needsRecheck: false)
        }
        return distinct
    }

    // MARK: Order

    /// The order that an index gives.
    struct Ordering {
        let direction: Direction
        /// The number of elements that make up the order; nil for all. Entries that agree in these elements must be
        /// sorted by id.
        let elements: Int?
    }

    /// Returns how the index must be read to give the order; nil if it cannot.
    ///
    /// Up to the end of the order, every element must be bound to one value or be a key of the order.
    func ordering(for order: [SortColumn]) -> Ordering? {
        var rest = order[...]
        var direction: Direction?
        var elements: Int?
        for (position, element) in index.elements.enumerated() {
            if single.contains(position) {
                if let column = rest.first, column.matches(element) { rest = rest.dropFirst() }
                continue
            }
            guard let column = rest.popFirst() else {
                elements = position
                break
            }
            guard column.matches(element) else { return nil }
            let wanted: Direction = column.isAscending == element.isAscending ? .forwards : .backwards
            guard direction == nil || direction == wanted else { return nil }
            direction = wanted
        }
        guard rest.isEmpty, !order.isEmpty else { return nil }
        return Ordering(direction: direction ?? .forwards, elements: elements)
    }
}

/// Indexes in a list of conditions. Indexes from 64 on are never in the set; their rows are checked once more.
struct ConditionSet: Sendable, Hashable {
    private var bits: UInt64 = 0

    mutating func insert(_ position: Int) { if position < 64 { bits |= 1 << UInt64(position) } }
    func contains(_ position: Int) -> Bool { position < 64 && bits & 1 << UInt64(position) != 0 }
    mutating func formUnion(_ other: ConditionSet) { bits |= other.bits }
    func isSubset(of other: ConditionSet) -> Bool { bits & ~other.bits == 0 }
    var isEmpty: Bool { bits == 0 }
    /// Whether the set contains the first `count` indexes.
    func containsAll(_ count: Int) -> Bool { count <= 64 && (~bits).trailingZeroBitCount >= count }
}

extension SortColumn {
    fileprivate func matches(_ element: IndexSchema.Element) -> Bool {
        guard let column, isNatural == false, hasIndexNulls else { return false }
        return column.slot == element.slot && column.elementPath == element.compositePath
            && folding == element.folding
    }
}
