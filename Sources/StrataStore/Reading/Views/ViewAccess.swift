import StrataModel

/// How the rows of a view are found for a request.
struct ViewAccess {
    /// An order of the view that the request asks for.
    struct Ordered {
        let order: PreparedView.Order
        /// Whether the order is read from its beginning.
        let isForward: Bool
        /// The values of leading columns that the condition fixes, as in an entry.
        let prefix: [UInt8]
    }

    /// What the whole keys of all groups begin with that can meet the condition, without the view's number.
    let keyPrefix: [UInt8]
    /// Whether `keyPrefix` is a whole key.
    let isOneGroup: Bool
    let ordered: Ordered?

    /// All groups, in the order of their keys.
    init() { (keyPrefix, isOneGroup, ordered) = ([], false, nil) }

    init(_ request: ViewRequest, _ view: PreparedView) {
        var elements: [Int: [UInt8]] = [:]
        for (column, value) in request.predicate?.equalities ?? [] {
            guard let index = view.description.keys.firstIndex(where: { $0.name == column }) else { continue }
            var writer = ByteWriter(capacity: 64)
            guard GroupKey.append(constant: value, view.keys[index].kind, view.keys[index].type, to: &writer) else {
                continue
            }
            elements[index] = Array(writer.bytes)
        }
        var (prefix, known): ([UInt8], Int) = ([], 0)
        while let element = elements[known] {
            prefix += element
            known += 1
        }
        keyPrefix = prefix
        isOneGroup = known == view.keys.count && known > 0
        ordered = Self.ordered(request.sort, view, elements)
    }

    /// The first order of the view whose columns are those of the request, after columns that the condition fixes.
    private static func ordered(
        _ sort: [SortDescription], _ view: PreparedView, _ elements: [Int: [UInt8]]
    ) -> Ordered? {
        guard !sort.isEmpty, sort.allSatisfy(\.isPlain) else { return nil }
        let names = view.description.columnNames
        for order in view.orders {
            var prefix: [UInt8] = []
            for (position, column) in order.columns.enumerated() {
                let rest = order.columns[position...]
                if rest.count == sort.count, zip(rest, sort).allSatisfy({ names[$0.index] == $1.keyPath }) {
                    let turned = Set(zip(rest, sort).map { $0.isAscending != $1.isAscending })
                    if turned.count == 1 {
                        return Ordered(order: order, isForward: turned == [false], prefix: prefix)
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
}

extension FetchPredicate {
    /// The columns that must have a value for the condition to hold.
    fileprivate var equalities: [(column: String, value: AttributeValue)] {
        switch self {
        case .and(let parts): return parts.flatMap(\.equalities)
        case .comparison(let comparison):
            guard comparison.operator == .equalTo, comparison.modifier == .direct, comparison.folding == [] else {
                return []
            }
            switch (comparison.left, comparison.right) {
            case (.keyPath(let column), .constant(let value)), (.constant(let value), .keyPath(let column)):
                return [(column, value)]
            default: return []
            }
        default: return []
        }
    }
}
