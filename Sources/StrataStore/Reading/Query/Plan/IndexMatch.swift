import StrataModel

/// What one index can do for the conditions of a query: equality on its first elements, a range on the next.
struct IndexMatch {
    /// The way an index is walked.
    enum Direction { case forwards, backwards }

    private let index: IndexSchema
    private let codec: IndexKeyCodec
    /// What each condition asks of a property of the row; nil for one that asks something else.
    private let columns: [ColumnCondition?]
    /// Values of the first elements, as long as each is bound to one.
    private var prefix: [AttributeValue] = []
    /// Each combination of their values, which is one range; empty while there is only `prefix`.
    private var prefixes: [[AttributeValue]] = []
    /// What is asked of the element behind them.
    private var next = KeyCondition.any
    /// Another range of that element.
    private var other: KeyCondition?
    /// Elements bound to a single value, which no order depends on.
    private var single = ConditionSet()
    /// How many elements are bound to values.
    private(set) var boundElements = 0
    /// Conditions that the ranges were made from.
    private(set) var used = ConditionSet()
    /// Whether rows must be asked although the ranges were made from all there is to ask.
    private(set) var needsRecheck = false
    /// The part of an index that is thought to lie in the range behind the equalities, when nothing is known of it.
    private(set) var rangeGuess = 1.0
    /// In key order, without overlaps; empty until `close` has made them.
    private(set) var ranges: [KeyRange] = []

    /// More ranges than this are not worth their seeks.
    private static let mostRanges = 4096

    init(_ index: IndexSchema, _ codec: IndexKeyCodec, _ columns: [ColumnCondition?]) {
        self.index = index
        self.codec = codec
        self.columns = columns
        while boundElements < index.elements.count, takeValues(boundElements) { boundElements += 1 }
        if boundElements < index.elements.count { takeRange(boundElements) }
    }

    /// Whether every element is bound: then all keys of a range are equal, but for the ids at their ends.
    var isWhole: Bool { boundElements == index.elements.count }

    // MARK: Matching

    private func column(_ place: Int, _ element: IndexSchema.Element) -> ColumnCondition? {
        guard let column = columns[place], column.slot == element.slot,
            column.elementPath == element.compositePath
        else { return nil }
        return column
    }

    /// Takes an equality or IN on an element; false when there is none.
    private mutating func takeValues(_ number: Int) -> Bool {
        let element = index.elements[number]
        for place in columns.indices {
            guard let column = column(place, element), case .values(let values) = column.kind else { continue }
            let distinct = values.count == 1 ? values : Array(Set(values))
            let isFolded = column.folding == element.folding || distinct.count == 1 && distinct[0].isNull
            // What is equal as it is, is equal folded too.
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
            used.insert(place)
            if distinct.count == 1 { single.insert(number) }
            return true
        }
        return false
    }

    /// Takes a beginning, bounds, `!=` or `!= nil` on the element behind the equalities.
    private mutating func takeRange(_ number: Int) {
        let element = index.elements[number]
        var lower: KeyBound?, upper: KeyBound?
        for place in columns.indices {
            guard let column = column(place, element) else { continue }
            switch column.kind {
            case .prefix(let text) where column.folding == element.folding && lower == nil && upper == nil:
                next = .beginsWith(text)
                if !column.isWhole { needsRecheck = true }
                used.insert(place)
                rangeGuess = PlanEstimator.Guess.prefix
                return
            case .range(let low, let high) where column.folding == element.folding:
                guard low == nil || lower == nil, high == nil || upper == nil else { continue }
                lower = lower ?? low.map { KeyBound($0.value, isInclusive: $0.isIncluded) }
                upper = upper ?? high.map { KeyBound($0.value, isInclusive: $0.isIncluded) }
                used.insert(place)
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
        for place in columns.indices {
            guard let column = column(place, element) else { continue }
            switch column.kind {
            case .notNil: next = .isNotNull
            case .otherThan(let value) where column.folding == element.folding:
                next = .range(lower: nil, upper: KeyBound(value, isInclusive: false))
                other = .range(lower: KeyBound(value, isInclusive: false), upper: nil)
            default: continue
            }
            used.insert(place)
            return
        }
        rangeGuess = 1
    }

    // MARK: Ranges

    /// Makes the ranges; false when the index cannot hold such values.
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
        // Two values may be one key, as 1 and 1.0 are; a rounded one may reach into the next.
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

    /// What an index can do for an order.
    struct Ordering {
        let direction: Direction
        /// How many of the first elements tell objects apart by the order; nil for all, when ties are ties of whole
        /// keys. Else entries that agree in so many must be put in order by id.
        let elements: Int?
    }

    /// How the index must be walked to give the order; nil when it does not.
    ///
    /// Up to the end of the order every element must be bound to one value or be a key of the order.
    func ordering(for order: [SortColumn]) -> Ordering? {
        var rest = order[...]
        var direction: Direction?
        var elements: Int?
        for (place, element) in index.elements.enumerated() {
            if single.contains(place) {
                if let column = rest.first, column.matches(element) { rest = rest.dropFirst() }
                continue
            }
            guard let column = rest.popFirst() else {
                elements = place
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

/// Places in a list of conditions. Those beyond the first 64 are never in it, which costs only a second look at rows.
struct ConditionSet: Sendable, Hashable {
    private var bits: UInt64 = 0

    mutating func insert(_ place: Int) { if place < 64 { bits |= 1 << UInt64(place) } }
    func contains(_ place: Int) -> Bool { place < 64 && bits & 1 << UInt64(place) != 0 }
    mutating func formUnion(_ other: ConditionSet) { bits |= other.bits }
    func isSubset(of other: ConditionSet) -> Bool { bits & ~other.bits == 0 }
    var isEmpty: Bool { bits == 0 }
    /// Whether the first `count` places are all in it.
    func containsAll(_ count: Int) -> Bool { count <= 64 && (~bits).trailingZeroBitCount >= count }
}

extension SortColumn {
    fileprivate func matches(_ element: IndexSchema.Element) -> Bool {
        guard let column, isNatural == false, hasIndexNulls else { return false }
        return column.slot == element.slot && column.elementPath == element.compositePath
            && folding == element.folding
    }
}
