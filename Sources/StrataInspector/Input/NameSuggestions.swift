import StrataModel

/// Suggests known names for an unknown one.
struct NameSuggestions {
    private let names: [String]
    private static let most = 20

    init(_ names: [String]) { self.names = names.map(ValueText.harmless) }

    /// ` Did you mean 'Film'? It has Film, Genre, Studio.`, for the end of a sentence.
    func hint(for name: String) -> String {
        guard !names.isEmpty else { return " It has none." }
        let question = NearestName.of(name, among: names).map { " Did you mean '\($0)'?" } ?? ""
        let shown = names.prefix(Self.most).joined(separator: ", ")
        let rest = names.count > Self.most ? " and \(names.count - Self.most) more" : ""
        return "\(question) It has \(shown)\(rest)."
    }
}
