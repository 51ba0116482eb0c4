/// Something in a model file that has no effect here; it is kept, and written again when the model is exported.
public struct XcodeDiagnostic: Sendable, Hashable, CustomStringConvertible {
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Xcode has it and Strata knows its name, but does nothing with it.
        case notSupported
        /// No version of Xcode that Strata knows writes it.
        case unknown
        /// A value that does not say what it should.
        case unreadable
    }

    public let kind: Kind
    public let location: FileLocation
    /// The element's name.
    public let element: String
    /// The attribute's name; nil when it is about the element as a whole.
    public let attribute: String?
    /// What it belongs to, such as `Movie.title`; nil for the model.
    public let owner: String?
    public let sentence: String

    public var description: String {
        "line \(location.line), column \(location.column): \(owner.map { "\($0): " } ?? "")\(sentence)"
    }
}
