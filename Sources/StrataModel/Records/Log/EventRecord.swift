// An event in the log. Key: the event's number, UInt64 big-endian. Value, all integers little-endian:
//
//   offset  width  field
//   0       1      codec version, 1
//   1       1      kind
//   2       2      flags
//   4       4      checksum: low half of XXH64 (seed: bytes 0..<4) over everything from offset 8
//   8       8      object id (links: the source of the pair; model and maintenance events: 0)
//   16      8      transaction number
//   24      8      number of the previous event on the same object's row (links: on the same pair), 0 = none
//   32      4      payload length in bytes
//   36      4      0
//   40      16     payload digest: the first half of SHA-256(salt, payload)
//   56      16     salt, random. An erasure removes it with the payload: then flag 2 is set, the salt is 0, and payload
//                  length and digest stay as they were; a thinning does the same with flag 16
//   72      ...    payload; with flag 2 or 16 nothing, or a payload of the same kind without the values that are gone
//
// Flags: 1 = a reader that does not know the kind may skip the event; 2 = values were erased; 8 = the event stands for
// all events on its row, pair or record up to a cut of the history (LogBaseline.swift); 16 = values that later events up
// to a cut replace were dropped (ThinnedRecord.swift).
//
// Payloads:
//   inserted        a canonical row image
//   updated         UInt16 count, then for each property {UInt32 property id, before, after} in the value codec
//   deleted         UInt8 form; form 0: the last row image; form 1: UInt16 count, then {UInt32 property id, value}
//   linked          {UInt32 relationship, UInt64 source, UInt64 target, Int64 position in source,
//                   Int64 position in target}
//   unlinked        the same, with the positions it had
//   moved           the same, positions before, then the two positions after
//   modelInstalled  UInt32 model version, then the schema record
//
// A before-image (or last value) over `largeValueLimit` bytes is written as the value codec's `previous`: the value
// as of this event's predecessor on the same row.

/// The kind of an event. Raw values are part of the format.
package enum EventKind: UInt8, Sendable, Hashable, CaseIterable {
    case inserted = 1
    case updated = 2
    case deleted = 3
    case linked = 4
    case unlinked = 5
    case moved = 6
    case modelInstalled = 7
    /// Written by maintenance: a checkpoint, a redaction, a dropped history.
    case maintenance = 8

    /// Whether the event changes a row and is therefore in the object's chain.
    package var isOnRow: Bool { self == .inserted || self == .updated || self == .deleted }
    /// Whether the event changes a pair.
    package var isOnPair: Bool { self == .linked || self == .unlinked || self == .moved }
}

/// Bits of an event's header.
package struct EventFlags: OptionSet, Sendable, Hashable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// No flags. An empty literal makes an array where the compiler cannot see into this module.
    package static var none: EventFlags { EventFlags(rawValue: 0) }
    /// A reader that does not know the kind may skip the event.
    package static let skippable = EventFlags(rawValue: 1)
    /// Values were erased, and the salt with them. The digest of the payload as it was remains, so the chain still
    /// verifies.
    package static let redacted = EventFlags(rawValue: 2)
    /// The event replaces all events on its row, pair or record up to a cut of the history.
    package static let baseline = EventFlags(rawValue: 8)
    /// Values that later events up to a cut of the entity's history replace were dropped, and the salt with them, as in
    /// an erasure.
    package static let thinned = EventFlags(rawValue: 16)
    package static let known: EventFlags = [.skippable, .redacted, .baseline, .thinned]
    /// The flags that are set when values leave an event. No digest covers them.
    package static let reduced: EventFlags = [.redacted, .thinned]

    /// Whether the event has lost values.
    package var isReduced: Bool { !isDisjoint(with: .reduced) }
}

/// The header of an event.
package struct EventHeader: Sendable, Hashable {
    package static let size = 72
    package static let codecVersion: UInt8 = 1
    package static let digestOffset = 40
    package static let saltOffset = 56
    /// Before-images over this many bytes are recorded as `previous`.
    package static let largeValueLimit = 1024

    package var kind: EventKind
    package var flags: EventFlags
    package var object: ObjectID
    package var transaction: TransactionNumber
    package var previous: EventNumber
    package var payloadSize: Int

    package init(
        kind: EventKind, flags: EventFlags = .none, object: ObjectID, transaction: TransactionNumber,
        previous: EventNumber, payloadSize: Int
    ) {
        self.kind = kind
        self.flags = flags
        self.object = object
        self.transaction = transaction
        self.previous = previous
        self.payloadSize = payloadSize
    }

    /// Writes all fields except checksum, digest and salt.
    package func encode(into buffer: UnsafeMutableRawPointer) {
        buffer.storeBytes(of: Self.codecVersion, toByteOffset: 0, as: UInt8.self)
        buffer.storeBytes(of: kind.rawValue, toByteOffset: 1, as: UInt8.self)
        buffer.storeBytes(of: flags.rawValue.littleEndian, toByteOffset: 2, as: UInt16.self)
        buffer.storeBytes(of: object.rawValue.littleEndian, toByteOffset: 8, as: UInt64.self)
        buffer.storeBytes(of: transaction.rawValue.littleEndian, toByteOffset: 16, as: UInt64.self)
        buffer.storeBytes(of: previous.rawValue.littleEndian, toByteOffset: 24, as: UInt64.self)
        buffer.storeBytes(of: UInt32(truncatingIfNeeded: payloadSize).littleEndian, toByteOffset: 32, as: UInt32.self)
        buffer.storeBytes(of: 0, toByteOffset: 36, as: UInt32.self)
    }

    /// Writes the checksum.
    package static func seal(_ record: UnsafeMutableRawBufferPointer) {
        let sum = checksum(UnsafeRawBufferPointer(record))
        record.storeBytes(of: sum.littleEndian, toByteOffset: 4, as: UInt32.self)
    }

    package static func checksum(_ record: UnsafeRawBufferPointer) -> UInt32 {
        // The seed covers version, kind and flags.
        let seed = UInt64(UInt32(littleEndian: record.loadUnaligned(as: UInt32.self)))
        return UInt32(truncatingIfNeeded: XXH64.hash(UnsafeRawBufferPointer(rebasing: record[8...]), seed: seed))
    }
}

/// An event read from the log: its checked header, and its payload, not copied.
///
/// Valid only as long as the bytes that it was made from.
package struct EventView {
    package let header: EventHeader
    package let record: UnsafeRawBufferPointer
    /// Whether the event was decoded out of a block: its bytes are those of a buffer that the next event overwrites.
    package private(set) var isDecoded = false

    /// An event that was decoded out of a block, which has a checksum of its own.
    package init(decoded record: UnsafeRawBufferPointer) throws(CorruptRecord) {
        try self.init(sealed: record)
        isDecoded = true
    }

    private init(_ header: EventHeader, _ record: UnsafeRawBufferPointer) {
        self.header = header
        self.record = record
    }

    /// The same event with its bytes copied to the beginning of a buffer that is large enough.
    package func copied(to buffer: UnsafeMutableRawBufferPointer) -> EventView {
        let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<record.count])
        target.copyMemory(from: record)
        return EventView(header, UnsafeRawBufferPointer(target))
    }

    /// Checks length, version, kind, flags and checksum.
    package init(_ record: UnsafeRawBufferPointer) throws(CorruptRecord) {
        guard record.count >= EventHeader.size else { throw CorruptRecord("event shorter than its header", at: 0) }
        guard record[0] == EventHeader.codecVersion else { throw CorruptRecord("unknown event codec version", at: 0) }
        func integer<T: FixedWidthInteger>(_ offset: Int, _ type: T.Type) -> T {
            T(littleEndian: record.loadUnaligned(fromByteOffset: offset, as: T.self))
        }
        guard integer(4, UInt32.self) == EventHeader.checksum(record) else {
            throw CorruptRecord("event checksum does not match", at: 4)
        }
        try self.init(sealed: record)
    }

    /// Checks all but the checksum, for a record that was just sealed in the same memory.
    package init(sealed record: UnsafeRawBufferPointer) throws(CorruptRecord) {
        guard record.count >= EventHeader.size else { throw CorruptRecord("event shorter than its header", at: 0) }
        func integer<T: FixedWidthInteger>(_ offset: Int, _ type: T.Type) -> T {
            T(littleEndian: record.loadUnaligned(fromByteOffset: offset, as: T.self))
        }
        let flags = EventFlags(rawValue: integer(2, UInt16.self))
        guard flags.isSubset(of: .known) else { throw CorruptRecord("unknown event flags", at: 2) }
        // A skippable event of a newer version is read as maintenance.
        guard let kind = EventKind(rawValue: record[1]) ?? (flags.contains(.skippable) ? .maintenance : nil) else {
            throw CorruptRecord("unknown event kind", at: 1)
        }
        // Without values the header keeps the length of the payload as it was, because the chain covers it.
        let size = Int(integer(32, UInt32.self))
        guard flags.isReduced || size == record.count - EventHeader.size else {
            throw CorruptRecord("event length does not match", at: 32)
        }
        header = EventHeader(
            kind: kind, flags: flags, object: ObjectID(rawValue: integer(8, UInt64.self)),
            transaction: TransactionNumber(rawValue: integer(16, UInt64.self)),
            previous: EventNumber(rawValue: integer(24, UInt64.self)), payloadSize: size)
        self.record = record
    }

    /// Whether nothing but the header is left.
    package var isBare: Bool { header.flags.isReduced && record.count == EventHeader.size }

    /// The record with another payload.
    ///
    /// - Parameter mark: says why values are gone.
    package func reduced(to payload: UnsafeRawBufferPointer, _ mark: EventFlags) -> [UInt8] {
        var bytes = [UInt8](record[..<EventHeader.saltOffset])
        bytes.append(contentsOf: repeatElement(0, count: EventHeader.size - EventHeader.saltOffset))
        bytes.append(contentsOf: payload)
        let flags = header.flags.union(mark).rawValue
        (bytes[2], bytes[3]) = (UInt8(truncatingIfNeeded: flags), UInt8(truncatingIfNeeded: flags >> 8))
        bytes.withUnsafeMutableBytes { EventHeader.seal($0) }
        return bytes
    }

    package var payload: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: record[EventHeader.size...]) }
    package var salt: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: record[EventHeader.saltOffset..<EventHeader.size])
    }
    package var digest: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: record[EventHeader.digestOffset..<EventHeader.saltOffset])
    }
}
