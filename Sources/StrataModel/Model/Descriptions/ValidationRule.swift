/// A rule that the values of an attribute must meet.
public enum ValidationRule: Sendable, Hashable, Codable {
    /// Bounds of a number or date, both included; nil for no bound.
    case range(minimum: AttributeValue?, maximum: AttributeValue?)
    /// Bounds of the number of characters in a string or URL, or of bytes in data.
    case length(minimum: Int?, maximum: Int?)
    /// A regular expression that the whole string must match.
    case pattern(String)
    /// A predicate with the value as `SELF`.
    case predicate(ValidationPredicate)
}

/// A predicate that must hold, and the message of the error if it does not.
public struct ValidationPredicate: Sendable, Hashable, Codable {
    /// The predicate.
    public var predicate: FetchPredicate
    /// The message of the error.
    public var message: String

    /// A predicate with a message.
    public init(_ predicate: FetchPredicate, message: String) {
        self.predicate = predicate
        self.message = message
    }
}
