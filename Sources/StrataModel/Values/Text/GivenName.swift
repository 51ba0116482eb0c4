/// Names that people give to things in a store, such as tags and subscriptions.
package enum GivenName {
    /// The reason why a text is no such name; nil if it is one.
    ///
    /// A listing must show a name as it is, and two names as different ones. So a name has a visible character, no blanks at
    /// its ends, and nothing that drives a terminal.
    package static func complaint(about name: String) -> String? {
        let scalars = name.unicodeScalars
        if scalars.isEmpty { return "it is empty" }
        if let scalar = scalars.first(where: \.drivesTerminal) {
            return "it has the control character U+\(hexadecimal(scalar.value))"
        }
        if !scalars.contains(where: isVisible) { return "it has no visible character" }
        if scalars.first?.properties.isWhitespace ?? false { return "it begins with a blank" }
        if scalars.last?.properties.isWhitespace ?? false { return "it ends with a blank" }
        return nil
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        guard !scalar.properties.isWhitespace, !scalar.properties.isDefaultIgnorableCodePoint else { return false }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .unassigned: return false
        default: return true
        }
    }

    private static func hexadecimal(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
