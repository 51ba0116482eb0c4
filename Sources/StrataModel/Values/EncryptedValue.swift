// A value of an encrypted attribute, as rows, events and files of large values hold it. Format 1. Little-endian:
//
//   offset  width  field
//   0       1      1
//   1       8      key id: names the key of the app, and says nothing of it
//   9       16     blind: equal for equal values of the attribute in one store, whatever the object and the key
//   25      12     nonce
//   37      ...    the value in the value codec (ValueCodec.swift), encrypted by AES-256-GCM
//   ...     16     tag
//
// Format 2, of an attribute with a subject (SubjectID.swift):
//
//   0       1      2
//   1       8      key id, as above
//   9       16     blind: equal for equal values of the attribute of one subject
//   25      16     subject id
//   41      8      id of the subject's key, made of it as the key id is made of the app's key
//   49      12     nonce
//   61      ...    the value, encrypted
//   ...     16     tag
//
// With K = HKDF-SHA-256 of the app's key without salt, each of 32 bytes unless stated:
//
//   key id          8 bytes of K(info "strata key id")
//   key             K(info "strata values", UInt32 property id)
//   nonce key       K(info "strata nonces", UInt32 property id)
//   blinding key    random, one for each store, in the store's metadata encrypted (EncryptionRecord.swift);
//                   B = HKDF-SHA-256 of it(info "strata blinds", UInt32 property id)
//   fingerprint     HMAC-SHA-256 of the value's canonical form (CanonicalForm.swift) under B
//   blind           the first 16 bytes of the fingerprint
//   nonce           the first 12 bytes of SHA-256 of (UInt32 1 with its most significant byte first, nonce key, blind,
//                   UInt64 object id, encoded value)
//   authenticated   bytes 0..<25, UInt64 object id, UInt32 property id
//
// In format 2, with S = HKDF-SHA-256 of the subject's key without salt, K is HKDF-SHA-256 of S(info "strata subject")
// with the salt K(info "strata subject") of the app's key, and B is S(info "strata blinds", UInt32 property id). So
// both keys are needed to read a value, the subject's alone decides its blind, and without that nothing of the value
// can be guessed. The tag authenticates bytes 0..<49, UInt64 object id and UInt32 property id.
//
// Why no two values have one nonce under one key. The nonce follows from all that is encrypted and authenticated, as in
// SIV: it is the same again only for the same value of the same attribute of the same object, which then has the same
// bytes. It needs no counter that processes would have to agree on, and no random generator, so copies of a store and
// of a running machine cannot repeat one either. The derivation is the one-step KDF of NIST SP 800-56C (revision 2,
// section 4, option 1) with SHA-256: without the nonce key its outputs cannot be told from random bytes. What is hashed
// after the key has one reading, because blind and object id have fixed lengths and an encoded value states its own;
// and only 12 of 32 bytes leave it, so that nothing can be appended to what was hashed. Among n values of an attribute,
// two then share a nonce with probability n^2 / 2^97: 2^-33 for the 2^32 values that SP 800-38D allows under one key.

public import Foundation

/// A value of an encrypted attribute, as it is stored: it can be compared for equality, and read with its key.
public struct EncryptedValue: Sendable, Hashable {
    /// The stored bytes.
    public let stored: Data

    /// The value with these bytes, which are not checked.
    package init(stored: Data) { self.stored = stored }

    /// A value that has a blind and cannot be read; searches compare with it.
    ///
    /// - Parameter blind: 16 bytes; none for a value that nothing equals.
    package init(blind: UnsafeRawBufferPointer?) {
        var bytes = Data(count: Self.overhead)
        bytes.withUnsafeMutableBytes { bytes in
            bytes[0] = Self.format
            if let blind { UnsafeMutableRawBufferPointer(rebasing: bytes[Self.blindRange]).copyMemory(from: blind) }
        }
        stored = bytes
    }

    package static let format: UInt8 = 1
    /// The format of a value that has a subject.
    package static let subjectFormat: UInt8 = 2
    package static let subjectRange = 25..<41
    package static let subjectKeyRange = 41..<49
    package static let keyIDRange = 1..<9
    package static let blindRange = 9..<25
    package static let blindSize = 16
    package static let nonceSize = 12
    package static let tagSize = 16
    /// The size of the encryption of nothing, without a subject.
    package static let overhead = blindRange.upperBound + nonceSize + tagSize

    /// Returns the number of bytes before the nonce; nil if the bytes are damaged.
    package static func headSize(of stored: UnsafeRawBufferPointer) -> Int? {
        guard stored.count >= overhead else { return nil }
        switch stored[0] {
        case format: return blindRange.upperBound
        case subjectFormat:
            let size = subjectKeyRange.upperBound
            return stored.count >= size + nonceSize + tagSize ? size : nil
        default: return nil
        }
    }

    /// Names the key; the stored bytes must not be shorter than `overhead`.
    package var keyID: Data { Data(stored.dropFirst(Self.keyIDRange.lowerBound).prefix(Self.keyIDRange.count)) }

    /// The subject whose key is needed, too; nil for a value without one, or a damaged one.
    package var subject: SubjectID? {
        stored.withUnsafeBytes { bytes in
            guard Self.headSize(of: bytes) == Self.subjectKeyRange.upperBound else { return nil }
            return SubjectID(UnsafeRawBufferPointer(rebasing: bytes[Self.subjectRange]))
        }
    }

    /// The bytes that equal values have in common; nil if the stored bytes are damaged.
    package var blind: Data? {
        stored.withUnsafeBytes { bytes in Self.blind(of: bytes).map { Data($0) } }
    }

    /// The blinds of two stored values under different keys, whose other bytes say nothing about whether they are the
    /// same; nil for values under one key, which are the same if their bytes are.
    package static func blinds(
        ofValuesUnderTwoKeys left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
    ) -> (UnsafeRawBufferPointer, UnsafeRawBufferPointer)? {
        guard let first = blind(of: left), let second = blind(of: right),
            !left[keyIDRange].elementsEqual(right[keyIDRange])
        else { return nil }
        return (first, second)
    }

    /// The blind in stored bytes; nil if these are damaged.
    package static func blind(of stored: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard headSize(of: stored) != nil else { return nil }
        return UnsafeRawBufferPointer(rebasing: stored[blindRange])
    }
}
