/// The encoding and order of an index element's values. Types with the same kind have the same keys, so widening a
/// number does not change its keys.
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
    /// Data in the row, and the bytes of transformables.
    case data
    /// To-one relationships, and attributes with an object id.
    case objectID
    /// Encrypted values, by their blinds: equal values have equal keys, and the order means nothing.
    case encrypted

    /// nil for slots that cannot have keys: data that may be stored outside the row, composites, and values of any
    /// type.
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
        case .encrypted: self = .encrypted
        case .absent, .externalData, .composite, .undefined, .externalEncrypted: return nil
        }
    }
}

/// The error for a constant that cannot be compared with an index element, such as text with a number.
package struct UncomparableKey: Error, Sendable, Hashable {
    /// The number of the element in the index.
    package let element: Int

    package init(element: Int) { self.element = element }
}

/// Whether a key holds its values completely.
package enum KeyFit: Sendable, Hashable {
    case whole
    /// The key was cut at `IndexKeyCodec.maximumLength`. Rows with the same key may have different values.
    case cut
}
