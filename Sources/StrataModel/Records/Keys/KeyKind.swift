/// How the values of an index element are ordered: wider than their type, so that widening a number keeps its keys.
package enum KeyKind: UInt8, Sendable, Hashable {
    /// Bool and integers of every width.
    case integer
    /// Float and Double.
    case double
    case date
    case decimal
    /// String and URL.
    case text
    case uuid
    /// Data kept in the row, and what transformers make.
    case data
    /// To-one relationships and attributes that hold an id.
    case objectID

    /// nil for what has no key: data that may be kept beside the store, a composite as a whole, any value.
    package init?(_ kind: SlotKind) {
        switch kind {
        case .boolean, .integer16, .integer32, .integer64, .position: self = .integer
        case .float, .double: self = .double
        case .date: self = .date
        case .decimal: self = .decimal
        case .string, .url: self = .text
        case .uuid: self = .uuid
        case .data: self = .data
        case .objectID, .reference: self = .objectID
        case .absent, .externalData, .composite, .undefined: return nil
        }
    }
}

/// A constant that cannot be compared with an index element: text with a number, say.
package struct UncomparableKey: Error, Sendable, Hashable {
    /// Of the index's elements.
    package let element: Int

    package init(element: Int) { self.element = element }
}

/// Whether a key holds all of its values.
package enum KeyFit: Sendable, Hashable {
    case whole
    /// Longer than `IndexKeyCodec.maximumLength` and cut there: rows with the same key may differ, so look at them.
    case cut
}
