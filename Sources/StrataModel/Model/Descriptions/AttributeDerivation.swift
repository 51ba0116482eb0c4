/// The source of a derived attribute: its `derivationExpression` in one of the supported forms.
package enum AttributeDerivation: Sendable, Hashable {
    /// The time of the last save that changed the object's own values.
    case now
    /// The value at the end of a path of to-ones, optionally through a text function.
    case value(path: String, FetchFunction?)
    /// The number of members of the to-many at the end of the path.
    case count(path: String)
    /// The sum of the values at the end of a path over one to-many.
    case sum(path: String)

    /// The supported forms in words, for error messages.
    package static let forms =
        "a key path of to-ones, alone or in canonical:, uppercase: or lowercase:, a to-many's @count, "
        + "a to-many's @sum over an attribute, or now()"

    /// nil if the expression has another form.
    package init?(_ expression: FetchExpression) {
        switch expression {
        case .function(.now, _): self = .now
        case .function(let function, let arguments) where [.canonical, .uppercase, .lowercase].contains(function):
            guard arguments.count == 1, case .keyPath(let path) = arguments[0], !path.contains("@") else { return nil }
            self = .value(path: path, function)
        case .keyPath(let path): self.init(path: path)
        default: return nil
        }
    }

    /// The operator is at the end of the path, or after the to-many as in key-value coding.
    private init?(path: String) {
        var steps = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let index = steps.firstIndex(where: { $0.hasPrefix("@") }) else {
            self = .value(path: path, nil)
            return
        }
        let step = steps.remove(at: index)
        guard !steps.contains(where: { $0.hasPrefix("@") || $0.isEmpty }) else { return nil }
        switch CollectionOperator(rawValue: step) {
        case .count where index == steps.count && index > 0: self = .count(path: steps.joined(separator: "."))
        case .sum where index > 0 && steps.count > 1: self = .sum(path: steps.joined(separator: "."))
        default: return nil
        }
    }

    /// The key path that the value depends on, without operators; nil if there is none.
    package var path: String? {
        switch self {
        case .now: nil
        case .value(let path, _), .count(let path), .sum(let path): path
        }
    }
}
