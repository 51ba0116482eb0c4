import Crypto
import LMDB
import StrataModel

/// The digests of the log: one over each payload with its salt, one over each transaction chained to the one before.
///
/// A payload's digest stands in the event's header and the chain covers headers only, so a payload can later be
/// removed and the chain still verifies.
enum EventDigest {
    /// The first sixteen bytes of SHA-256(salt, payload), which stand one behind the other in an event.
    static func write(saltAndPayload: UnsafeRawBufferPointer, into digest: UnsafeMutableRawPointer) {
        hash(saltAndPayload).withUnsafeBytes {
            digest.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(digest), byteCount: 16)
        }
    }

    /// Whether an event's payload is what its header says; a redacted one has none to compare.
    static func matches(_ event: EventView) -> Bool {
        if event.header.flags.contains(.redacted) { return true }
        let saltAndPayload = UnsafeRawBufferPointer(rebasing: event.record[EventHeader.saltOffset...])
        return hash(saltAndPayload).withUnsafeBytes {
            UnsafeRawBufferPointer(rebasing: $0[..<16]).compare(with: event.digest) == 0
        }
    }

    private static func hash(_ bytes: UnsafeRawBufferPointer) -> SHA256.Digest {
        var hash = SHA256()
        hash.update(bufferPointer: bytes)
        return hash.finalize()
    }

    /// The running digest of one transaction.
    struct Chain: ~Copyable {
        private var hash = StreamDigest()

        /// - Parameters:
        ///   - previous: the digest of the transaction before, 32 bytes.
        ///   - record: the encoded transaction record; its own digest field is not covered.
        init(previous: [UInt8], record: UnsafeRawBufferPointer) {
            self.init(previous: previous)
            begin(record)
        }

        /// The same, but that `begin` comes next.
        init(previous: [UInt8]) {
            previous.withUnsafeBytes { hash.add($0) }
        }

        mutating func begin(_ record: UnsafeRawBufferPointer) {
            hash.add(UnsafeRawBufferPointer(rebasing: record[TransactionRecord.chainedOffset...]))
        }

        /// Adds an event as it was before its payload was removed, if it was.
        mutating func add(_ event: UnsafeRawBufferPointer) {
            let removed = UInt8(truncatingIfNeeded: EventFlags.redacted.rawValue)
            let start = UInt32(littleEndian: event.loadUnaligned(as: UInt32.self))
            hash.add(littleEndian: start & ~(UInt32(removed) << 16))
            hash.add(UnsafeRawBufferPointer(rebasing: event[8..<EventHeader.saltOffset]))
        }

        consuming func finish() -> [UInt8] { Array(hash.finish()) }
    }
}
