package import Foundation

/// Writes dates in ISO 8601.
///
/// ISO 8601 uses the Gregorian calendar for all times, which repeats every 400 years; Foundation's style uses the Julian
/// calendar before October 1582. So earlier dates are moved by multiples of 400 years and back.
package enum DateText {
    /// UTC, to the second or the millisecond.
    package static func text(_ date: Date, _ style: Date.ISO8601FormatStyle) -> String {
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

    /// Whether the date has a year of four digits, which the calendar can write.
    package static func isInCalendar(_ date: Date) -> Bool {
        let seconds = date.timeIntervalSince1970
        return seconds >= -62_135_596_800 && seconds < 253_402_300_800
    }

    /// UTC, to the nearest millisecond; seconds since 1970 for dates that the calendar cannot write.
    package static func milliseconds(_ date: Date) -> String {
        guard isInCalendar(date) else { return "\(date.timeIntervalSince1970)" }
        // Foundation's style cuts digits off, and a date may be some parts of a microsecond before its millisecond.
        let seconds = date.timeIntervalSinceReferenceDate
        var whole = seconds.rounded(.down)
        var milliseconds = Int(((seconds - whole) * 1000).rounded())
        if milliseconds == 1000 {
            let isLast = !isInCalendar(Date(timeIntervalSinceReferenceDate: whole + 1))
            (whole, milliseconds) = isLast ? (whole, 999) : (whole + 1, 0)
        }
        let digits = String(milliseconds)
        let text = text(Date(timeIntervalSinceReferenceDate: whole), .iso8601)
        return text.dropLast() + ".\(String(repeating: "0", count: 3 - digits.count))\(digits)Z"
    }

    /// UTC, with as many digits as the date needs to be read back the same; seconds since 1970 for dates that the calendar
    /// cannot write.
    package static func exact(_ date: Date) -> String {
        guard isInCalendar(date) else { return "\(date.timeIntervalSince1970)" }
        let text = milliseconds(date)
        if Date(iso8601Text: text) == date { return text }
        // Times in the log are whole microseconds. A date is a Double of seconds since 2001: near today it has eight
        // digits behind the point, and one bit fewer as seconds since 1970.
        let seconds = date.timeIntervalSinceReferenceDate
        let whole = seconds.rounded(.down)
        let start = Self.text(Date(timeIntervalSinceReferenceDate: whole), .iso8601)
        for width in 6...17 {
            let digits = "\(UInt64(((seconds - whole) * pow(10, Double(width))).rounded()))"
            guard digits.count <= width else { continue }
            let fraction = String(repeating: "0", count: width - digits.count) + digits
            let precise = start.dropLast() + ".\(fraction)Z"
            if Date(iso8601Text: String(precise)) == date { return String(precise) }
        }
        return "\(date.timeIntervalSince1970)"
    }
}
