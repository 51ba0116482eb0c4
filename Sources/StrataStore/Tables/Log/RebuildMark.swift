// While a large rebuild is under way, the value of "head" in `meta` is longer than a head. Little-endian:
//
//   offset  width  field
//   0       72     the head (StoreHeader.swift)
//   72      8      last event that the views hold
//   80      4      checksum: low half of XXH64 over bytes 72..<80
//   84      4      0
//
// A reader that finds the mark refuses to read. The next opening for writing continues from that event.

import StrataModel

/// Records that the views are being rebuilt, and how far the rebuild has come.
struct RebuildMark {
    static let size = LogHead.size + 16

    let head: LogHead
    /// The views hold the events up to this one.
    let applied: EventNumber
}

extension RebuildMark {
    /// Nil for a plain head.
    init?(_ bytes: UnsafeRawBufferPointer) throws(CorruptRecord) {
        guard bytes.count == Self.size else { return nil }
        head = try LogHead(UnsafeRawBufferPointer(rebasing: bytes[..<LogHead.size]))
        let tail = UnsafeRawBufferPointer(rebasing: bytes[LogHead.size...])
        guard Self.checksum(tail) == UInt32(littleEndian: tail.loadUnaligned(fromByteOffset: 8, as: UInt32.self)) else {
            throw CorruptRecord("checksum of the mark of a rebuild does not match", at: LogHead.size)
        }
        applied = EventNumber(rawValue: UInt64(littleEndian: tail.loadUnaligned(as: UInt64.self)))
    }

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        head.encoded().withUnsafeBytes { writer.append($0) }
        writer.append(littleEndian: applied.rawValue)
        let sum = Self.checksum(UnsafeRawBufferPointer(rebasing: writer.bytes[LogHead.size...]))
        writer.append(littleEndian: sum)
        writer.append(littleEndian: UInt32(0))
        return writer.array
    }

    private static func checksum(_ tail: UnsafeRawBufferPointer) -> UInt32 {
        UInt32(truncatingIfNeeded: XXH64.hash(UnsafeRawBufferPointer(rebasing: tail[..<8])))
    }

    /// The error that readers and writers get while the rebuild is under way.
    func refusal(path: String) -> StrataError {
        StrataError(
            .persistentStoreTimeout,
            "The views of the store are being rebuilt: \(applied) of \(head.event) events are done. If no rebuild is "
                + "running, opening the store for writing finishes it.",
            context: .init(path: path))
    }
}
