/// A function that makes a key of a value: a part of a date, or a bucket of a number.
public enum ViewKeyFunction: Sendable, Hashable, Codable {
    /// A part of a date in the Gregorian calendar, as an integer.
    ///
    /// The store keeps the rules of the time zone that were known when the view was declared, from 1900 to 2100, so a
    /// view says the same after an update of the system. Another version of the view takes the rules again.
    case calendar(CalendarPart, timeZone: String)
    /// The largest multiple of the width that is not above the number.
    case bucket(width: Double)
}

/// A part of a date.
public enum CalendarPart: String, Sendable, Hashable, Codable, CaseIterable {
    /// The year, such as 1979.
    case year
    /// The month, from 1 to 12.
    case month
    /// The day of the month, from 1 to 31.
    case day
    /// The hour, from 0 to 23.
    case hour
}

extension ViewKeyFunction {
    /// The function of a key path: `year(shown, Europe/Berlin)` or `bucket(gross, 100)`.
    func description(of keyPath: String) -> String {
        switch self {
        case .calendar(let part, let timeZone): "\(part.rawValue)(\(keyPath), \(timeZone))"
        case .bucket(let width): "bucket(\(keyPath), \(Self.text(width)))"
        }
    }

    private static func text(_ width: Double) -> String {
        Int64(exactly: width).map { "\($0)" } ?? "\(width)"
    }
}
