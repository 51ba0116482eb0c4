import Crypto
import Foundation
import StrataModel

/// A key that the app gave, with the keys derived from it (EncryptedValue.swift).
struct EncryptionKey: Sendable {
    /// Names the key in encrypted values.
    struct ID: Sendable, Hashable, CustomStringConvertible {
        /// The eight bytes as an integer, least significant byte first.
        let rawValue: UInt64

        init(rawValue: UInt64) { self.rawValue = rawValue }

        /// - Parameter bytes: eight of them.
        init(_ bytes: UnsafeRawBufferPointer) {
            rawValue = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
        }

        var bytes: Data { withUnsafeBytes(of: rawValue.littleEndian) { Data($0) } }

        /// In hexadecimal, as messages and the store's record have it.
        var description: String { bytes.map { String(format: "%02x", $0) }.joined() }
    }

    /// The fewest bytes that a key has.
    static let leastSizeInBytes = 32

    let id: ID
    private let root: SymmetricKey

    /// - Parameter secret: random bytes.
    /// - Throws: `encryptionKeyWrong` for a short one.
    init(_ secret: Data) throws(StrataError) {
        guard secret.count >= Self.leastSizeInBytes else {
            throw StrataError(
                .encryptionKeyWrong,
                "An encryption key has \(CountText.of(secret.count, "byte")); give \(Self.leastSizeInBytes) random bytes or more."
            )
        }
        root = SymmetricKey(data: HKDF<SHA256>.extract(inputKeyMaterial: SymmetricKey(data: secret), salt: Data()))
        id = Self.derived(root, "strata key id", nil, 8).withUnsafeBytes { ID($0) }
    }

    /// The key that is derived from this one and a subject's, so that neither alone is enough.
    ///
    /// - Parameter subject: the key of the subject.
    init(_ store: EncryptionKey, with subject: EncryptionKey) {
        let salt = store.derived(Self.subjectPurpose).withUnsafeBytes { Data($0) }
        root = SymmetricKey(
            data: HKDF<SHA256>.extract(inputKeyMaterial: subject.derived(Self.subjectPurpose), salt: salt))
        id = store.id
    }

    private static let subjectPurpose = "strata subject"

    /// The key for one purpose, and one property where that is named.
    func derived(_ purpose: String, _ property: PropertyID? = nil) -> SymmetricKey {
        Self.derived(root, purpose, property, 32)
    }

    private static func derived(
        _ root: SymmetricKey, _ purpose: String, _ property: PropertyID?, _ count: Int
    ) -> SymmetricKey {
        var info = Data(purpose.utf8)
        if let property { withUnsafeBytes(of: property.rawValue.littleEndian) { info.append(contentsOf: $0) } }
        return root.withUnsafeBytes { HKDF<SHA256>.expand(pseudoRandomKey: $0, info: info, outputByteCount: count) }
    }

    /// A key for the ids of subjects.
    static func naming(_ blindingKey: SymmetricKey) -> SymmetricKey {
        let root = SymmetricKey(data: HKDF<SHA256>.extract(inputKeyMaterial: blindingKey, salt: Data()))
        return derived(root, "strata subjects", nil, 32)
    }

    /// A key for the blinds of one property.
    static func blinding(_ blindingKey: SymmetricKey, _ property: PropertyID) -> SymmetricKey {
        let root = SymmetricKey(data: HKDF<SHA256>.extract(inputKeyMaterial: blindingKey, salt: Data()))
        return derived(root, "strata blinds", property, 32)
    }
}
