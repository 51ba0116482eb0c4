import StrataModel

/// The value of a record in `tombstones`: which event deleted the object.
enum Tombstone {
    static func eventNumber(_ bytes: UnsafeRawBufferPointer) throws(CorruptRecord) -> EventNumber {
        guard bytes.count == 8 else { throw CorruptRecord("tombstone of another length", at: 0) }
        return EventNumber(rawValue: UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)))
    }
}
