import Foundation
import StrataModel

/// Numbers or dates in ranges of equal length that begin at round values, as a histogram shows them.
///
/// The edges are values of the same type, and are compared as queries compare them: so every value is in exactly one
/// range, and the condition of a range finds what the range counts.
struct ValueRanges {
    struct Range {
        let from: AttributeValue
        /// The first value after the range; its last value if the range is closed.
        let to: AttributeValue
        let isClosed: Bool
        var count: Int

        /// Returns the condition that holds for the values of the range.
        func condition(of name: String) -> FetchPredicate {
            let end: FetchPredicate = isClosed ? .lessThanOrEqual(name, to) : .lessThan(name, to)
            return .greaterThanOrEqual(name, from).and(end)
        }

        fileprivate func contains(_ value: AttributeValue) -> Bool {
            guard value.order(to: from) != .ascending, let order = value.order(to: to) else { return false }
            return order == .ascending || isClosed && order == .same
        }
    }

    /// Empty if the values are neither numbers nor dates, or if no round value is between them.
    let list: [Range]

    /// - Parameter counts: different values with how often each occurs.
    init(_ counts: [(value: AttributeValue, count: Int)]) {
        let placed = counts.filter { Self.hasPlace($0.value) }
        let values = placed.map(\.value)
        guard let first = values.min(by: { $0.order(to: $1) == .ascending }),
            let last = values.max(by: { $0.order(to: $1) == .ascending }), first.order(to: last) == .ascending
        else {
            list = []
            return
        }
        var ranges = Self.ranges(first, last, RoundValues.around(first, last))
        for (value, count) in placed {
            guard let index = ranges.firstIndex(where: { $0.contains(value) }) else { continue }
            ranges[index].count += count
        }
        list = ranges.count > 1 ? ranges : []
    }

    /// Whether the value has a place on a line; nil, NaN and infinity have none.
    private static func hasPlace(_ value: AttributeValue) -> Bool {
        switch value {
        case .integer: true
        case .float(let float): float.isFinite
        case .double(let double): double.isFinite
        case .decimal(let decimal): !decimal.isNaN
        case .date(let date): date.timeIntervalSinceReferenceDate.isFinite
        default: false
        }
    }

    /// - Parameter candidates: in ascending order, except that types of few digits may have some of them twice.
    private static func ranges(
        _ first: AttributeValue, _ last: AttributeValue, _ candidates: [AttributeValue]
    ) -> [Range] {
        var edges = [first]
        for edge in candidates where hasPlace(edge) {
            if edge.order(to: first) != .descending {
                edges = [edge]
            } else if let end = edges.last, end.order(to: edge) == .ascending {
                edges.append(edge)
                if edge.order(to: last) == .descending { break }
            }
        }
        let isOpen = edges[edges.count - 1].order(to: last) == .descending
        if edges[edges.count - 1].order(to: last) == .ascending { edges.append(last) }
        return edges.indices.dropLast().map { index in
            let isLast = index == edges.count - 2
            return Range(from: edges[index], to: edges[index + 1], isClosed: isLast && !isOpen, count: 0)
        }
    }
}

/// Values of a type that are easy to read, from before a first to after a last one, at most some 25.
private enum RoundValues {
    /// At most twice as many ranges are made.
    private static let wanted = 12.0

    static func around(_ first: AttributeValue, _ last: AttributeValue) -> [AttributeValue] {
        switch (first, last) {
        case (.integer(let first), .integer(let last)):
            decimals(Decimal(first), Decimal(last), isWhole: true)
                .compactMap { Int64($0.description) }.map(AttributeValue.integer)
        case (.decimal(let first), .decimal(let last)):
            decimals(first, last, isWhole: false).map(AttributeValue.decimal)
        case (.double(let first), .double(let last)):
            numbers(first, last).compactMap { Double($0) }.map(AttributeValue.double)
        case (.float(let first), .float(let last)):
            numbers(Double(first), Double(last)).compactMap { Float($0) }.map(AttributeValue.float)
        case (.date(let first), .date(let last)):
            dates(first.timeIntervalSinceReferenceDate, last.timeIntervalSinceReferenceDate)
                .map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        default: []
        }
    }

    /// 1, 2 or 5 times a power of ten that is at least a number.
    private struct Step {
        let digit: Int
        let power: Int

        init?(_ least: Double, isWhole: Bool = false) {
            guard least > 0, least.isFinite else { return nil }
            let power = Int(log10(least).rounded(.down))
            if isWhole && power < 0 {
                (digit, self.power) = (1, 0)
            } else {
                let found = [1, 2, 5].first { (Double("\($0)e\(power)") ?? 0) >= least * 0.999_999 }
                (digit, self.power) = (found ?? 1, found == nil ? power + 1 : power)
            }
        }
    }

    // MARK: Numbers

    /// Multiples of a step as text, which each type reads as its nearest value: products would be a digit beside it.
    private static func numbers(_ first: Double, _ last: Double) -> [String] {
        guard let step = Step(max(last / wanted - first / wanted, .leastNonzeroMagnitude)),
            let length = Double("\(step.digit)e\(step.power)"), length > 0
        else { return [] }
        let start = (first / length).rounded(.down)
        // Up to here every multiple of the step has a number of its own.
        guard start.magnitude < 0x1p53 else { return [] }
        return multiples.map { "\((Int(start) + $0) * step.digit)e\(step.power)" }
    }

    /// The first is before what the others begin with, because a quotient is rounded.
    private static let multiples = -1...28

    private static func decimals(_ first: Decimal, _ last: Decimal, isWhole: Bool) -> [Decimal] {
        func number(_ decimal: Decimal) -> Double { NSDecimalNumber(decimal: decimal).doubleValue }
        let exact = number(last - first) / wanted
        let least = exact.isFinite ? exact : number(last) / wanted - number(first) / wanted
        guard let step = Step(least, isWhole: isWhole) else { return [] }
        let power = max(step.power, -128)
        func floor(_ number: Decimal) -> Decimal {
            var (source, rounded) = (number, number)
            NSDecimalRound(&rounded, &source, 0, .down)
            return rounded
        }
        // A number that is too small for this is next to 0.
        let start = floor(floor(moved(first, by: -power) ?? 0) / Decimal(step.digit))
        return multiples.compactMap { moved((start + Decimal($0)) * Decimal(step.digit), by: power) }
    }

    /// The number times a power of ten; nil where `Decimal` does not hold it.
    private static func moved(_ number: Decimal, by power: Int) -> Decimal? {
        if number.isNaN || number.isZero { return number.isNaN ? nil : number }
        var mantissa = number.magnitude.significand
        var exponent = number.exponent + power
        while exponent > 127 {
            mantissa *= 10
            guard !mantissa.isNaN, mantissa.exponent == 0 else { return nil }
            exponent -= 1
        }
        guard exponent >= -128 else { return nil }
        return Decimal(sign: number.sign, exponent: exponent, significand: mantissa)
    }

    // MARK: Dates

    private static let lengths: [Double] = [
        1, 5, 15, 60, 300, 900, 3600, 3 * 3600, 6 * 3600, 86_400, 7 * 86_400,
    ]
    private static let months = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 12_000]
    /// In seconds from 2001, some 30,000 years: dates beyond are numbers.
    private static let endOfCalendars = 1e12

    /// Up to a quarter of a year in equal lengths, beyond that in months and years of UTC.
    private static func dates(_ first: Double, _ last: Double) -> [Double] {
        let least = last / wanted - first / wanted
        guard max(first.magnitude, last.magnitude) < endOfCalendars, least > 0.5 else {
            return numbers(first, last).compactMap { Double($0) }
        }
        if let length = lengths.first(where: { $0 >= least }) {
            let start = (first / length).rounded(.down)
            return multiples.map { (start + Double($0)) * length }
        }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let step = months.first { Double($0) * 30 * 86_400 >= least } ?? 120_000
        let parts = calendar.dateComponents([.era, .year, .month], from: Date(timeIntervalSinceReferenceDate: first))
        let year = parts.year ?? 1
        let month = (parts.era == 0 ? 1 - year : year) * 12 + (parts.month ?? 1) - 1
        let start = Int((Double(month) / Double(step)).rounded(.down))
        return multiples.compactMap { index in
            let next = (start + index) * step
            let year = Int((Double(next) / 12).rounded(.down))
            let begin = DateComponents(year: year, month: next - year * 12 + 1, day: 1)
            return calendar.date(from: begin)?.timeIntervalSinceReferenceDate
        }
    }
}
