import StrataModel

/// The access by which a request finds rows of a view.
struct ViewAccess {
    /// An order of the view that the request asks for.
    struct Ordered {
        let order: PreparedView.Order
        /// Whether the order is read from its beginning.
        let isForward: Bool
        /// The values of leading columns that the condition fixes, as in an entry.
        let prefix: [UInt8]
        /// Whether every entry that begins with `prefix` meets the condition.
        let coversCondition: Bool

        /// The prefix of the keys of all entries of the order.
        func start(_ view: PreparedView) -> [UInt8] {
            var start = ByteWriter(capacity: 8)
            order.begin(view, &start)
            return Array(start.bytes)
        }
    }

    /// The beginning of the whole keys of all groups that can meet the condition, without the view's number.
    let keyPrefix: [UInt8]
    /// Whether `keyPrefix` is a whole key.
    let isOneGroup: Bool
    let ordered: Ordered?
    /// Whether every group that begins with `keyPrefix` meets the condition.
    let coversCondition: Bool

    /// All groups, in the order of their keys.
    init() { (keyPrefix, isOneGroup, ordered, coversCondition) = ([], false, nil, true) }

    init(_ request: ViewRequest, _ view: PreparedView) {
        var elements: [Int: [UInt8]] = [:]
        let equalities = request.predicate?.equalities ?? .none
        var covered = 0
        for (column, value) in equalities.found {
            guard let index = view.description.keys.firstIndex(where: { $0.name == column }) else { continue }
            var writer = ByteWriter(capacity: 64)
            guard GroupKey.append(constant: value, view.keys[index].kind, view.keys[index].type, to: &writer) else {
                continue
            }
            if elements.updateValue(Array(writer.bytes), forKey: index) == nil { covered += 1 }
        }
        var (prefix, known): ([UInt8], Int) = ([], 0)
        while let element = elements[known] {
            prefix += element
            known += 1
        }
        keyPrefix = prefix
        isOneGroup = known == view.keys.count && known > 0
        coversCondition = equalities.areAll && covered == equalities.found.count && known == covered
        let isKnown = equalities.areAll && covered == equalities.found.count
        ordered = Self.ordered(request.sort, view, elements, isKnown)
    }

    /// The first order of the view whose columns are those of the request, after columns that the condition fixes; a
    /// ranked one, if there is any.
    ///
    /// - Parameter isKnown: whether the condition says no more than `elements`.
    private static func ordered(
        _ sort: [SortDescription], _ view: PreparedView, _ elements: [Int: [UInt8]], _ isKnown: Bool
    ) -> Ordered? {
        guard !sort.isEmpty, sort.allSatisfy(\.isPlain) else { return nil }
        let names = view.columnNames
        for order in view.orders.filter(\.isRanked) + view.orders.filter({ !$0.isRanked }) {
            var prefix: [UInt8] = []
            for (position, column) in order.columns.enumerated() {
                let rest = order.columns[position...]
                if rest.count == sort.count, zip(rest, sort).allSatisfy({ names[$0.index] == $1.keyPath }) {
                    let turned = Set(zip(rest, sort).map { $0.isAscending != $1.isAscending })
                    if turned.count == 1 {
                        return Ordered(
                            order: order, isForward: turned == [false], prefix: prefix,
                            coversCondition: isKnown && position == elements.count)
                    }
                }
                guard let element = elements[column.index] else { break }
                prefix += column.isAscending ? element : element.map { ~$0 }
            }
        }
        return nil
    }

    /// Whether a group with a whole key may meet the condition.
    func mayMeet(_ key: [UInt8]) -> Bool { isOneGroup ? key == keyPrefix : key.starts(with: keyPrefix) }

    /// Whether the key of a record decides whether its group may meet the condition, although long keys are cut there.
    var isWithinRecords: Bool { keyPrefix.count <= ViewKeys.largestPrefix }
}

/// The columns that must have a value for a condition to hold.
private struct Equalities {
    var found: [(column: String, value: AttributeValue)] = []
    /// Whether the condition holds if all of them are met.
    var areAll = true

    static var none: Equalities { Equalities() }
}

extension FetchPredicate {
    fileprivate var equalities: Equalities {
        switch self {
        case .and(let parts):
            return parts.reduce(into: Equalities()) { all, part in
                let own = part.equalities
                all.found += own.found
                all.areAll = all.areAll && own.areAll
            }
        case .comparison(let comparison):
            guard comparison.operator == .equalTo, comparison.modifier == .direct, comparison.folding == [] else {
                return Equalities(areAll: false)
            }
            switch (comparison.left, comparison.right) {
            case (.keyPath(let column), .constant(let value)), (.constant(let value), .keyPath(let column)):
                return Equalities(found: [(column, value)])
            default: return Equalities(areAll: false)
            }
        default: return Equalities(areAll: false)
        }
    }
}
