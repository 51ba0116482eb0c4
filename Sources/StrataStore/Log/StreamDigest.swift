import Crypto

/// SHA-256 over many short pieces, which go to the hash function together: a call for each would cost more than the
/// hashing.
struct StreamDigest {
    private static let mostWaiting = 1 << 14
    private var hash = SHA256()
    private var waiting: [UInt8] = []

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        if waiting.count + bytes.count > Self.mostWaiting { hashWaiting() }
        if bytes.count > Self.mostWaiting {
            hash.update(bufferPointer: bytes)
        } else {
            waiting.append(contentsOf: bytes)
        }
    }

    private mutating func hashWaiting() {
        waiting.withUnsafeBytes { hash.update(bufferPointer: $0) }
        waiting.removeAll(keepingCapacity: true)
    }

    /// The 32 bytes over all that was added.
    consuming func finish() -> SHA256.Digest {
        hashWaiting()
        return hash.finalize()
    }
}
