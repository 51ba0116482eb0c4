import StrataModel

/// Writes JSON of values directly into text: listings of a million rows would spend most of their time in an encoder.
enum JSONLine {
    static func append(_ value: JSONText.Value, to line: inout String) {
        switch value {
        case .null: line += "null"
        case .boolean(let value): line += value ? "true" : "false"
        case .integer(let value): line += String(value)
        case .number(let value): line += number(value)
        case .text(let text): append(quoting: text, to: &line)
        case .object(let members):
            line += "{"
            var isFirst = true
            for (key, member) in members.sorted(by: { $0.key < $1.key }) {
                if !isFirst { line += "," }
                isFirst = false
                append(quoting: key, to: &line)
                line += ":"
                append(member, to: &line)
            }
            line += "}"
        }
    }

    /// Appends a value, or an array of a list.
    static func append(
        _ cell: PredicateOperand, to line: inout String, _ json: (AttributeValue) throws -> JSONText.Value
    ) rethrows {
        guard case .many(let values) = cell else {
            for value in cell.members { append(try json(value), to: &line) }
            return
        }
        line += "["
        for (index, value) in values.enumerated() {
            if index > 0 { line += "," }
            append(try json(value), to: &line)
        }
        line += "]"
    }

    static func quoted(_ text: String) -> String {
        var line = ""
        append(quoting: text, to: &line)
        return line
    }

    /// Writes numbers that JSON does not have (infinity, NaN) as text.
    private static func number(_ value: Double) -> String {
        guard value.isFinite else { return value.isNaN ? "\"NaN\"" : value < 0 ? "\"-Infinity\"" : "\"Infinity\"" }
        let text = "\(value)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    private static func append(quoting text: String, to line: inout String) {
        line += "\""
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C && $0 != 0x7F }) {
            line += text
        } else {
            for scalar in text.unicodeScalars { append(scalar, to: &line) }
        }
        line += "\""
    }

    private static func append(_ scalar: Unicode.Scalar, to line: inout String) {
        switch scalar {
        case "\"": line += "\\\""
        case "\\": line += "\\\\"
        case "\n": line += "\\n"
        case "\r": line += "\\r"
        case "\t": line += "\\t"
        case _ where scalar.value < 0x20 || scalar.value == 0x7F:
            let digits = String(scalar.value, radix: 16)
            line += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: line.unicodeScalars.append(scalar)
        }
    }
}
