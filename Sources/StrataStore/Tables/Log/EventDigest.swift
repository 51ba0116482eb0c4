import Crypto
import LMDB
import StrataModel

/// The digests of the log: one for each payload with its salt, and one for each transaction, chained to the one before.
///
/// The payload's digest is in the event's header and the chain covers headers only. So a payload can later be removed,
/// and the chain still verifies.
enum EventDigest {
    /// Writes the first sixteen bytes of SHA-256(salt, payload), which are adjacent in an event.
    static func write(saltAndPayload: UnsafeRawBufferPointer, into digest: UnsafeMutableRawPointer) {
        hash(saltAndPayload).withUnsafeBytes {
            digest.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(digest), byteCount: 16)
        }
    }

    /// Computes the fields of the last event that its block leaves out.
    static func complete(_ reader: EventBlockReader) {
        let event = reader.record
        guard let base = event.baseAddress else { return }
        if let secret = reader.secret {
            writeSalt(secret, reader.index - 1, into: base + EventHeader.saltOffset)
        }
        if reader.needsDigest {
            write(
                saltAndPayload: UnsafeRawBufferPointer(rebasing: event[EventHeader.saltOffset...]),
                into: base + EventHeader.digestOffset)
        }
        EventHeader.seal(event)
    }

    /// Writes the salt that follows from the secret of a block for the event at an index.
    static func writeSalt(_ secret: UnsafeRawBufferPointer, _ index: Int, into salt: UnsafeMutableRawPointer) {
        var hash = SHA256()
        hash.update(bufferPointer: secret)
        withUnsafeBytes(of: UInt16(index).littleEndian) { hash.update(bufferPointer: $0) }
        let size = EventHeader.size - EventHeader.saltOffset
        hash.finalize().withUnsafeBytes {
            salt.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(salt), byteCount: size)
        }
    }

    /// Whether an event's payload matches the digest in its header; true for one that has lost values.
    static func matches(_ event: EventView) -> Bool {
        if event.header.flags.isReduced { return true }
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

    /// The digest of one transaction while it is built.
    struct Chain: ~Copyable {
        private var hash = StreamDigest()

        /// - Parameters:
        ///   - previous: the digest of the transaction before, 32 bytes.
        ///   - record: the encoded transaction record. Its own digest field is not covered.
        init(previous: [UInt8], record: UnsafeRawBufferPointer) {
            self.init(previous: previous)
            begin(record)
        }

        /// The same without a record; call `begin` next.
        init(previous: [UInt8]) {
            previous.withUnsafeBytes { hash.add($0) }
        }

        mutating func begin(_ record: UnsafeRawBufferPointer) {
            hash.add(UnsafeRawBufferPointer(rebasing: record[TransactionRecord.chainedOffset...]))
        }

        /// Adds an event's header as it was before the event lost values, if it did.
        mutating func add(_ event: UnsafeRawBufferPointer) {
            let reduced = UInt32(EventFlags.reduced.rawValue) << 16
            let start = UInt32(littleEndian: event.loadUnaligned(as: UInt32.self))
            hash.add(littleEndian: start & ~reduced)
            hash.add(UnsafeRawBufferPointer(rebasing: event[8..<EventHeader.saltOffset]))
        }

        consuming func finish() -> [UInt8] { Array(hash.finish()) }
    }
}
