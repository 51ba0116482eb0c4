// The payload of a maintenance event, all integers little-endian:
//
//   offset  width  field
//   0       1      what: 1 = tag set, 2 = tag removed
//   1       8      number of the event that the tag names (0 when removed)
//   9       ...    the tag's name, UTF-8
//
// An empty payload is a note, described by the transaction's metadata. Anything else is from a newer version and is
// skipped.

/// The content of a maintenance event.
package enum MaintenanceRecord: Sendable, Hashable {
    case note
    case tagged(name: String, eventNumber: EventNumber)
    case untagged(name: String)
    /// Written by a newer version.
    case unknown

    package init(_ payload: UnsafeRawBufferPointer) throws(CorruptRecord) {
        guard !payload.isEmpty else {
            self = .note
            return
        }
        var reader = ByteReader(payload)
        let what = try reader.readByte()
        guard what == 1 || what == 2 else {
            self = .unknown
            return
        }
        let eventNumber = EventNumber(rawValue: try reader.readInteger(as: UInt64.self))
        let offset = reader.offset
        guard let name = String(validating: try reader.readBytes(reader.remaining), as: UTF8.self) else {
            throw CorruptRecord("tag name that is not UTF-8", at: offset)
        }
        self = what == 1 ? .tagged(name: name, eventNumber: eventNumber) : .untagged(name: name)
    }

    package func encoded() -> ByteWriter {
        var writer = ByteWriter()
        switch self {
        case .note, .unknown: break
        case .tagged(let name, let eventNumber): Self.write(1, eventNumber, name, to: &writer)
        case .untagged(let name): Self.write(2, .zero, name, to: &writer)
        }
        return writer
    }

    private static func write(_ what: UInt8, _ eventNumber: EventNumber, _ name: String, to writer: inout ByteWriter) {
        writer.append(what)
        writer.append(littleEndian: eventNumber.rawValue)
        var name = name
        name.withUTF8 { writer.append(UnsafeRawBufferPointer($0)) }
    }
}
