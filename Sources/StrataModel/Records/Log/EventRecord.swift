// An event as it stands in the log. Key: the event's sequence, UInt64 big-endian. Value, all integers little-endian:
//
//   offset  width  field
//   0       1      codec version, 1
//   1       1      kind
//   2       2      flags
//   4       4      checksum: low half of XXH64 (seed: bytes 0..<4) over everything from offset 8
//   8       8      object id (links: the source of the pair; model and maintenance events: 0)
//   16      8      transaction sequence
//   24      8      sequence of the previous event on the same object's row (links: on the same pair), 0 = none
//   32      4      payload length in bytes
//   36      4      0
//   40      16     payload digest: the first half of SHA-256(salt, payload)
//   56      16     salt, random; goes with the payload when that is removed: then flag 2 is set, the salt is 0, and
//                  payload length and digest stay as they were
//   72      ...    payload
//
// Payloads:
//   inserted        a canonical row image
//   updated         UInt16 count, then for each property {UInt32 property id, before, after} in the value codec
//   deleted         UInt8 form; form 0: the last row image; form 1: UInt16 count, then {UInt32 property id, value}
//   linked          {UInt32 relationship, UInt64 source, UInt64 target, Int64 place in source, Int64 place in target}
//   unlinked        the same, with the places it had
//   moved           the same, places before, then the two places after
//   modelInstalled  UInt32 model version, then the schema record
//
// A before-image (or last value) over `largeValueLimit` bytes is written as the value codec's `previous`: the value
// as of this event's predecessor on the same row.

/// What an event says. Raw values are the format's.
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

    /// Whether the event changes a row and so stands in the object's chain.
    package var isOnRow: Bool { self == .inserted || self == .updated || self == .deleted }
    /// Whether the event changes a pair.
    package var isOnPair: Bool { self == .linked || self == .unlinked || self == .moved }
}

/// Bits of an event's header.
package struct EventFlags: OptionSet, Sendable, Hashable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// No flag; the empty literal goes through an array where the compiler cannot look into this module.
    package static var none: EventFlags { EventFlags(rawValue: 0) }
    /// A reader that does not know the kind may pass it over.
    package static let skippable = EventFlags(rawValue: 1)
    /// Payload and salt were removed; the digest still stands, so the chain still verifies.
    package static let redacted = EventFlags(rawValue: 2)
    package static let known: EventFlags = [.skippable, .redacted]
}

/// The fixed part of an event, and where its payload lies.
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

    /// Writes all fields but checksum, digest and salt, which `seal` puts in.
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

    /// Puts the checksum over bytes 8... in.
    package static func seal(_ record: UnsafeMutableRawBufferPointer) {
        let sum = checksum(UnsafeRawBufferPointer(record))
        record.storeBytes(of: sum.littleEndian, toByteOffset: 4, as: UInt32.self)
    }

    package static func checksum(_ record: UnsafeRawBufferPointer) -> UInt32 {
        // The seed brings version, kind and flags in.
        let seed = UInt64(UInt32(littleEndian: record.loadUnaligned(as: UInt32.self)))
        return UInt32(truncatingIfNeeded: XXH64.hash(UnsafeRawBufferPointer(rebasing: record[8...]), seed: seed))
    }
}

/// An event read from the log: its header, checked, and its payload in place.
///
/// Valid only as long as the bytes it was made of.
package struct EventView {
    package let header: EventHeader
    package let record: UnsafeRawBufferPointer

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

    /// The same without the checksum: of a record that was sealed just now, and is read from the same memory.
    package init(sealed record: UnsafeRawBufferPointer) throws(CorruptRecord) {
        guard record.count >= EventHeader.size else { throw CorruptRecord("event shorter than its header", at: 0) }
        func integer<T: FixedWidthInteger>(_ offset: Int, _ type: T.Type) -> T {
            T(littleEndian: record.loadUnaligned(fromByteOffset: offset, as: T.self))
        }
        let flags = EventFlags(rawValue: integer(2, UInt16.self))
        guard flags.isSubset(of: .known) else { throw CorruptRecord("unknown event flags", at: 2) }
        // What may be passed over is maintenance, whatever a newer version means by it.
        guard let kind = EventKind(rawValue: record[1]) ?? (flags.contains(.skippable) ? .maintenance : nil) else {
            throw CorruptRecord("unknown event kind", at: 1)
        }
        // A removed payload leaves its length in the header, which the chain covers.
        let size = Int(integer(32, UInt32.self))
        let isRemoved = flags.contains(.redacted) && record.count == EventHeader.size
        guard isRemoved || size == record.count - EventHeader.size else {
            throw CorruptRecord("event length does not match", at: 32)
        }
        header = EventHeader(
            kind: kind, flags: flags, object: ObjectID(rawValue: integer(8, UInt64.self)),
            transaction: TransactionNumber(rawValue: integer(16, UInt64.self)),
            previous: EventNumber(rawValue: integer(24, UInt64.self)), payloadSize: size)
        self.record = record
    }

    package var payload: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: record[EventHeader.size...]) }
    package var salt: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: record[EventHeader.saltOffset..<EventHeader.size])
    }
    package var digest: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: record[EventHeader.digestOffset..<EventHeader.saltOffset])
    }
}
