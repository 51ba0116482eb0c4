/// Names, labels and numbers as Prometheus reads them.
enum PrometheusText {
    static func name(_ label: String, _ suffix: String? = nil) -> String {
        let isDigitFirst = label.first?.isNumber ?? true
        let name = (isDigitFirst ? "_" : "") + label.map { isPermitted($0) ? String($0) : "_" }.joined()
        guard let suffix, !name.hasSuffix("_\(suffix)") else { return name }
        return "\(name)_\(suffix)"
    }

    private static func isPermitted(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || character == "_")
    }

    static func labels(_ dimensions: [(String, String)]) -> String {
        dimensions.map { "\(name($0.0))=\"\(escaped($0.1))\"" }.joined(separator: ",")
    }

    private static func escaped(_ text: String) -> String {
        guard text.contains(where: { $0 == "\\" || $0 == "\"" || $0.isNewline }) else { return text }
        return text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline
        ).joined(separator: "\\n")
    }

    static func number(_ value: Double) -> String {
        value == value.rounded() && value.magnitude < 1e15 ? String(Int64(value)) : String(value)
    }
}
