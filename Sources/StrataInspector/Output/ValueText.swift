import Foundation
import StrataModel

/// Formats values, moments and sizes for people.
enum ValueText {
    /// The value on one line. Data shows its size; text longer than `limit` is cut.
    static func of(
        _ value: AttributeValue, limit: Int = 60, date: (Date) -> String = moment, name: (ObjectID) -> String
    ) -> String {
        switch value {
        case .null: "nil"
        case .boolean(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        case .float(let value): number("\(value)")
        case .double(let value): number("\(value)")
        case .decimal(let value): "\(value)"
        case .string(let text): quoted(text, limit)
        case .date(let moment): date(moment)
        case .uuid(let uuid): uuid.uuidString
        case .url(let url): url.absoluteString
        case .data(let data): "<\(size(UInt64(data.count)))>"
        case .blob(let reference): "<\(size(reference.sizeInBytes)) in blobs/>"
        case .objectID(let id): name(id)
        case .composite(let elements): composite(elements, limit, date, name)
        case .encrypted: "(encrypted)"
        }
    }

    /// The value for a cell of a table: text without quotes, with only control characters escaped.
    static func plain(
        _ value: AttributeValue, limit: Int = 200, date: (Date) -> String = moment, name: (ObjectID) -> String
    ) -> String {
        guard case .string(let text) = value else { return of(value, limit: limit, date: date, name: name) }
        return shown(text, limit, escapes: [])
    }

    /// The whole value for programs, without escapes.
    static func exact(
        _ value: AttributeValue, date: (Date) -> String = moment, name: (ObjectID) -> String
    ) -> String {
        if case .string(let text) = value { return text }
        return of(value, limit: .max, date: date, name: name)
    }

    /// Formats a number; whole numbers have no fraction, which Swift would print.
    private static func number(_ text: String) -> String {
        text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    private static func composite(
        _ elements: [String: AttributeValue], _ limit: Int, _ date: (Date) -> String, _ name: (ObjectID) -> String
    ) -> String {
        let parts = elements.sorted { $0.key < $1.key }.map {
            "\($0.key): \(of($0.value, limit: limit, date: date, name: name))"
        }
        return "(" + parts.joined(separator: ", ") + ")"
    }

    /// Text from a store for one line on a terminal: escapes control characters and line ends.
    static func harmless(_ text: String) -> String {
        // Control characters beyond ASCII begin with C2, those of direction with E2; other characters do too.
        let isHarmless = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != 0xC2 && $0 != 0xE2 }
        return isHarmless ? text : shown(text, .max, escapes: [])
    }

    /// The beginning of a text that has another place where all of it is shown.
    static func beginning(_ text: String, limit: Int = 300) -> String {
        let kept = cut(text, limit)
        return kept.endIndex < text.endIndex ? kept + "…" : text
    }

    private static func quoted(_ text: String, _ limit: Int) -> String {
        "\"\(shown(text, limit, escapes: ["\"", "\\"]))\""
    }

    private static func shown(_ text: String, _ limit: Int, escapes: Set<Unicode.Scalar>) -> String {
        var shown = ""
        let kept = cut(text, limit)
        for character in kept.unicodeScalars {
            switch character {
            case "\n": shown += "\\n"
            case "\t": shown += "\\t"
            case "\r": shown += "\\r"
            case _ where escapes.contains(character): shown += "\\\(character)"
            case _ where character.drivesTerminal:
                shown += "\\u{\(String(character.value, radix: 16))}"
            default: shown.unicodeScalars.append(character)
            }
        }
        return shown + (kept.endIndex < text.endIndex ? "…" : "")
    }

    /// The beginning of the text with at most this number of scalars, without a part of a character unless that alone
    /// has more of them.
    private static func cut(_ text: String, _ limit: Int) -> Substring {
        guard let limited = text.unicodeScalars.index(text.startIndex, offsetBy: limit, limitedBy: text.endIndex),
            limited < text.endIndex
        else { return text[...] }
        var end = text.startIndex
        while true {
            let next = text.index(after: end)
            guard next <= limited else { return end > text.startIndex ? text[..<end] : text[..<limited] }
            end = next
        }
    }

    /// ISO 8601, UTC, to the nearest millisecond.
    static func moment(_ date: Date) -> String { DateText.milliseconds(date) }

    /// `12,345`.
    static func count(_ value: Int) -> String {
        var digits = String(value.magnitude)
        var groups: [Substring] = []
        while digits.count > 3 {
            groups.append(Substring(digits.suffix(3)))
            digits = String(digits.dropLast(3))
        }
        return (value < 0 ? "-" : "") + ([Substring(digits)] + groups.reversed()).joined(separator: ",")
    }

    /// `1 event`, `2 events`.
    static func count(_ value: Int, _ noun: String, _ plural: String? = nil) -> String {
        "\(count(value)) \(value == 1 ? noun : plural ?? noun + "s")"
    }

    /// `512 bytes`, `4.0 KiB`.
    static func size(_ bytes: UInt64) -> String {
        guard bytes >= 1024 else { return bytes == 1 ? "1 byte" : "\(bytes) bytes" }
        var value = Double(bytes) / 1024
        for unit in ["KiB", "MiB", "GiB"] {
            if value < 1023.95 { return "\(tenths(value)) \(unit)" }
            value /= 1024
        }
        return "\(tenths(value)) TiB"
    }

    /// `0.012 s`.
    static func duration(_ duration: Duration) -> String {
        let milliseconds = Int((duration / .milliseconds(1)).rounded())
        let rest = String(milliseconds % 1000)
        return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest) s"
    }

    private static func tenths(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
