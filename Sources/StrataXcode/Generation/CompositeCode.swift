import StrataModel

/// The Swift struct of a composite, whose properties are its elements.
struct CompositeCode {
    private let name: String
    private let elements: [AttributeDescription]
    /// The properties by the names of elements that no property can have.
    private let renamed: [String: String]

    /// The type of the keys that Swift makes for a `Codable` struct.
    private static let keysType = "CodingKeys"
    /// The members of that type, which no key can be named like.
    private static let membersOfKeys: Set<String> = ["RawValue"]

    /// - Parameter name: the name of the composite.
    init(_ name: String, _ elements: [AttributeDescription]) {
        self.name = name
        self.elements = elements
        var taken = Set(elements.map(\.name))
        var renamed: [String: String] = [:]
        if taken.contains(Self.keysType) {
            for wanted in Self.membersOfKeys.intersection(taken).union([Self.keysType]).sorted() {
                let name = CodeNames.unique(wanted + "_", beside: taken)
                taken.insert(name)
                renamed[wanted] = name
            }
        }
        self.renamed = renamed
    }

    /// - Parameter type: the name of the struct, as source.
    func text(_ type: String, _ names: CodeNames, _ access: String) -> String {
        let owner = EntityDescription(name: name)
        var types = TypeTable()
        var lines = elements.map { element in
            let code = AttributeCode(element, of: owner, names, &types)
            let initial = code.initialValue.map { " = \($0)" } ?? ""
            return "    \(access)var \(property(element)): \(code.type)\(initial)"
        }
        if !renamed.isEmpty { lines += ["", keys(names)] }
        return """
            /// The composite `\(name)`.
            \(access)struct \(type): \(names.conformances("Codable", "Hashable", "Sendable")) {
            \(lines.joined(separator: "\n"))
            }
            """
    }

    private func property(_ element: AttributeDescription) -> String {
        CodeNames.escaped(renamed[element.name] ?? element.name)
    }

    /// The names of the elements in the store, where a property has another one.
    private func keys(_ names: CodeNames) -> String {
        let cases = elements.map { "        case \(property($0)) = \(CodeLiteral.string($0.name))" }
        return """
                private enum \(Self.keysType): \(names.conformances("String", "CodingKey")) {
            \(cases.joined(separator: "\n"))
                }
            """
    }
}
