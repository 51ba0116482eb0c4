import StrataModel

/// What one index can do for the conjuncts of a query: equality on its first elements, a range on the next.
struct IndexMatch {
    /// The way an index is walked.
    enum Direction { case forwards, backwards }

    private let index: IndexSchema
    private let codec: IndexKeyCodec
    private let conjuncts: [CompiledTest]
    /// Values of the first elements, each combination of which is one range.
    private var prefixes: [[AttributeValue]] = [[]]
    private var next = KeyCondition.any
    /// Elements bound to a single value, which no order depends on.
    private var single: Set<Int> = []
    /// Conjuncts that the ranges were made from.
    private(set) var used: Set<Int> = []
    /// The part of all rows that is thought to lie in the ranges.
    private(set) var fraction = 1.0
    private(set) var needsRecheck = false
    /// In key order; nil until `close` has made them.
    private(set) var ranges: [KeyRange]?

    /// More ranges than this are not worth their seeks.
    private static let mostRanges = 4096

    init(_ index: IndexSchema, _ codec: IndexKeyCodec, _ conjuncts: [CompiledTest], isOrderWanted: Bool) {
        self.index = index
        self.codec = codec
        self.conjuncts = conjuncts
        var place = 0
        while place < index.elements.count, takeValues(place) { place += 1 }
        if place == index.elements.count {
            if index.isUnique { fraction = 1e-7 * Double(prefixes.count) }
        } else {
            takeRange(place)
        }
    }

    // MARK: Matching

    private func condition(_ conjunct: Int, _ element: IndexSchema.Element) -> ColumnCondition? {
        guard let condition = conjuncts[conjunct].condition, condition.slot == element.slot,
            condition.elementPath == element.compositePath
        else { return nil }
        return condition
    }

    /// Takes an equality or IN on an element; false when there is none.
    private mutating func takeValues(_ place: Int) -> Bool {
        let element = index.elements[place]
        for conjunct in conjuncts.indices {
            guard let condition = condition(conjunct, element), case .values(let values) = condition.kind else {
                continue
            }
            let distinct = Array(Set(values))
            let isFolded = condition.folding == element.folding || distinct == [.null]
            // What is equal as it is, is equal folded too.
            guard isFolded || element.folding.isSuperset(of: condition.folding),
                distinct.count * prefixes.count <= Self.mostRanges
            else { continue }
            if !isFolded || !condition.isWhole { needsRecheck = true }
            prefixes = prefixes.flatMap { prefix in distinct.map { prefix + [$0] } }
            used.insert(conjunct)
            if distinct.count == 1 { single.insert(place) }
            let each = distinct == [.null] ? 0.05 : place == 0 ? 0.002 : 0.05
            fraction *= min(1, each * Double(distinct.count))
            return true
        }
        return false
    }

    /// Takes a beginning, bounds, or `!= nil` on the element behind the equalities.
    private mutating func takeRange(_ place: Int) {
        let element = index.elements[place]
        var lower: KeyBound?, upper: KeyBound?
        for conjunct in conjuncts.indices {
            guard let condition = condition(conjunct, element) else { continue }
            switch condition.kind {
            case .prefix(let text) where condition.folding == element.folding && lower == nil && upper == nil:
                next = .beginsWith(text)
                if !condition.isWhole { needsRecheck = true }
                used.insert(conjunct)
                fraction *= 0.02
                return
            case .range(let low, let high) where condition.folding == element.folding:
                guard low == nil || lower == nil, high == nil || upper == nil else { continue }
                lower = lower ?? low.map { KeyBound($0.value, isInclusive: $0.isIncluded) }
                upper = upper ?? high.map { KeyBound($0.value, isInclusive: $0.isIncluded) }
                used.insert(conjunct)
            default: continue
            }
        }
        if lower != nil || upper != nil {
            next = .range(lower: lower, upper: upper)
            fraction *= lower != nil && upper != nil ? 0.05 : 0.09
        } else {
            takeNotNil(element)
        }
    }

    private mutating func takeNotNil(_ element: IndexSchema.Element) {
        for conjunct in conjuncts.indices {
            guard let condition = condition(conjunct, element), case .notNil = condition.kind else { continue }
            next = .isNotNull
            used.insert(conjunct)
            fraction *= 0.8
            return
        }
    }

    // MARK: Ranges

    /// Makes the ranges; false when the index cannot hold such values.
    mutating func close() -> Bool {
        var found: Set<KeyRange> = []
        for prefix in prefixes {
            do throws(UncomparableKey) {
                guard let range = try codec.range(equal: prefix, then: next), !range.isEmpty else { continue }
                needsRecheck = needsRecheck || range.needsRecheck
                found.insert(KeyRange(lower: range.lower, upper: range.upper, needsRecheck: false))
            } catch {
                return false
            }
        }
        ranges = found.sorted { $0.lower.lexicographicallyPrecedes($1.lower) }
        return true
    }

    // MARK: Order

    /// How the index must be walked to give the order; nil when it does not.
    ///
    /// Every element must be bound to one value or be a key of the order, so that ties are ties of whole keys.
    func direction(for order: [SortColumn]) -> Direction? {
        var rest = order[...]
        var direction: Direction?
        for (place, element) in index.elements.enumerated() {
            if single.contains(place) {
                if let column = rest.first, column.matches(element) { rest = rest.dropFirst() }
                continue
            }
            guard let column = rest.popFirst(), column.matches(element) else { return nil }
            let wanted: Direction = column.isAscending == element.isAscending ? .forwards : .backwards
            guard direction == nil || direction == wanted else { return nil }
            direction = wanted
        }
        guard rest.isEmpty, !order.isEmpty else { return nil }
        return direction ?? .forwards
    }
}

extension SortColumn {
    fileprivate func matches(_ element: IndexSchema.Element) -> Bool {
        guard let column else { return false }
        return column.slot == element.slot && column.elementPath == element.compositePath
            && folding == element.folding
    }
}
