/// Writes XML documents in Xcode's format: four spaces a level, empty elements as one tag, attributes in double quotes.
package enum XMLText {
    package static let declaration = #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#

    /// The element with its content, without a newline at the end.
    package static func of(_ element: XMLElement, level: Int = 0) -> String {
        var text = ""
        append(element, level, to: &text)
        return text
    }

    private static func append(_ element: XMLElement, _ level: Int, to text: inout String) {
        let indent = String(repeating: "    ", count: level)
        text += "\(indent)<\(element.name)"
        for attribute in element.attributes { text += " \(attribute.name)=\"\(escaped(attribute.value))\"" }
        if element.children.isEmpty {
            text += element.text.isEmpty ? "/>" : ">\(escaped(element.text))</\(element.name)>"
            return
        }
        text += ">\n"
        for child in element.children {
            append(child, level + 1, to: &text)
            text += "\n"
        }
        text += "\(indent)</\(element.name)>"
    }

    private static func escaped(_ value: String) -> String {
        var text = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "\t", "\n", "\r": text += "&#\(scalar.value);"
            // XML cannot express this character. Writers that must keep it use a note.
            case _ where !isAllowed(scalar): text += "\u{FFFD}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// The text as it is read after writing it: with U+FFFD for characters that XML cannot express.
    static func allowed(_ text: String) -> String {
        if text.unicodeScalars.allSatisfy(isAllowed) { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { isAllowed($0) ? $0 : "\u{FFFD}" }))
    }

    /// Whether XML can express the character, directly or as a reference.
    static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D, 0x20...0xFFFD, 0x1_0000...: true
        default: false
        }
    }
}
