/// One key of an order.
///
/// ```swift
/// request.sortDescriptors = [SortDescription("owner.name"), SortDescription("title", isNatural: true)]
/// ```
public struct SortDescription: Sendable, Hashable, Codable {
    /// Where objects without a value stand.
    public enum NullPlacement: String, Sendable, Hashable, Codable {
        /// Before every value, so first when ascending and last when descending.
        case smallest
        case first
        case last
    }

    /// Property names joined by dots; every step but the last is a to-one relationship or a composite.
    public var keyPath: String
    public var isAscending: Bool
    /// Letters that text is compared without telling apart.
    public var folding: StringFolding
    /// Whether numbers in text are compared by their worth: "10" after "9".
    public var isNatural: Bool
    public var nullPlacement: NullPlacement

    public init(
        _ keyPath: String, isAscending: Bool = true, folding: StringFolding = [], isNatural: Bool = false,
        nullPlacement: NullPlacement = .smallest
    ) {
        self.keyPath = keyPath
        self.isAscending = isAscending
        self.folding = folding
        self.isNatural = isNatural
        self.nullPlacement = nullPlacement
    }
}
