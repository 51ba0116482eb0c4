/// One key of a sort order: a property, a direction, and how text and nil are ordered.
///
/// ```swift
/// request.sortDescriptors = [SortDescription("owner.name"), SortDescription("title", isNatural: true)]
/// ```
public struct SortDescription: Sendable, Hashable, Codable {
    /// The place of objects without a value in an order.
    public enum NullPlacement: String, Sendable, Hashable, Codable {
        /// As if nil were less than every value: first when ascending, last when descending.
        case smallest
        /// Before all others.
        case first
        /// After all others.
        case last
    }

    /// Property names joined by dots; every step but the last is a to-one relationship or a composite.
    public var keyPath: String
    /// Whether smaller values come first.
    public var isAscending: Bool
    /// The differences of text that the order ignores.
    public var folding: StringFolding
    /// Whether numbers in text are compared by value, so that "10" comes after "9".
    public var isNatural: Bool
    /// The place of objects without a value.
    public var nullPlacement: NullPlacement

    /// A key of a sort order.
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

extension SortDescription {
    /// The order by how well a text meets the conditions on text: the best first, by BM25. It is the only key of an order.
    public static let relevance = SortDescription("@relevance", isAscending: false)

    /// Whether the order is by relevance.
    package var isRelevance: Bool { keyPath == Self.relevance.keyPath }
}

extension SortDescription: CustomStringConvertible {
    /// The key path with the settings that are not the defaults: `title[cd] descending with nil last`.
    public var description: String {
        var text = "\(keyPath)\(folding)"
        if isNatural { text += " natural" }
        if !isAscending { text += " descending" }
        return nullPlacement == .smallest ? text : "\(text) with nil \(nullPlacement)"
    }
}
