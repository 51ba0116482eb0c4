/// How strings are compared in a key or by an operator.
public struct StringFolding: OptionSet, Sendable, Hashable, Codable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// `[c]`
    public static let caseInsensitive = StringFolding(rawValue: 1)
    /// `[d]`
    public static let diacriticInsensitive = StringFolding(rawValue: 2)
}
