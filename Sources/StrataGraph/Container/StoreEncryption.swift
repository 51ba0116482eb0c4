public import Foundation

/// The keys with which a store's encrypted attributes are written and read.
///
/// ```swift
/// var options = PersistentStoreOptions()
/// options.encryption = StoreEncryption { [try keyring.secret(named: "patients")] }
/// ```
///
/// A key is 32 random bytes or more, not a password. The key and the store together give access to every value; without
/// the key the values are lost.
public struct StoreEncryption: Sendable {
    /// Gives the keys, the newest first.
    let keys: @Sendable () throws -> [Data]
    /// The keys of subjects, for attributes that are encrypted under them; nil without.
    let subjectKeys: (any SubjectKeyStore)?

    /// A key.
    ///
    /// - Parameters:
    ///   - previous: keys that were used before, which are needed to read what was written under them: values until a
    ///     rotation has ended, and the history as long as it is kept.
    ///   - subjectKeys: the keys of subjects, for attributes that are encrypted under them.
    public init(key: Data, previous: [Data] = [], subjectKeys: (any SubjectKeyStore)? = nil) {
        self.init(subjectKeys: subjectKeys) { [key] + previous }
    }

    /// Keys that are asked for when the store is opened, such as those of a keyring.
    ///
    /// - Parameters:
    ///   - subjectKeys: the keys of subjects, for attributes that are encrypted under them.
    ///   - keys: gives the key under which values are written first, and then those that were used before. What it
    ///     throws, opening the store throws.
    public init(
        subjectKeys: (any SubjectKeyStore)? = nil, _ keys: @escaping @Sendable () throws -> [Data]
    ) {
        self.keys = keys
        self.subjectKeys = subjectKeys
    }
}
