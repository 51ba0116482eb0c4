/// What the editor that drew a model keeps with it: nothing a store has a use for, by the editor's own names.
///
/// A model that came from an `.xcdatamodeld` is exported with it again, so that nothing of the file is lost.
public struct EditorInfo: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    public var values: [String: String]

    public init(_ values: [String: String] = [:]) { self.values = values }

    public init(dictionaryLiteral elements: (String, String)...) {
        values = Dictionary(elements, uniquingKeysWith: { $1 })
    }

    public var isEmpty: Bool { values.isEmpty }

    public subscript(name: String) -> String? {
        get { values[name] }
        set { values[name] = newValue }
    }
}

extension EditorInfo: Codable {
    public init(from decoder: any Decoder) throws {
        values = try decoder.singleValueContainer().decode([String: String].self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(values)
    }
}

// Descriptions without it are written as before there was any: the bytes of records stay what they are.

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
