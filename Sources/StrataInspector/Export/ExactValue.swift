import Foundation
import StrataModel
import StrataStore

/// Values without loss, for export: data whole, dates to the last digit.
struct ExactValue {
    let store: Store
    let names: RecordedNames

    /// - Throws: `missingBlob`.
    func json(_ value: AttributeValue) throws -> JSONText.Value {
        switch value {
        case .date(let date): .text(DateText.exact(date))
        case .data(let data): .text(data.base64EncodedString())
        case .blob(let reference): .text(try store.blob(reference).base64EncodedString())
        case .composite(let elements): .object(try elements.mapValues { try json($0) })
        default: JSONText.Value(value) { names.name(of: $0) }
        }
    }

    /// Nil is nil; a composite is JSON.
    func text(_ value: AttributeValue) throws -> String? {
        switch try json(value) {
        case .null: return nil
        case .text(let text): return text
        // JSON has to quote what a number of it cannot be; here nothing else could be meant.
        case .number(let value) where !value.isFinite:
            return value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity"
        case let other:
            var line = ""
            JSONLine.append(other, to: &line)
            return line
        }
    }

    /// As property lists have it; nil is left out by whoever calls.
    func property(_ value: AttributeValue) throws -> Any? {
        switch value {
        case .null: nil
        case .boolean(let value): value
        case .integer(let value): value
        case .float(let value): Double("\(value)") ?? Double(value)
        case .double(let value): value
        // Property lists keep whole seconds only.
        case .date(let date):
            DateText.isInCalendar(date) && date.timeIntervalSince1970.rounded() == date.timeIntervalSince1970
                ? date : DateText.exact(date)
        case .data(let data): data
        case .blob(let reference): try store.blob(reference)
        case .composite(let elements): try elements.compactMapValues { try property($0) }
        default: try text(value)
        }
    }
}

extension DateText {
    /// ISO 8601, UTC, with as many digits as bring the same date back; what the calendar cannot write are seconds since
    /// 1970.
    static func exact(_ date: Date) -> String {
        guard isInCalendar(date) else { return "\(date.timeIntervalSince1970)" }
        let text = ValueText.moment(date)
        if Self.date(text) == date { return text }
        // The log's times are whole microseconds. A date is a Double since 2001, which near today has eight digits behind
        // the point, and since 1970 one bit fewer.
        let seconds = date.timeIntervalSinceReferenceDate
        let whole = seconds.rounded(.down)
        let start = Self.text(Date(timeIntervalSinceReferenceDate: whole), .iso8601)
        for width in 6...17 {
            let digits = "\(UInt64(((seconds - whole) * pow(10, Double(width))).rounded()))"
            guard digits.count <= width else { continue }
            let fraction = String(repeating: "0", count: width - digits.count) + digits
            let precise = start.dropLast() + ".\(fraction)Z"
            if Self.date(String(precise)) == date { return String(precise) }
        }
        return "\(date.timeIntervalSince1970)"
    }

    /// Whether the calendar can write it, in a year of four digits.
    static func isInCalendar(_ date: Date) -> Bool {
        let seconds = date.timeIntervalSince1970
        return seconds >= -62_135_596_800 && seconds < 253_402_300_800
    }
}
