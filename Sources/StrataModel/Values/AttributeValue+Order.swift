package import Foundation

/// The result of comparing two values.
package enum ValueOrder: Sendable {
    case ascending, same, descending

    init<Value: Comparable>(_ left: Value, _ right: Value) {
        self = left < right ? .ascending : left == right ? .same : .descending
    }

    /// The result with the two values swapped.
    var reversed: ValueOrder {
        switch self {
        case .ascending: .descending
        case .same: .same
        case .descending: .ascending
        }
    }
}

// The order of values. Numbers of all kinds are compared by value: integers exactly, a Float as the equal Double, and a
// floating-point number with a Decimal by its shortest decimal representation (so a Double 0.1 equals a Decimal 0.1).
// Strings are compared by Unicode scalars; predicates normalise and fold them first. False is less than true. Object
// ids, UUIDs and data are compared by bytes, URLs by their absolute strings. Nil, NaN, composites, blobs and values of
// different kinds have no order.
extension AttributeValue {
    /// The order of this value and another; nil if they cannot be compared.
    package func order(to other: AttributeValue) -> ValueOrder? {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): ValueOrder(left, right)
        case (.string(let left), .string(let right)): Self.order(left, right)
        case (.date(let left), .date(let right)):
            Self.order(left.timeIntervalSinceReferenceDate, right.timeIntervalSinceReferenceDate)
        case (.boolean(let left), .boolean(let right)): ValueOrder(left ? 1 : 0, right ? 1 : 0)
        case (.objectID(let left), .objectID(let right)): ValueOrder(left, right)
        case (.uuid(let left), .uuid(let right)): ValueOrder(left, right)
        case (.url(let left), .url(let right)): Self.order(left.absoluteString, right.absoluteString)
        case (.data(let left), .data(let right)): Self.order(left, right)
        default: Self.numericOrder(self, other)
        }
    }

    /// Whether both have the same value. Nil equals nil, and composites are equal element by element.
    package func isEqual(to other: AttributeValue) -> Bool {
        switch (self, other) {
        case (.null, .null): return true
        case (.blob(let left), .blob(let right)): return left == right
        case (.composite(let left), .composite(let right)):
            let keys = Set(left.keys).union(right.keys)
            return keys.allSatisfy { (left[$0] ?? .null).isEqual(to: right[$0] ?? .null) }
        default: return order(to: other) == .same
        }
    }

    private static func order(_ left: String, _ right: String) -> ValueOrder {
        // UTF-8 bytes order as scalars do. `String.==` would treat NFC and NFD as equal.
        if left.utf8.elementsEqual(right.utf8) { return .same }
        return left.utf8.lexicographicallyPrecedes(right.utf8) ? .ascending : .descending
    }

    private static func order(_ left: Data, _ right: Data) -> ValueOrder {
        if left == right { return .same }
        return left.lexicographicallyPrecedes(right) ? .ascending : .descending
    }

    private static func order(_ left: Double, _ right: Double) -> ValueOrder? {
        left.isNaN || right.isNaN ? nil : ValueOrder(left, right)
    }

    private static func numericOrder(_ left: AttributeValue, _ right: AttributeValue) -> ValueOrder? {
        if let left = left.floatingPoint, let right = right.floatingPoint { return order(left, right) }
        switch (left, right) {
        case (.integer(let left), _):
            if let right = right.floatingPoint { return order(left, right) }
            if case .decimal(let right) = right { return order(Decimal(left), right) }
        case (_, .integer): return numericOrder(right, left)?.reversed
        case (.decimal(let left), .decimal(let right)): return order(left, right)
        case (.decimal(let decimal), .double(let double)):
            return order(decimal, double, writtenAs: double.description)
        case (.decimal(let decimal), .float(let float)):
            return order(decimal, Double(float), writtenAs: float.description)
        case (_, .decimal): return numericOrder(right, left)?.reversed
        default: break
        }
        return nil
    }

    private var floatingPoint: Double? {
        switch self {
        case .float(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    private static func order(_ left: Int64, _ right: Double) -> ValueOrder? {
        if right.isNaN { return nil }
        if right >= 0x1p63 { return .ascending }
        if right < -0x1p63 { return .descending }
        let whole = right.rounded(.towardZero)
        let order = ValueOrder(left, Int64(whole))
        return order == .same ? ValueOrder(whole, right) : order
    }

    private static func order(_ left: Decimal, _ right: Decimal) -> ValueOrder? {
        left.isNaN || right.isNaN ? nil : ValueOrder(left, right)
    }

    private static func order(_ left: Decimal, _ right: Double, writtenAs text: String) -> ValueOrder? {
        if left.isNaN || right.isNaN { return nil }
        // Outside Decimal's range of exponents, the sign or the magnitude alone decides.
        if right.magnitude > 1e120 { return right > 0 ? .ascending : .descending }
        if right.magnitude < 1e-120 && right != 0 {
            return left > 0 ? .descending : left < 0 || right > 0 ? .ascending : .descending
        }
        return Decimal(of: right, writtenAs: text).flatMap { order(left, $0) }
    }
}

extension Decimal {
    /// A floating-point number as a decimal: its shortest decimal representation, so that 0.1 is 0.1. A whole number from
    /// 2^53 to 2^64 is taken exactly.
    ///
    /// - Parameter text: the number's `description`.
    package init?(of number: Double, writtenAs text: String) {
        if number.magnitude >= 0x1p53, number.magnitude < 0x1p64 {
            let whole = Decimal(UInt64(number.magnitude))
            self = number < 0 ? -whole : whole
        } else {
            guard let decimal = Decimal(string: text) else { return nil }
            self = decimal
        }
    }
}
