import Foundation
import StrataModel

/// Reads the parts of a view as its description writes them: `country = studio.country.name`,
/// `year = year(shown, Europe/Berlin)`, `prices = bucket(gross, 100)`, `gross = sum(gross)`,
/// `latest = last(title by shown, 3)`.
enum ViewText {
    static func key(_ text: String) throws -> ViewKey {
        let (name, rest) = try named(text)
        guard let (function, arguments) = call(rest) else { return ViewKey(name ?? rest, keyPath: rest) }
        guard let path = arguments.first, !path.isEmpty, arguments.count <= 2 else { throw wrong(text, "a key") }
        let second = arguments.count > 1 ? arguments[1] : nil
        if let part = CalendarPart(rawValue: function) {
            return ViewKey(
                name ?? function, keyPath: path, function: .calendar(part, timeZone: second ?? "UTC"))
        }
        guard function == "bucket", let width = second.flatMap(Double.init) else { throw wrong(text, "a key") }
        return ViewKey(name ?? path, keyPath: path, function: .bucket(width: width))
    }

    static func aggregate(_ text: String) throws -> ViewAggregate {
        let (name, rest) = try named(text)
        guard let name else { throw wrong(text, "a column") }
        guard let (word, arguments) = call(rest) else {
            guard rest == ViewFunction.count.rawValue else { throw wrong(text, "a column") }
            return ViewAggregate(name, .count)
        }
        guard let function = ViewFunction(rawValue: word), let first = arguments.first, arguments.count <= 2 else {
            throw wrong(text, "a column")
        }
        var limit: Int?
        if arguments.count > 1 {
            guard let number = Int(arguments[1]) else { throw wrong(text, "a column") }
            limit = number
        }
        let parts = first.split(separator: " by ", maxSplits: 1).map { trimmed($0) }
        guard let shown = parts.first else { throw wrong(text, "a column") }
        return ViewAggregate(
            name, function, shown == "SELF" ? nil : shown, by: parts.count > 1 ? parts[1] : nil, limit: limit)
    }

    /// - Returns: the name before an equals sign, and what follows.
    private static func named(_ text: String) throws -> (name: String?, rest: String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { trimmed($0) }
        guard let last = parts.last, !last.isEmpty, parts.count < 2 || !parts[0].isEmpty else {
            throw wrong(text, "a column")
        }
        return (parts.count > 1 ? parts[0] : nil, last)
    }

    private static func call(_ text: String) -> (function: String, arguments: [String])? {
        guard text.hasSuffix(")"), let open = text.firstIndex(of: "(") else { return nil }
        let inner = text[text.index(after: open)...].dropLast()
        return (
            trimmed(text[..<open]), inner.split(separator: ",", omittingEmptySubsequences: false).map { trimmed($0) }
        )
    }

    private static func trimmed(_ text: Substring) -> String { text.trimmingCharacters(in: .whitespaces) }

    private static func wrong(_ text: String, _ what: String) -> UsageError {
        UsageError("'\(text)' is not \(what) of a view; see 'strata help views create'.")
    }
}
