/// A part of a model file that has no effect in Strata. It is kept, and written when the model is exported.
public struct XcodeDiagnostic: Sendable, Hashable, CustomStringConvertible {
    /// The reason why the part has no effect.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A feature of Xcode that Strata does not support.
        case notSupported
        /// An element or attribute that no known version of Xcode writes.
        case unknown
        /// A value that is not valid.
        case unreadable
    }

    /// The reason.
    public let kind: Kind
    /// The location of the element in the file.
    public let location: FileLocation
    /// The name of the element.
    public let element: String
    /// The name of the attribute; nil if the diagnostic is about the whole element.
    public let attribute: String?
    /// The entity or property that the element belongs to, such as `Movie.title`; nil for the model.
    public let owner: String?
    /// The diagnostic as a sentence.
    public let sentence: String

    /// The location, the owner and the sentence.
    public var description: String {
        "line \(location.line), column \(location.column): \(owner.map { "\($0): " } ?? "")\(sentence)"
    }
}
