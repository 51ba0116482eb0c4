import StrataModel

/// A value inside a composite, and its column. Composites in composites are looked through: only what is in the innermost
/// has columns.
struct CompositeElement {
    /// The names that lead to it from the attribute.
    let path: [String]
    let column: Int
    let attribute: ColumnAttribute

    /// The name in messages: `position.latitude`.
    var name: String { path.joined(separator: ".") }

    /// The values inside a composite that have columns.
    static func list(_ elements: [FilePlan.Property], under path: [String] = []) -> [CompositeElement] {
        elements.flatMap { element -> [CompositeElement] in
            let path = path + [element.name]
            return switch element.kind {
            case .attribute(let attribute, let column):
                [CompositeElement(path: path, column: column, attribute: ColumnAttribute(attribute))]
            case .composite(_, let elements): list(elements, under: path)
            case .toOne: []
            }
        }
    }

    /// Its value in that of the attribute.
    func value(in composite: AttributeValue) -> AttributeValue {
        path.reduce(composite) { value, name in
            guard case .composite(let entries) = value else { return .null }
            return entries[name] ?? .null
        }
    }

    /// Puts a value there; a null leaves the composite as it is.
    func set(_ value: AttributeValue, in composite: inout AttributeValue) {
        if case .null = value { return }
        Self.set(value, at: path[...], in: &composite)
    }

    private static func set(_ value: AttributeValue, at path: ArraySlice<String>, in composite: inout AttributeValue) {
        guard let name = path.first else {
            composite = value
            return
        }
        var entries: [String: AttributeValue] = [:]
        if case .composite(let known) = composite { entries = known }
        var entry = entries[name] ?? .null
        set(value, at: path.dropFirst(), in: &entry)
        entries[name] = entry
        composite = .composite(entries)
    }
}
