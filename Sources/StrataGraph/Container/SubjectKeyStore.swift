public import Foundation
public import StrataModel
package import StrataStore

/// Keeps a key for each subject of encrypted values, outside the store: in a key management service, a database of keys, or
/// a directory (``SubjectKeyDirectory``).
///
/// Methods are called from any thread, and ``makeKeys(of:)`` before each save that has new subjects. What they throw, the
/// caller of the operation gets.
public protocol SubjectKeyStore: Sendable {
    /// Returns the key of the subject, or that it was destroyed; nil if there never was one.
    func key(of subject: SubjectID) throws -> SubjectKey?
    /// Gives the keys of subjects in their order, each of 32 random bytes or more, and makes those that are missing. They
    /// are kept for good before it returns.
    ///
    /// - Throws: `subjectErased` for a subject whose key was destroyed.
    func makeKeys(of subjects: [SubjectID]) throws -> [Data]
    /// Destroys the keys of subjects for ever, in all copies, and remembers that it has. A subject that has no key never
    /// gets one.
    func destroyKeys(of subjects: [SubjectID]) throws
}

/// The key of a subject in a ``SubjectKeyStore``.
public enum SubjectKey: Sendable, Hashable {
    /// The bytes of the key.
    case key(Data)
    /// It was destroyed.
    case destroyed
}

extension SubjectKeyStore {
    package var source: SubjectKeySource {
        SubjectKeySource(
            find: { subject in
                switch try key(of: subject) {
                case .key(let key)?: .key(key)
                case .destroyed?: .destroyed
                case nil: .none
                }
            }, make: { try makeKeys(of: $0) }, destroy: { try destroyKeys(of: $0) })
    }
}
