import Crypto
import StrataModel

/// SHA-256 over many short pieces. They are collected and hashed together, because a call for each would cost more than
/// the hashing.
struct StreamDigest: ~Copyable {
    private static let mostWaiting = 1 << 14
    private var hash = SHA256()
    private var waiting = ByteWriter(capacity: 1 << 10)

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        if waiting.count + bytes.count > Self.mostWaiting { hashWaiting() }
        if bytes.count > Self.mostWaiting {
            hash.update(bufferPointer: bytes)
        } else {
            waiting.append(bytes)
        }
    }

    mutating func add(littleEndian value: UInt32) { waiting.append(littleEndian: value) }

    private mutating func hashWaiting() {
        hash.update(bufferPointer: waiting.bytes)
        waiting.reset()
    }

    /// The 32 bytes over everything added.
    consuming func finish() -> SHA256.Digest {
        hashWaiting()
        return hash.finalize()
    }
}
