/// The encryption of an attribute's values.
public enum AttributeEncryption: Sendable, Hashable {
    /// Under the key that the store is opened with. Values can be searched for by equality. That two stored values are
    /// equal can be seen without the key.
    case storeKey
    /// Under the key of the store and the key of a subject together, such as one for each person. Without the key of
    /// the subject the values are unreadable, in every copy. They cannot be searched for.
    case subjectKey(EncryptionSubject)
}

/// The subject whose key encrypts an attribute.
public enum EncryptionSubject: Sendable, Hashable {
    /// The object that has the attribute.
    case object
    /// The object at the end of a to-one relationship of the entity, or the value of an attribute.
    case property(String)
}

extension EncryptionSubject: ExpressibleByStringLiteral {
    /// The name of a to-one relationship or an attribute.
    public init(stringLiteral name: String) { self = .property(name) }
}

/// As models in files have it: `storeKey`, `subjectKey` for the object itself, `subjectKey:` and the name of a property.
extension AttributeEncryption: RawRepresentable, Codable {
    private static let ofSubject = "subjectKey"

    /// Nil for another text than those.
    public init?(rawValue: String) {
        if rawValue == "storeKey" {
            self = .storeKey
        } else if rawValue == Self.ofSubject {
            self = .subjectKey(.object)
        } else if rawValue.hasPrefix(Self.ofSubject + ":"), rawValue.count > Self.ofSubject.count + 1 {
            self = .subjectKey(.property(String(rawValue.dropFirst(Self.ofSubject.count + 1))))
        } else {
            return nil
        }
    }

    /// The name in model files.
    public var rawValue: String {
        switch self {
        case .storeKey: "storeKey"
        case .subjectKey(.object): Self.ofSubject
        case .subjectKey(.property(let name)): "\(Self.ofSubject):\(name)"
        }
    }

    /// The subject whose key encrypts the values; nil for the store's key alone.
    public var subject: EncryptionSubject? {
        if case .subjectKey(let subject) = self { subject } else { nil }
    }
}

extension AttributeDescription {
    /// Whether values are encrypted before they are stored.
    public var isEncrypted: Bool { encryption != nil }
}

extension ManagedObjectModel {
    /// Whether any stored attribute is encrypted.
    public var hasEncryption: Bool {
        entities.contains { $0.properties.contains { $0.attribute?.isEncrypted ?? false } }
    }
}
