import StrataModel

/// A Swift enum for the values of an attribute, if its user info lists them.
///
/// `enumCases` lists them, `sad, happy = 5`; `enumName` (or the attribute's class name, or mogenerator's
/// `attributeValueScalarType`) names the type.
struct EnumerationCode {
    /// Identifies the attribute of an enum.
    struct AttributeKey: Hashable {
        let entityName: String
        let attributeName: String
    }

    private struct Case: Equatable {
        let name: String
        let value: AttributeValue
    }

    /// The name, unique among all generated types.
    var name: String
    /// Whether the enum is declared for this attribute; false if another attribute with the same enum declares it.
    var isDeclared = true
    let rawType: String
    private let cases: [Case]

    /// The members of every such enum, which no case can be named like.
    private static let members: Set<String> = ["RawValue", "allCases", "AllCases"]

    /// The enum of an attribute; nil if its user info lists no cases, or cases that a Swift enum cannot have.
    ///
    /// - Parameter className: the class name of the entity.
    init?(_ attribute: AttributeDescription, ofClass className: String) {
        guard let list = attribute.userInfo["enumCases"], attribute.type.isInteger || attribute.type == .string else {
            return nil
        }
        let wanted =
            attribute.userInfo["enumName"] ?? attribute.attributeValueClassName
            ?? attribute.userInfo["attributeValueScalarType"]
            ?? className + attribute.name.prefix(1).uppercased() + attribute.name.dropFirst()
        name = CodeNames.identifier(of: wanted)
        rawType = attribute.type == .string ? "String" : attribute.type.swiftInteger
        var next: Int64 = 0
        var cases: [Case] = []
        for part in list.split(separator: ",") {
            let sides = part.split(separator: "=", maxSplits: 1).map { $0.filter { !$0.isWhitespace } }
            guard let first = sides.first, CodeNames.isName(first), !Self.members.contains(first) else { return nil }
            if attribute.type == .string {
                cases.append(Case(name: first, value: .string(sides.count > 1 ? sides[1] : first)))
            } else {
                if sides.count > 1 {
                    guard let number = Int64(sides[1]) else { return nil }
                    next = number
                }
                guard attribute.type.wholeNumbers.contains(next) else { return nil }
                cases.append(Case(name: first, value: .integer(next)))
                next &+= 1
            }
        }
        let isSound = Set(cases.map(\.name)).count == cases.count && Set(cases.map(\.value)).count == cases.count
        guard !cases.isEmpty, isSound else { return nil }
        self.cases = cases
    }

    /// Whether one declaration is enough for both.
    func isSame(as other: EnumerationCode) -> Bool { rawType == other.rawType && cases == other.cases }

    func literal(_ value: AttributeValue) -> String? {
        // `.none` would be that of an optional.
        cases.first { $0.value == value }.map { item in
            (item.name == "none" ? CodeNames.escaped(name) : "") + ".\(CodeNames.escaped(item.name))"
        }
    }

    func text(_ access: String, _ names: CodeNames) -> String {
        let lines = cases.map { item in
            "    case \(CodeNames.escaped(item.name)) = \(CodeLiteral.of(item.value, names) ?? "0")"
        }
        return """
            \(access)enum \(CodeNames.escaped(name)): \(names.conformances(rawType, "Sendable", "Codable", "CaseIterable")) {
            \(lines.joined(separator: "\n"))
            }
            """
    }
}

extension AttributeType {
    fileprivate var wholeNumbers: ClosedRange<Int64> {
        switch self {
        case .integer16: Int64(Int16.min)...Int64(Int16.max)
        case .integer32: Int64(Int32.min)...Int64(Int32.max)
        default: .min ... .max
        }
    }

    fileprivate var swiftInteger: String {
        switch self {
        case .integer16: "Int16"
        case .integer32: "Int32"
        default: "Int64"
        }
    }
}
