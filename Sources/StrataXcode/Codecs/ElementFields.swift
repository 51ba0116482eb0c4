// Reads the attributes of XML elements, and reports invalid values.

import StrataModel

/// An attribute of an XML element.
typealias Attribute = XMLElement.Attribute

/// The attributes of an element by name, with a report of invalid values.
struct ElementFields {
    let values: [String: String]
    /// Called for invalid values, with the attribute's name and a sentence.
    let report: (String, String) -> Void

    init(_ attributes: [Attribute], report: @escaping (String, String) -> Void = { _, _ in }) {
        values = Dictionary(attributes.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        self.report = report
    }

    subscript(name: String) -> String? { values[name] }

    /// Whether the attribute is YES; false if it is missing.
    func flag(_ name: String) -> Bool {
        switch values[name] {
        case "YES": return true
        case "NO", nil: return false
        case let other?:
            report(name, "'\(other)' is neither YES nor NO")
            return false
        }
    }

    /// The attribute as a number that is not negative; 0 if it is missing.
    func count(_ name: String) -> Int {
        guard let text = values[name] else { return 0 }
        if let count = Int(text), count >= 0 { return count }
        report(name, "'\(text)' is not a count")
        return 0
    }
}
