import Foundation
import StrataModel

/// Numbers or dates in ranges of equal length that begin at round values, as a histogram shows them.
struct ValueRanges {
    struct Range {
        let from: AttributeValue
        /// The first value after the range.
        let to: AttributeValue
        var count: Int
    }

    /// Empty if the values are neither numbers nor dates, or so close together that numbers tell no ranges apart.
    let list: [Range]

    /// At most twice as many ranges are made.
    private static let wanted = 12.0

    /// - Parameter counts: different values with how often each occurs.
    init(_ counts: [(value: AttributeValue, count: Int)]) {
        let numbers = counts.compactMap { pair in Self.number(pair.value).map { (number: $0, count: pair.count) } }
        guard let make = counts.lazy.compactMap({ Self.maker(like: $0.value) }).first,
            let first = numbers.map(\.number).min(), let last = numbers.map(\.number).max(), first < last
        else {
            list = []
            return
        }
        let isWhole = counts.contains { if case .integer = $0.value { true } else { false } }
        let isDate = counts.contains { if case .date = $0.value { true } else { false } }
        let hasCalendar = isDate && max(first.magnitude, last.magnitude) < Self.endOfCalendars
        let edges = hasCalendar ? Self.dates(first, last) : Self.edges(first, last, Self.step(first, last, isWhole))
        var sums = [Int](repeating: 0, count: max(edges.count - 1, 0))
        for (number, count) in numbers {
            let index = (edges.firstIndex { $0 > number } ?? edges.count) - 1
            if sums.indices.contains(index) { sums[index] += count }
        }
        list = sums.indices.map { Range(from: make(edges[$0]), to: make(edges[$0 + 1]), count: sums[$0]) }
    }

    /// nil for what has no place on a line, such as nil and NaN.
    private static func number(_ value: AttributeValue) -> Double? {
        let number: Double? =
            switch value {
            case .integer(let integer): Double(integer)
            case .float(let float): Double(float)
            case .double(let double): double
            case .decimal(let decimal): NSDecimalNumber(decimal: decimal).doubleValue
            case .date(let date): date.timeIntervalSinceReferenceDate
            default: nil
            }
        return number.flatMap { $0.isFinite ? $0 : nil }
    }

    /// Makes a value of the same type.
    private static func maker(like value: AttributeValue) -> ((Double) -> AttributeValue)? {
        switch value {
        case .integer: { .integer(Int64(exactly: $0.rounded()) ?? ($0 < 0 ? .min : .max)) }
        case .float: { .float(Float($0)) }
        case .double: { .double($0) }
        case .decimal: { .decimal(Decimal($0)) }
        case .date: { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        default: nil
        }
    }

    /// In seconds from 2001, some 30,000 years: dates beyond are numbers.
    private static let endOfCalendars = 1e12

    /// 1, 2 or 5 times a power of ten; at least 1 for whole numbers.
    private static func step(_ first: Double, _ last: Double, _ isWhole: Bool) -> Double {
        let least = last / wanted - first / wanted
        let power = pow(10, log10(least).rounded(.down))
        let step = [1, 2, 5, 10].lazy.map { $0 * power }.first { $0 >= least } ?? least
        return isWhole ? max(step, 1) : step
    }

    private static func edges(_ first: Double, _ last: Double, _ step: Double) -> [Double] {
        // Up to here every multiple of the step has a number of its own.
        guard max(first.magnitude, last.magnitude) / step < 0x1p50 else { return [] }
        let start = (first / step).rounded(.down)
        let count = Int(min((last / step).rounded(.down) - start, 2 * wanted)) + 1
        return (0...count).map { (start + Double($0)) * step }
    }

    // MARK: Dates

    private static let lengths: [Double] = [
        1, 5, 15, 60, 300, 900, 3600, 3 * 3600, 6 * 3600, 86_400, 7 * 86_400,
    ]
    private static let months = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 12_000]

    /// Up to a quarter of a year in equal lengths, beyond that in months and years of UTC.
    private static func dates(_ first: Double, _ last: Double) -> [Double] {
        let least = (last - first) / wanted
        if let length = lengths.first(where: { $0 >= least }) { return edges(first, last, length) }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let step = months.first { Double($0) * 30 * 86_400 >= least } ?? 120_000
        let parts = calendar.dateComponents([.year, .month], from: Date(timeIntervalSinceReferenceDate: first))
        let month = ((parts.year ?? 1) * 12 + (parts.month ?? 1) - 1) / step * step
        var edges: [Double] = []
        while edges.last.map({ $0 <= last }) ?? true, edges.count < Int(2 * wanted) {
            let next = month + edges.count * step
            let begin = DateComponents(year: next / 12, month: next % 12 + 1, day: 1)
            guard let date = calendar.date(from: begin) else { return edges }
            edges.append(date.timeIntervalSinceReferenceDate)
        }
        return edges
    }
}
