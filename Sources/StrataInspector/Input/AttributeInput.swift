import Foundation
import StrataModel

/// Converts what people and files write into values of attributes.
struct AttributeInput {
    var dates = DateForm.usual
    /// Finds the object that a value of an object-id attribute names.
    var object: (String) throws -> ObjectID = { throw InputError("'\($0)' names no object.") }

    /// - Throws: `InputError`.
    func value(_ input: InputValue, for attribute: AttributeDescription) throws -> AttributeValue {
        if case .null = input { return .null }
        if attribute.type == .composite { return try composite(input, attribute) }
        if let value = try plainValue(input, of: attribute.type) { return value }
        throw attribute.type == .date
            ? InputError("\(Self.shown(input)) \(dates.refusal)") : Self.refusal(input, attribute.type)
    }

    /// The refusal of a value. For a number it names the bounds of the type.
    private static func refusal(_ input: InputValue, _ type: AttributeType) -> InputError {
        let isNumber = input.text.map(trimmed).flatMap(Double.init) != nil
        let bounds = isNumber ? type.bounds.map { "; it holds \($0)" } : nil
        return InputError("\(shown(input)) is not \(type.nameWithArticle)\(bounds ?? "").")
    }

    private static func shown(_ input: InputValue) -> String {
        guard let text = input.text else { return input.kindName }
        return "'\(text.prefix(60))\(text.count > 60 ? "…" : "")'"
    }

    /// The value of an attribute of the type; nil for one that does not suit it, and for a composite.
    func plainValue(_ input: InputValue, of type: AttributeType) throws -> AttributeValue? {
        if case .null = input { return .null }
        if type == .string {
            // A property list has text that XML cannot hold as data.
            // Foundation's reader would leave out a byte order mark.
            if case .data(let data) = input {
                return String(validating: data, as: UTF8.self).map(AttributeValue.string)
            }
            return input.text.map(AttributeValue.string)
        }
        let word = input.text.map(Self.trimmed)
        switch type {
        case .integer16, .integer32, .integer64: return Self.number(input, word)?.coerced(to: type)
        case .decimal: return word.flatMap { $0 == "NaN" ? .nan : Self.decimal($0) }.map(AttributeValue.decimal)
        case .double: return word.flatMap(Self.floatingPoint).map(AttributeValue.double)
        case .float: return word.flatMap(Self.floatingPoint).map(AttributeValue.float)
        case .boolean: return word.flatMap(Self.boolean).map(AttributeValue.boolean)
        case .date:
            if case .date(let date) = input { return .date(date) }
            return try word.flatMap(dates.date).map(AttributeValue.date)
        case .uuid: return word.flatMap { UUID(uuidString: $0) }.map(AttributeValue.uuid)
        case .uri: return word.flatMap { URL(string: $0) }.map(AttributeValue.url)
        case .binaryData, .transformable:
            if case .data(let data) = input { return .data(data) }
            guard case .text(let text) = input else { return nil }
            return Data(base64Encoded: text, options: .ignoreUnknownCharacters).map(AttributeValue.data)
        case .objectID: return try word.map { .objectID(try object($0)) }
        case .string, .composite, .undefined: return nil
        }
    }

    /// Trims only text that needs it, because Foundation copies the string in any case.
    private static func trimmed(_ text: String) -> String {
        guard let first = text.utf8.first, let last = text.utf8.last else { return text }
        let isPlain = (0x21...0x7E).contains(first) && (0x21...0x7E).contains(last)
        return isPlain ? text : text.trimmingCharacters(in: .whitespaces)
    }

    private static func number(_ input: InputValue, _ word: String?) -> AttributeValue? {
        if case .boolean(let value) = input { return .integer(value ? 1 : 0) }
        guard let word else { return nil }
        if let whole = Int64(word) { return .integer(whole) }
        return decimal(word).map(AttributeValue.decimal)
    }

    /// Rounds digits behind the point that do not fit a decimal. A whole part that does not fit is refused.
    private static func decimal(_ word: String) -> Decimal? {
        guard isNumber(word), var number = Decimal(string: word) else { return nil }
        let whole = word.prefix { $0 != "." }.drop { !$0.isNumber || $0 == "0" }
        guard whole.count > 38, !word.contains(where: { $0 == "e" || $0 == "E" }) else { return number }
        var rounded = Decimal()
        NSDecimalRound(&rounded, &number, 0, .down)
        return rounded.description.drop { $0 == "-" } == whole ? number : nil
    }

    /// nil for digits that are too large for the type, which would read as infinity.
    private static func floatingPoint<Value: BinaryFloatingPoint & LosslessStringConvertible>(
        _ word: String
    ) -> Value? {
        guard let value = Value(word) else { return nil }
        return value.isInfinite && word.contains(where: \.isNumber) ? nil : value
    }

    /// nil unless all of the text is a number: `Decimal` reads as far as it can, and of 0x10 only the zero.
    private static func isNumber(_ word: String) -> Bool {
        guard !word.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "x") }) else { return false }
        return Double(word).map(\.isFinite) ?? false
    }

    private static func boolean(_ word: String) -> Bool? {
        switch word.lowercased() {
        case "true", "yes", "y", "1", "on": true
        case "false", "no", "n", "0", "off": false
        default: nil
        }
    }

    private func composite(_ input: InputValue, _ attribute: AttributeDescription) throws -> AttributeValue {
        var input = input
        if case .text(let text) = input { input = try JSONReader.value(text) }
        guard case .object(let members) = input else {
            throw InputError("\(Self.shown(input)) is not a composite, which is written as a JSON object.")
        }
        var elements: [String: AttributeValue] = [:]
        for (name, member) in members {
            guard let element = attribute.elements.first(where: { $0.name == name }) else {
                let known = NameSuggestions(attribute.elements.map(\.name))
                throw InputError("\(attribute.name) has no element '\(name)'.\(known.hint(for: name))")
            }
            do {
                elements[name] = try value(member, for: element)
            } catch let error as InputError {
                throw InputError("\(name): \(error.message)")
            }
        }
        return .composite(elements)
    }
}

/// The forms of dates in a file.
enum DateForm: Sendable {
    /// ISO 8601, also with a space for the T and without a zone (UTC), or seconds since 1970.
    case usual
    /// Seconds since 1970.
    case unix
    /// Milliseconds since 1970.
    case unixMilliseconds
    /// Seconds since 2001-01-01, as Core Data stores them.
    case reference
    /// A pattern of letters such as `dd.MM.yyyy HH:mm` (Unicode technical standard 35), UTC.
    case pattern(String)

    /// `iso`, `unix`, `unix-ms`, `reference`, or a pattern.
    init(_ text: String) {
        switch text {
        case "iso": self = .usual
        case "unix": self = .unix
        case "unix-ms": self = .unixMilliseconds
        case "reference": self = .reference
        default: self = .pattern(text)
        }
    }

    /// The end of the sentence that refuses a text.
    var refusal: String {
        switch self {
        case .usual:
            "is not a date. One is written 1999-12-31 or 1999-12-31T20:30:00Z; for a file --dates names another form, such "
                + "as --dates 'MMM dd yyyy'."
        case .unix, .unixMilliseconds, .reference: "is not a number, as --dates says that dates are."
        case .pattern(let pattern): "is not a date of the form that --dates says, '\(pattern)'."
        }
    }

    /// - Throws: `InputError` for text that could mean two dates.
    func date(_ word: String) throws -> Date? {
        switch self {
        case .usual:
            if let date = Date(iso8601Text: word) { return date }
            if let day = Self.dayWithoutHyphens(word) {
                throw InputError(
                    "'\(word)' may be a day, which is written \(day), or seconds since 1970, written \(word).0; for a "
                        + "file --dates yyyyMMdd or --dates unix tells.")
            }
            return Self.number(word).map(Date.init(timeIntervalSince1970:))
        case .unix: return Self.number(word).map(Date.init(timeIntervalSince1970:))
        case .unixMilliseconds: return Self.number(word).map { Date(timeIntervalSince1970: $0 / 1000) }
        case .reference: return Self.number(word).map(Date.init(timeIntervalSinceReferenceDate:))
        case .pattern(let pattern): return Self.formatter(pattern).date(from: word)
        }
    }

    /// `2026-11-21` for `20261121`, ISO 8601's basic form of a day, which could also be a number; nil for other text.
    private static func dayWithoutHyphens(_ word: String) -> String? {
        guard word.utf8.count == 8, word.utf8.allSatisfy({ 48...57 ~= $0 }) else { return nil }
        let day = "\(word.prefix(4))-\(word.dropFirst(4).prefix(2))-\(word.suffix(2))"
        return Date(iso8601Text: day) != nil && word.first != "0" ? day : nil
    }

    private static func number(_ word: String) -> Double? { Double(word).flatMap { $0.isFinite ? $0 : nil } }

    /// One for each thread: making a formatter takes longer than formatting a thousand dates.
    private static func formatter(_ pattern: String) -> DateFormatter {
        let key = "strata.dates.\(pattern)"
        if let known = Thread.current.threadDictionary[key] as? DateFormatter { return known }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = pattern
        Thread.current.threadDictionary[key] = formatter
        return formatter
    }
}
