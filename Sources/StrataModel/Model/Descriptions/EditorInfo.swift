/// Entries that a model editor keeps in a model, by the editor's own names. A store does not use them.
///
/// A model read from an `.xcdatamodeld` keeps them, so that exporting it loses nothing of the file.
public struct EditorInfo: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// The entries by name.
    public var values: [String: String]

    /// Entries from a dictionary.
    public init(_ values: [String: String] = [:]) { self.values = values }

    /// Entries from a dictionary literal; the last of several with one name counts.
    public init(dictionaryLiteral elements: (String, String)...) {
        values = Dictionary(elements, uniquingKeysWith: { $1 })
    }

    /// Whether there are no entries.
    public var isEmpty: Bool { values.isEmpty }

    /// The entry with a name; nil if there is none.
    public subscript(name: String) -> String? {
        get { values[name] }
        set { values[name] = newValue }
    }
}

extension EditorInfo: Codable {
    /// Reads a dictionary.
    public init(from decoder: any Decoder) throws {
        values = try decoder.singleValueContainer().decode([String: String].self)
    }

    /// Writes a dictionary.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(values)
    }
}

// Empty editor info is not written, so records of models without it have the bytes that they had before it existed.

extension KeyedDecodingContainer {
    func decode(_ type: EditorInfo.Type, forKey key: Key) throws -> EditorInfo {
        try decodeIfPresent(EditorInfo.self, forKey: key) ?? EditorInfo()
    }
}

extension KeyedEncodingContainer {
    mutating func encode(_ info: EditorInfo, forKey key: Key) throws {
        if !info.isEmpty { try encodeIfPresent(Optional(info), forKey: key) }
    }
}
