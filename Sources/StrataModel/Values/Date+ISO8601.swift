package import Foundation

extension Date {
    /// Reads `2026-11-21`, or `2026-11-21T10:00` with or without seconds, a fraction, and a zone (`Z`, `+02:00`); nil for
    /// other text. A space may stand for the `T`; what has no zone is UTC.
    ///
    /// As in ISO 8601, all years are of the Gregorian calendar.
    package init?(iso8601Text text: String) {
        var text = text
        let date = text.withUTF8 { bytes -> Date? in
            // Most text does not begin like a date.
            guard bytes.count >= 10, bytes[4] == UInt8(ascii: "-") else { return nil }
            var reader = DateReader(bytes)
            return reader.date()
        }
        guard let date else { return nil }
        self = date
    }
}

/// Reads a date of ISO 8601 from bytes.
private struct DateReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var offset = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    mutating func date() -> Date? {
        guard let year = number(4), accept("-"), let month = number(2), accept("-"), let day = number(2),
            1...12 ~= month, day >= 1, day <= Self.dayCount(month, year)
        else { return nil }
        var seconds = (Self.days(year, month, day) - Self.referenceDay) * 86_400
        var fraction = ""
        if offset < bytes.count {
            guard accept("T") || accept(" "), let clock = clock(&fraction), let zone = zone() else { return nil }
            seconds += clock - zone
        }
        guard offset == bytes.count else { return nil }
        if seconds >= 0, !fraction.isEmpty {
            // The nearest Double to the whole text.
            return Double("\(seconds).\(fraction)").map(Date.init(timeIntervalSinceReferenceDate:))
        }
        return Date(timeIntervalSinceReferenceDate: Double(seconds) + (Double("0.\(fraction)") ?? 0))
    }

    private mutating func clock(_ fraction: inout String) -> Int? {
        guard let hour = number(2), hour < 24, accept(":"), let minute = number(2), minute < 60 else { return nil }
        guard accept(":") else { return hour * 3600 + minute * 60 }
        // Minutes with a leap second have a second 60.
        guard let second = number(2), second <= 60 else { return nil }
        if accept(".") || accept(",") {
            let start = offset
            while offset < bytes.count, 48...57 ~= bytes[offset] { offset += 1 }
            guard offset > start else { return nil }
            fraction = String(decoding: bytes[start..<offset], as: UTF8.self)
        }
        return hour * 3600 + minute * 60 + second
    }

    /// The seconds by which the zone is ahead of UTC.
    private mutating func zone() -> Int? {
        if offset == bytes.count || accept("Z") { return 0 }
        let sign = accept("+") ? 1 : accept("-") ? -1 : 0
        guard sign != 0, let hours = number(2), hours < 24 else { return nil }
        let hasColon = accept(":")
        guard hasColon || offset < bytes.count else { return sign * hours * 3600 }
        guard let minutes = number(2), minutes < 60 else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }

    private mutating func number(_ count: Int) -> Int? {
        guard offset + count <= bytes.count else { return nil }
        var result = 0
        for byte in bytes[offset..<(offset + count)] {
            guard 48...57 ~= byte else { return nil }
            result = result * 10 + Int(byte) - 48
        }
        offset += count
        return result
    }

    private mutating func accept(_ sign: Unicode.Scalar) -> Bool {
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: sign) else { return false }
        offset += 1
        return true
    }

    private static func dayCount(_ month: Int, _ year: Int) -> Int {
        let isLeap = year % 4 == 0 && year % 100 != 0 || year % 400 == 0
        return month == 2 ? isLeap ? 29 : 28 : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// Days since 0000-03-01, from which leap days come at the end of a year.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let months = year * 12 + month - 3
        // Before March of year 0, a whole cycle of 400 years is added and taken away.
        let (shifted, cycle) = months < 0 ? (months + 4800, -146_097) : (months, 0)
        let (y, m) = (shifted / 12, shifted % 12)
        return y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1 + cycle
    }

    private static let referenceDay = days(2001, 1, 1)
}
