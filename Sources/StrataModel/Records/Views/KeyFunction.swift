package import Foundation

/// A function that makes a key of a value, bound to the type of the value and the rules of its time zone.
package enum KeyFunction: Sendable {
    case calendar(CalendarPart, ZoneRules)
    case integerBucket(Int64)
    case doubleBucket(Double)
    case decimalBucket(Decimal)

    /// - Parameter zones: the rules of time zones by name.
    /// - Returns: nil for what the check of a model refuses.
    package init?(_ function: ViewKeyFunction, _ type: AttributeType?, _ zones: [String: ZoneRules]) {
        switch (function, type) {
        case (.calendar(let part, let timeZone), .date?):
            guard let rules = zones[timeZone] else { return nil }
            self = .calendar(part, rules)
        case (.bucket(let width), .double?), (.bucket(let width), .float?): self = .doubleBucket(width)
        case (.bucket(let width), .decimal?):
            guard let width = Decimal(string: "\(width)") else { return nil }
            self = .decimalBucket(width)
        case (.bucket(let width), let type?) where type.isInteger:
            guard let width = Int64(exactly: width), width > 0 else { return nil }
            self = .integerBucket(width)
        default: return nil
        }
    }

    /// The type of keys that the function makes of values of a type.
    package func type(of value: AttributeType?) -> AttributeType? {
        switch self {
        case .calendar: .integer64
        // The multiple of a width need not be a Float.
        case .doubleBucket: .double
        default: value
        }
    }

    /// The key of a value; nil has the key nil.
    package func key(of value: AttributeValue) -> AttributeValue {
        switch (self, value) {
        case (.calendar(let part, let zone), .date(let date)):
            part.value(of: date.timeIntervalSinceReferenceDate, in: zone).map(AttributeValue.integer) ?? .null
        case (.integerBucket(let width), .integer(let number)):
            .integer(Self.clamped(number.floorDivided(by: width).quotient, width))
        case (.doubleBucket(let width), .double(let number)): .double(Self.bucket(number, width))
        // As in sums: the shortest decimal number for the Float.
        case (.doubleBucket(let width), .float(let number)):
            .double(Self.bucket(Double(number.description) ?? Double(number), width))
        case (.decimalBucket(let width), .decimal(let number)): .decimal(Self.bucket(number, width))
        default: .null
        }
    }

    /// The lowest bucket may begin below the lowest number.
    private static func clamped(_ quotient: Int64, _ width: Int64) -> Int64 {
        let (product, overflows) = quotient.multipliedReportingOverflow(by: width)
        return overflows ? .min : product
    }

    private static func bucket(_ number: Double, _ width: Double) -> Double {
        let bucket = (number / width).rounded(.down) * width
        // If buckets are finer than numbers, each number has its own.
        return bucket.isFinite ? bucket : number
    }

    private static func bucket(_ number: Decimal, _ width: Decimal) -> Decimal {
        if number.isNaN { return number }
        var quotient = number.divided(by: width)
        if quotient.isNaN { return number }
        var whole = Decimal()
        NSDecimalRound(&whole, &quotient, 0, .down)
        return whole.multiplied(by: width)
    }
}
