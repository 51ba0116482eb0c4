import Foundation

/// Reads and writes dates in ISO 8601.
enum DateText {
    /// Reads `2026-11-21` or `2026-11-21T10:00:00Z`, with fraction or offset; nil for other text.
    static func date(_ text: String) -> Date? {
        // Most text is shorter than a date or does not begin with a digit.
        guard text.utf8.count >= 10, text.utf8.first.map({ 48...57 ~= $0 }) ?? false, isInCalendar(text) else {
            return nil
        }
        if let early = earlyDate(text) { return early }
        return parsed(text)
    }

    private static func parsed(_ text: String) -> Date? {
        if let date = try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)) {
            return date
        }
        if let date = try? Date(text, strategy: .iso8601) { return date }
        // The style would ignore text after the day.
        guard text.utf8.count == 10 else { return nil }
        return try? Date(text, strategy: Date.ISO8601FormatStyle().year().month().day())
    }

    /// ISO 8601 uses the Gregorian calendar for all times, which repeats every 400 years; Foundation's style uses the
    /// Julian calendar before October 1582. So earlier dates are moved by multiples of 400 years and back.
    private static func earlyDate(_ text: String) -> Date? {
        guard let year = Int(text.prefix(4)), year < firstYear, text.dropFirst(4).first == "-" else { return nil }
        let rounds = (firstYear - year + 399) / 400
        let later = String(year + 400 * rounds)
        return parsed(later + text.dropFirst(4)).map { $0.addingTimeInterval(-Double(rounds) * round) }
    }

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
    private static let firstYear = 1600
    private static let firstMoment = Date(timeIntervalSince1970: -11_676_096_000)
    /// 400 years.
    private static let round = 146_097 * 86_400.0

    /// Refuses February 30 and hour 25, which the style would carry over.
    private static func isInCalendar(_ text: String) -> Bool {
        func number(_ start: Int, _ count: Int) -> Int? {
            let digits = text.utf8.dropFirst(start).prefix(count)
            guard digits.count == count, digits.allSatisfy({ 48...57 ~= $0 }) else { return nil }
            return digits.reduce(0) { $0 * 10 + Int($1) - 48 }
        }
        // The style judges dates in other forms.
        guard let year = number(0, 4), let month = number(5, 2), let day = number(8, 2) else { return true }
        let isLeap = year % 4 == 0 && year % 100 != 0 || year % 400 == 0
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard 1...12 ~= month, 1...days[month - 1] ~= day else { return false }
        return (number(11, 2) ?? 0) < 24 && (number(14, 2) ?? 0) < 60 && (number(17, 2) ?? 0) < 61
    }

    /// `2026-11-21` for `20261121`, ISO 8601's basic form of a day, which could also be a number; nil for other text.
    static func dayWithoutHyphens(_ word: String) -> String? {
        guard word.utf8.count == 8, word.utf8.allSatisfy({ 48...57 ~= $0 }) else { return nil }
        let day = "\(word.prefix(4))-\(word.dropFirst(4).prefix(2))-\(word.suffix(2))"
        return isInCalendar(day) && word.first != "0" ? day : nil
    }

    /// Reads `2026-11-21 10:00:00` and `2026-11-21T10:00` as UTC.
    static func withoutZone(_ word: String) -> Date? {
        let parts = word.split(whereSeparator: { $0 == " " || $0 == "T" })
        guard parts.count == 2, parts[0].utf8.count == 10 else { return nil }
        let clock = parts[1].utf8.count == 5 ? "\(parts[1]):00" : String(parts[1])
        return date("\(parts[0])T\(clock)Z") ?? date("\(parts[0])T\(clock)")
    }
}
