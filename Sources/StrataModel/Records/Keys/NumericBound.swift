import Foundation

/// Converts a numeric constant to bounds for keys of another numeric kind. The bounds never exclude a value that meets
/// the condition.
enum NumericBound {
    /// The converted bound.
    enum Side: Sendable, Hashable {
        /// No value is on this side of the constant.
        case nothing
        /// Every value except nil and NaN is.
        case everything
        case bound(KeyBound)
    }

    struct Conversion {
        let side: Side
        /// Whether the bound includes too much, because the kind has no value equal to the constant.
        var isRounded = false

        var bound: KeyBound? {
            if case .bound(let bound) = side { bound } else { nil }
        }
    }

    enum Equality {
        case none
        case exactly(AttributeValue)
        /// All values between these two may be equal.
        case between(AttributeValue, AttributeValue)
    }

    /// The bound after all values that can be compared: NaN, for kinds that have it.
    static func ceiling(of kind: KeyKind) -> KeyBound? {
        switch kind {
        case .double: KeyBound(.double(.nan), isInclusive: false)
        case .date: KeyBound(.date(Date(timeIntervalSinceReferenceDate: .nan)), isInclusive: false)
        case .decimal: KeyBound(.decimal(.nan), isInclusive: false)
        default: nil
        }
    }

    static func equal(_ value: AttributeValue, in kind: KeyKind, element: Int) throws(UncomparableKey) -> Equality {
        if value.isNaN { return .none }
        switch (kind, value) {
        case (_, .null): return .exactly(.null)
        case (.integer, .float), (.integer, .double), (.integer, .decimal):
            return value.integerIfExact.map { .exactly(.integer($0)) } ?? .none
        case (.double, .integer(let number)):
            if Double(exactly: number) != nil { return .exactly(value) }
            return .between(.double(Double(number).nextDown), .double(Double(number).nextUp))
        case (.double, .decimal(let number)):
            let near = number.nearestDouble
            return .between(.double(near.nextDown), .double(near.nextUp))
        case (.decimal, .float), (.decimal, .double):
            guard let number = value.doubleValue, let range = Decimal.around(number) else { return .none }
            return .between(.decimal(range.0), .decimal(range.1))
        default:
            try require(value, in: kind, element: element)
            return .exactly(value)
        }
    }

    /// The lower bound for values above the constant, or equal to it.
    static func lower(_ bound: KeyBound, in kind: KeyKind, element: Int) throws(UncomparableKey) -> Conversion {
        if bound.value.isIncomparable { return Conversion(side: .nothing) }
        switch (kind, bound.value) {
        case (.integer, .float), (.integer, .double), (.integer, .decimal):
            return integerLower(bound)
        case (.double, .integer(let number)) where Double(exactly: number) == nil:
            return rounded(.double(Double(number).nextDown))
        case (.double, .decimal(let number)):
            return rounded(.double(number.nearestDouble.nextDown))
        case (.decimal, .float), (.decimal, .double):
            guard let number = bound.value.doubleValue else { return Conversion(side: .nothing) }
            guard let range = Decimal.around(number) else {
                return Conversion(side: number < 0 ? .everything : .nothing)
            }
            return rounded(.decimal(range.0))
        default:
            try require(bound.value, in: kind, element: element)
            return Conversion(side: .bound(bound))
        }
    }

    /// The upper bound for values below the constant, or equal to it.
    static func upper(_ bound: KeyBound, in kind: KeyKind, element: Int) throws(UncomparableKey) -> Conversion {
        if bound.value.isIncomparable { return Conversion(side: .nothing) }
        switch (kind, bound.value) {
        case (.integer, .float), (.integer, .double), (.integer, .decimal):
            return integerUpper(bound)
        case (.double, .integer(let number)) where Double(exactly: number) == nil:
            return rounded(.double(Double(number).nextUp))
        case (.double, .decimal(let number)):
            return rounded(.double(number.nearestDouble.nextUp))
        case (.decimal, .float), (.decimal, .double):
            guard let number = bound.value.doubleValue else { return Conversion(side: .nothing) }
            guard let range = Decimal.around(number) else {
                return Conversion(side: number > 0 ? .everything : .nothing)
            }
            return rounded(.decimal(range.1))
        default:
            try require(bound.value, in: kind, element: element)
            return Conversion(side: .bound(bound))
        }
    }

    private static func rounded(_ value: AttributeValue) -> Conversion {
        Conversion(side: .bound(KeyBound(value, isInclusive: true)), isRounded: true)
    }

    private static func integerLower(_ bound: KeyBound) -> Conversion {
        if let exact = bound.value.integerIfExact {
            return Conversion(side: .bound(KeyBound(.integer(exact), isInclusive: bound.isInclusive)))
        }
        switch bound.value.roundedUp {
        case .below: return Conversion(side: .everything)
        case .above: return Conversion(side: .nothing)
        case .integer(let number): return Conversion(side: .bound(KeyBound(.integer(number), isInclusive: true)))
        }
    }

    private static func integerUpper(_ bound: KeyBound) -> Conversion {
        if let exact = bound.value.integerIfExact {
            return Conversion(side: .bound(KeyBound(.integer(exact), isInclusive: bound.isInclusive)))
        }
        // No integer is between a number and the next integer above it.
        switch bound.value.roundedUp {
        case .below: return Conversion(side: .nothing)
        case .above: return Conversion(side: .everything)
        case .integer(let number): return Conversion(side: .bound(KeyBound(.integer(number), isInclusive: false)))
        }
    }

    private static func require(
        _ value: AttributeValue, in kind: KeyKind, element: Int
    ) throws(UncomparableKey) {
        switch (kind, value) {
        case (_, .null), (.integer, .integer), (.integer, .boolean), (.double, .double), (.double, .float),
            (.double, .integer), (.date, .date), (.decimal, .decimal), (.decimal, .integer), (.text, .string),
            (.text, .url), (.uuid, .uuid), (.data, .data), (.objectID, .objectID),
            (.encrypted, .encrypted):
            return
        default: throw UncomparableKey(element: element)
        }
    }
}

// MARK: Numbers of one kind as another

/// A number rounded up to an integer.
private enum RoundedInteger {
    case below
    case integer(Int64)
    case above
}

extension AttributeValue {
    /// Whether the value is neither below nor above anything: nil, also as an id, and NaN.
    fileprivate var isIncomparable: Bool {
        if case .objectID(let id) = self { return id.isNil }
        return self == .null || isNaN
    }

    /// Whether the value is a number or date that is not a number.
    package var isNaN: Bool {
        switch self {
        case .float(let value): value.isNaN
        case .double(let value): value.isNaN
        case .decimal(let value): value.isNaN
        case .date(let value): value.timeIntervalSinceReferenceDate.isNaN
        default: false
        }
    }

    fileprivate var doubleValue: Double? {
        switch self {
        case .float(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    fileprivate var integerIfExact: Int64? {
        if case .integer(let value) = self { return value }
        if let double = doubleValue { return Int64(exactly: double) }
        guard case .decimal(let value) = self, case .integer(let number) = roundedUp else { return nil }
        return Decimal(number) == value ? number : nil
    }

    fileprivate var roundedUp: RoundedInteger {
        if let double = doubleValue {
            let up = double.rounded(.up)
            if let number = Int64(exactly: up) { return .integer(number) }
            return up < 0 ? .below : .above
        }
        guard case .decimal(let value) = self else { return .above }
        if value < Decimal(Int64.min) { return .below }
        if value > Decimal(Int64.max) { return .above }
        let parts = DecimalParts(value)
        var magnitude = parts.mantissa
        for _ in 0..<max(0, Int(parts.exponent)) { magnitude *= 10 }
        var hasFraction = false
        for _ in 0..<max(0, -Int(parts.exponent)) {
            let (quotient, digit) = magnitude.quotientAndRemainder(dividingBy: 10)
            if digit != 0 { hasFraction = true }
            magnitude = quotient
        }
        if parts.isNegative { return .integer(Int64(truncatingIfNeeded: -Int128(magnitude))) }
        guard let whole = Int64(exactly: magnitude + (hasFraction ? 1 : 0)) else { return .above }
        return .integer(whole)
    }
}

extension Decimal {
    /// The Double equal or closest to the number.
    fileprivate var nearestDouble: Double { Double(description) ?? (self < 0 ? -.infinity : .infinity) }

    /// Two Decimals close to a Double, below and above it; nil if the Double is outside Decimal's range.
    fileprivate static func around(_ value: Double) -> (Decimal, Decimal)? {
        // The ends of Decimal's range, 1e-128 and 3.4e165, are covered coarsely.
        if value.magnitude > 3.5e165 { return nil }
        if value.magnitude > 1e127 {
            let edge = Decimal(sign: .plus, exponent: 127, significand: 1)
            return value < 0 ? (-.greatestFiniteMagnitude, -edge) : (edge, .greatestFiniteMagnitude)
        }
        if value.magnitude < 1e-100 {
            let edge = Decimal(sign: .plus, exponent: -100, significand: 1)
            return (-edge, edge)
        }
        let lower = Decimal(string: value.nextDown.description)
        let upper = Decimal(string: value.nextUp.description)
        guard let lower, let upper, !lower.isNaN, !upper.isNaN else { return nil }
        return (lower, upper)
    }
}
