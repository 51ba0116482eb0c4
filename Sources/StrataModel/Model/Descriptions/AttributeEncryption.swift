/// How the values of an attribute are encrypted.
public enum AttributeEncryption: String, Sendable, Hashable, Codable, CaseIterable {
    /// Under the key that the store is opened with. Equal values can be found, and are seen to be equal, without the key.
    case storeKey
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
