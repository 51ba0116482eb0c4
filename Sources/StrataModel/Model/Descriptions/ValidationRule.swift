/// A rule that a value of one attribute must keep.
public enum ValidationRule: Sendable, Hashable, Codable {
    /// Bounds for numbers and dates, both inclusive; nil is open.
    case range(minimum: AttributeValue?, maximum: AttributeValue?)
    /// Bounds for the number of characters of a string (or bytes of data).
    case length(minimum: Int?, maximum: Int?)
    /// A regular expression that the whole string must match.
    case pattern(String)
    /// A predicate over the value as `SELF`, with the message shown when it fails.
    case predicate(ValidationPredicate)
}

/// A predicate that must hold, and what is said when it does not.
public struct ValidationPredicate: Sendable, Hashable, Codable {
    public var predicate: FetchPredicate
    public var message: String

    public init(_ predicate: FetchPredicate, message: String) {
        self.predicate = predicate
        self.message = message
    }
}
