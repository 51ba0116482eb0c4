package import Foundation

/// The offsets of a time zone, kept with a view so that its keys do not depend on the system.
package struct ZoneRules: Sendable, Hashable, Codable {
    /// From when on each offset holds, in seconds since 2001-01-01 00:00 UTC, ascending. The first holds before too.
    package let starts: [Int64]
    /// Seconds from GMT.
    package let offsets: [Int64]

    /// Whole days since 2001-01-01 at which the search for changes begins and ends: 1900-01-01 and 2100-01-01.
    private static let (firstDay, lastDay): (Int64, Int64) = (-36_890, 36_159)
    /// A change that is taken back within this time is not seen.
    private static let daysPerStep = 4

    /// Whether the system knows a zone of this name.
    static func isKnown(_ name: String) -> Bool { TimeZone(identifier: name) != nil }

    /// Finds the offsets of a zone that the system knows; nil for an unknown zone.
    package init?(named name: String) {
        guard let zone = TimeZone(identifier: name) else { return nil }
        func offset(_ second: Int64) -> Int64 {
            Int64(zone.secondsFromGMT(for: Date(timeIntervalSinceReferenceDate: TimeInterval(second))))
        }
        var starts: [Int64] = []
        var offsets: [Int64] = []
        var previous = Self.firstDay * 86_400
        for day in stride(from: Self.firstDay, through: Self.lastDay, by: Self.daysPerStep) {
            let second = day * 86_400
            let found = offset(second)
            guard found != offsets.last else {
                previous = second
                continue
            }
            var (before, after) = (previous, second)
            while !offsets.isEmpty, before + 1 < after {
                let middle = before + (after - before) / 2
                if offset(middle) == found { after = middle } else { before = middle }
            }
            starts.append(offsets.isEmpty ? second : after)
            offsets.append(found)
            previous = second
        }
        self.starts = starts
        self.offsets = offsets
    }

    package init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        var (starts, offsets): ([Int64], [Int64]) = ([], [])
        while !container.isAtEnd {
            starts.append(try container.decode(Int64.self))
            offsets.append(try container.decode(Int64.self))
        }
        guard !offsets.isEmpty, zip(starts, starts.dropFirst()).allSatisfy(<) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "Not the rules of a time zone.")
        }
        (self.starts, self.offsets) = (starts, offsets)
    }

    /// Writes one list of starts and offsets in turn.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for (start, offset) in zip(starts, offsets) {
            try container.encode(start)
            try container.encode(offset)
        }
    }

    /// The offset at a moment.
    package func offset(at second: Int64) -> Int64 {
        var (low, high) = (0, starts.count)
        while low < high {
            let middle = (low + high) / 2
            if starts[middle] <= second { low = middle + 1 } else { high = middle }
        }
        return offsets[max(0, low - 1)]
    }
}

extension CalendarPart {
    /// The part of a moment in the Gregorian calendar, which is also used for the time before it was introduced.
    ///
    /// - Returns: nil for a moment that is no date.
    ///
    /// - Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
    package func value(of moment: TimeInterval, in zone: ZoneRules) -> Int64? {
        guard moment.isFinite, abs(moment) < 1e13 else { return nil }
        let utc = Int64(moment.rounded(.down))
        // Seconds since 0000-03-01, the beginning of a 400-year era.
        let second = utc + zone.offset(at: utc) + 730_791 * 86_400
        let (days, ofDay) = second.floorDivided(by: 86_400)
        if self == .hour { return ofDay / 3_600 }
        let (era, ofEra) = days.floorDivided(by: 146_097)
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let dayOfYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        switch self {
        case .year: return yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        case .month: return month
        default: return dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        }
    }
}

extension Int64 {
    /// The quotient rounded down, and the remainder.
    package func floorDivided(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
