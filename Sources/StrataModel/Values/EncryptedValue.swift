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
// With K = HKDF-SHA-256 of the app's key without salt, each of 32 bytes unless stated:
//
//   key id          8 bytes of K(info "strata key id")
//   key             K(info "strata values", UInt32 property id)
//   nonce key       K(info "strata nonces", UInt32 property id)
//   blinding key    random, one for each store, in the store's metadata encrypted (EncryptionRecord.swift);
//                   B = HKDF-SHA-256 of it(info "strata blinds", UInt32 property id)
//   fingerprint     HMAC-SHA-256 of the value's canonical form (CanonicalForm.swift) under B
//   blind           the first 16 bytes of the fingerprint
//   nonce           the first 12 bytes of HMAC-SHA-256 of (blind, UInt64 object id, UInt32 length of the encoded value,
//                   encoded value) under the nonce key
//   authenticated   bytes 0..<25, UInt64 object id, UInt32 property id
//
// The nonce follows from what is encrypted, as in SIV: one is used again only for the same value of the same attribute
// of the same object, which then has the same bytes.

public import Foundation

/// A value of an encrypted attribute, as it is stored: it can be compared for equality, and read with its key.
public struct EncryptedValue: Sendable, Hashable {
    /// The stored bytes.
    public let stored: Data

    /// The value with these bytes, which are not checked.
    package init(stored: Data) { self.stored = stored }

    /// A value that has a blind, and cannot be read: what a search compares with.
    ///
    /// - Parameter blind: 16 bytes; none for a value that nothing equals.
    package init(blind: Data?) {
        var bytes = Data([Self.format]) + Data(count: Self.keyIDRange.count)
        bytes += blind ?? Data(count: Self.blindRange.count)
        bytes += Data(count: Self.overhead - bytes.count)
        stored = bytes
    }

    package static let format: UInt8 = 1
    package static let keyIDRange = 1..<9
    package static let blindRange = 9..<25
    package static let nonceRange = 25..<37
    package static let tagSize = 16
    /// The size of the encryption of nothing.
    package static let overhead = nonceRange.upperBound + tagSize

    /// Names the key; the stored bytes must not be shorter than `overhead`.
    package var keyID: Data { Data(stored.dropFirst(Self.keyIDRange.lowerBound).prefix(Self.keyIDRange.count)) }

    /// Whether equal blinds, or unequal ones, say that the values are.
    package func isSameValue(as other: EncryptedValue) -> Bool { blind.map { $0 == other.blind } ?? (self == other) }

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
        guard stored.count >= overhead, stored[0] == format else { return nil }
        return UnsafeRawBufferPointer(rebasing: stored[blindRange])
    }
}
