// The id of a subject: the first 16 bytes of HMAC-SHA-256, under HKDF-SHA-256 of the store's blinding key (info "strata
// subjects"), of
//
//   the object itself, or the object at the end of a relationship   UInt8 0, UInt64 object id
//   the value of an attribute                                       UInt8 1, its canonical form (CanonicalForm.swift)
//
// So the subjects of two stores have different ids, and an id says nothing without the store's key.

/// Names a subject of encrypted values, such as a person: 16 bytes that say nothing of it.
public struct SubjectID: Sendable, Hashable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    /// - Parameter bytes: 16 of them.
    package init(_ bytes: UnsafeRawBufferPointer) {
        high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    /// The id that a description has; nil if the text is not one.
    public init?(_ description: String) {
        guard description.utf8.count == 32, let high = UInt64(description.prefix(16), radix: 16),
            let low = UInt64(description.suffix(16), radix: 16)
        else { return nil }
        self.high = high
        self.low = low
    }

    /// The 16 bytes.
    public var bytes: [UInt8] {
        withUnsafeBytes(of: high.bigEndian, Array.init) + withUnsafeBytes(of: low.bigEndian, Array.init)
    }

    /// 32 hexadecimal digits.
    public var description: String {
        bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}
