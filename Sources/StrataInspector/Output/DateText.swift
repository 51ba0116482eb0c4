import Foundation
import StrataModel

/// Writes dates in ISO 8601.
///
/// ISO 8601 uses the Gregorian calendar for all times, which repeats every 400 years; Foundation's style uses the Julian
/// calendar before October 1582. So earlier dates are moved by multiples of 400 years and back.
enum DateText {
    /// UTC, to the second or the millisecond.
    static func text(_ date: Date, _ style: Date.ISO8601FormatStyle) -> String {
        guard date < firstMoment else { return date.formatted(style) }
        let rounds = Int(
            ((firstMoment.timeIntervalSinceReferenceDate - date.timeIntervalSinceReferenceDate) / round).rounded(.up))
        let later = date.addingTimeInterval(Double(rounds) * round).formatted(style)
        guard let year = Int(later.prefix(4)) else { return date.formatted(style) }
        let digits = String(year - 400 * rounds)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits + later.dropFirst(4)
    }

    /// From here on both calendars agree.
    private static let firstMoment = Date(timeIntervalSince1970: -11_676_096_000)
    /// 400 years.
    private static let round = 146_097 * 86_400.0

    /// `2026-11-21` for `20261121`, ISO 8601's basic form of a day, which could also be a number; nil for other text.
    static func dayWithoutHyphens(_ word: String) -> String? {
        guard word.utf8.count == 8, word.utf8.allSatisfy({ 48...57 ~= $0 }) else { return nil }
        let day = "\(word.prefix(4))-\(word.dropFirst(4).prefix(2))-\(word.suffix(2))"
        return Date(iso8601Text: day) != nil && word.first != "0" ? day : nil
    }
}
