/// A range of index keys, from `lower` up to, not including, `upper`.
package struct KeyRange: Sendable, Hashable {
    package let lower: [UInt8]
    /// nil for a range to the end of the index.
    package let upper: [UInt8]?
    /// Whether the range can have keys of rows that do not meet the condition, so that the rows must be tested.
    package let needsRecheck: Bool

    package init(lower: [UInt8], upper: [UInt8]?, needsRecheck: Bool) {
        self.lower = lower
        self.upper = upper
        self.needsRecheck = needsRecheck
    }

    /// Whether the range has no keys.
    package var isEmpty: Bool { upper.map { !lower.lexicographicallyPrecedes($0) } ?? false }

    /// The least bytes that are after all keys with this prefix; nil if there are none, because all bytes are 0xFF.
    package static func successor(ofPrefix bytes: [UInt8]) -> [UInt8]? {
        guard let last = bytes.lastIndex(where: { $0 != 0xFF }) else { return nil }
        var successor = Array(bytes[...last])
        successor[last] += 1
        return successor
    }
}

/// A condition of a query on one index element. Nil is in no range; NaN is neither below nor above anything.
package enum KeyCondition: Sendable, Hashable {
    case any
    case isNull
    case isNotNull
    case equal(AttributeValue)
    /// A range with at least one bound.
    case range(lower: KeyBound?, upper: KeyBound?)
    /// Texts whose folded form begins with the folded form of this text.
    case beginsWith(String)
}

/// An end of a range of values.
package struct KeyBound: Sendable, Hashable {
    package let value: AttributeValue
    package let isInclusive: Bool

    package init(_ value: AttributeValue, isInclusive: Bool) {
        self.value = value
        self.isInclusive = isInclusive
    }
}

extension IndexKeyCodec {
    /// The range of keys whose first elements equal `values` and whose next element meets `condition`.
    ///
    /// Numbers of all kinds are compared by value: an integer attribute is below 2.5 if it is at most 2.
    /// - Returns: nil if no key can meet the conditions.
    /// - Throws: if a constant cannot be compared with its element.
    package func range(
        equal values: [AttributeValue] = [], then condition: KeyCondition = .any
    ) throws(UncomparableKey) -> KeyRange? {
        var writer = ByteWriter()
        var needsRecheck = false
        for (index, value) in values.enumerated() {
            switch try NumericBound.equal(value, in: elements[index].kind, element: index) {
            case .none: return nil
            case .exactly(let exact): try append(exact, at: index, to: &writer)
            case .between(let lower, let upper):
                // Only the last element can be a range. The rows are tested for the others.
                let rest = KeyCondition.range(
                    lower: KeyBound(lower, isInclusive: true), upper: KeyBound(upper, isInclusive: true))
                return try range(writer.array, index, rest)?.recheck()
            }
            if Self.cut(&writer, from: 0) == .cut { needsRecheck = true }
        }
        let found = try range(writer.array, values.count, condition)
        return needsRecheck ? found?.recheck() : found
    }

    private func range(
        _ prefix: [UInt8], _ index: Int, _ condition: KeyCondition
    ) throws(UncomparableKey) -> KeyRange? {
        switch condition {
        case .any: return whole(prefix)
        case .isNull: return whole(prefix + [marker(KeyEncoding.null, index)])
        case .isNotNull: return whole(prefix + [marker(KeyEncoding.present, index)])
        case .beginsWith(let text):
            var writer = ByteWriter()
            try append(prefix: text, at: index, to: &writer)
            return whole(prefix + writer.array)
        case .equal(.null): return whole(prefix + [marker(KeyEncoding.null, index)])
        case .equal(let value):
            switch try NumericBound.equal(value, in: elements[index].kind, element: index) {
            case .none: return nil
            case .exactly(let exact): return whole(prefix + (try encoded(exact, index)))
            case .between(let lower, let upper):
                let bounds = (KeyBound(lower, isInclusive: true), KeyBound(upper, isInclusive: true))
                return try range(prefix, index, lower: bounds.0, upper: bounds.1)?.recheck()
            }
        case .range(let lower, let upper): return try range(prefix, index, lower: lower, upper: upper)
        }
    }

    private func range(
        _ prefix: [UInt8], _ index: Int, lower: KeyBound?, upper: KeyBound?
    ) throws(UncomparableKey) -> KeyRange? {
        let kind = elements[index].kind
        let low = try lower.map { (bound) throws(UncomparableKey) in
            try NumericBound.lower(bound, in: kind, element: index)
        }
        let high = try upper.map { (bound) throws(UncomparableKey) in
            try NumericBound.upper(bound, in: kind, element: index)
        }
        if low?.side == .nothing || high?.side == .nothing { return nil }
        let needsRecheck = low?.isRounded ?? false || high?.isRounded ?? false
        let ceiling = high?.bound ?? NumericBound.ceiling(of: kind)
        let (first, last) = elements[index].isAscending ? (low?.bound, ceiling) : (ceiling, low?.bound)
        let start = try edge(prefix, index, first, isEnd: false)
        let end = try edge(prefix, index, last, isEnd: true)
        guard let startBytes = start.bytes else { return nil }
        let range = KeyRange(
            lower: startBytes, upper: end.bytes, needsRecheck: needsRecheck || start.isCut || end.isCut)
        return range.isEmpty ? nil : range
    }

    /// The first key of a range, or the first key after it.
    private func edge(
        _ prefix: [UInt8], _ index: Int, _ bound: KeyBound?, isEnd: Bool
    ) throws(UncomparableKey) -> (bytes: [UInt8]?, isCut: Bool) {
        let element = try bound.map { (bound) throws(UncomparableKey) in try encoded(bound.value, index) }
        let whole = prefix + (element ?? [marker(KeyEncoding.present, index)])
        let isCut = whole.count > Self.maximumLength
        let bytes = Array(whole.prefix(Self.maximumLength))
        // A cut key may be on either side of the bound, so it stays in the range.
        let isBehind =
            if let bound, !isCut { bound.isInclusive == isEnd } else { isEnd }
        return (isBehind ? KeyRange.successor(ofPrefix: bytes) : bytes, isCut)
    }

    private func encoded(_ value: AttributeValue, _ index: Int) throws(UncomparableKey) -> [UInt8] {
        var writer = ByteWriter()
        try append(value, at: index, to: &writer)
        return writer.array
    }

    private func marker(_ byte: UInt8, _ index: Int) -> UInt8 { elements[index].isAscending ? byte : ~byte }

    /// The range of all keys with a prefix.
    private func whole(_ bytes: [UInt8]) -> KeyRange {
        let lower = bytes.count > Self.maximumLength ? Array(bytes.prefix(Self.maximumLength)) : bytes
        return KeyRange(
            lower: lower, upper: KeyRange.successor(ofPrefix: lower), needsRecheck: bytes.count > Self.maximumLength)
    }
}

extension KeyRange {
    fileprivate func recheck() -> KeyRange { KeyRange(lower: lower, upper: upper, needsRecheck: true) }
}
