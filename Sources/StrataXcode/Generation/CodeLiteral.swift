import Foundation
import StrataModel

/// Writes values as Swift literals.
enum CodeLiteral {
    static func string(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// A text inside the line of a comment.
    static func comment(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }))
    }

    static func strings(_ texts: [String]) -> String { "[\(texts.map(string).joined(separator: ", "))]" }

    static func dictionary(_ values: [String: String]) -> String {
        let entries = values.sorted { $0.key < $1.key }.map { "\(string($0.key)): \(string($0.value))" }
        return entries.isEmpty ? "[:]" : "[\(entries.joined(separator: ", "))]"
    }

    private static func notFinite(_ value: some FloatingPoint) -> String {
        value.isNaN ? ".nan" : value < 0 ? "-.infinity" : ".infinity"
    }

    /// The literal of a value; nil if it has none.
    static func of(_ value: AttributeValue, _ names: CodeNames) -> String? {
        func made(_ name: String, canFail: Bool = false, _ arguments: String) -> String {
            names.made(name, of: "Foundation", canFail: canFail, arguments)
        }
        switch value {
        case .boolean(let value): return value ? "true" : "false"
        case .integer(let value): return String(value)
        case .float(let value): return value.isFinite ? "\(value)" : notFinite(value)
        case .double(let value): return value.isFinite ? "\(value)" : notFinite(value)
        case .decimal(let value): return "(\(made("Decimal", canFail: true, "string: \(string("\(value)"))")) ?? 0)"
        case .string(let text): return string(text)
        case .date(let date):
            let seconds = date.timeIntervalSinceReferenceDate
            return seconds.isFinite ? made("Date", "timeIntervalSinceReferenceDate: \(seconds)") : nil
        case .uuid(let uuid):
            let bytes = withUnsafeBytes(of: uuid.uuid) { $0.map { "0x" + String($0, radix: 16) } }
            return made("UUID", "uuid: (\(bytes.joined(separator: ", ")))")
        case .url(let url):
            let text = made("URL", canFail: true, "string: \(string(url.absoluteString))")
            return "(\(text) ?? \(made("URL", "filePath: \"/\"")))"
        case .data(let data): return made("Data", "[\(data.map { String($0) }.joined(separator: ", "))]")
        case .null, .blob, .objectID, .composite, .encrypted: return nil
        }
    }
}
