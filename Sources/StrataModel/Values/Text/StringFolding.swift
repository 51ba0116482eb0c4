/// The differences that a comparison of strings ignores, in an index key or an operator.
public struct StringFolding: OptionSet, Sendable, Hashable, Codable {
    /// One bit for each option.
    public let rawValue: UInt8

    /// The options with these bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Ignores case: `[c]` in a format string.
    public static let caseInsensitive = StringFolding(rawValue: 1)
    /// Ignores diacritical marks: `[d]` in a format string.
    public static let diacriticInsensitive = StringFolding(rawValue: 2)
}
