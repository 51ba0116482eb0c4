// The payload of a maintenance event, all integers little-endian:
//
//   offset  width  field
//   0       1      what: 1 = tag set, 2 = tag removed, 3 = metadata changed, 4 = erasure (ErasureRecord.swift),
//                  5 = thinning (ThinnedRecord.swift)
//   of a tag:
//   1       8      number of the event that the tag names (0 when removed)
//   9       ...    the tag's name, UTF-8
//   of metadata:
//   1       ...    the changed entries before, and after: two composites of the value codec; null where there is none
//
// An empty payload is a note, described by the transaction's metadata. Anything else is from a newer version and is
// skipped.

/// The content of a maintenance event.
package enum MaintenanceRecord: Sendable, Hashable {
    case note
    case tagged(name: String, eventNumber: EventNumber)
    case untagged(name: String)
    /// The changed entries of the store's metadata; null where there is none.
    case metadata(before: [String: AttributeValue], after: [String: AttributeValue])
    case erased(ErasureRecord)
    case thinned(ThinnedRecord)
    /// Written by a newer version.
    case unknown

    package init(_ payload: UnsafeRawBufferPointer) throws(CorruptRecord) {
        guard !payload.isEmpty else {
            self = .note
            return
        }
        var reader = ByteReader(payload)
        let what = try reader.readByte()
        switch what {
        case 1, 2: break
        case 3:
            self = .metadata(before: try reader.readEntries(), after: try reader.readEntries())
            return
        case 4:
            self = .erased(try ErasureRecord(&reader))
            return
        case 5:
            self = .thinned(try ThinnedRecord(&reader))
            return
        default:
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

    package func encoded() throws(UnstorableValue) -> ByteWriter {
        var writer = ByteWriter()
        switch self {
        case .note, .unknown: break
        case .tagged(let name, let eventNumber): Self.write(1, eventNumber, name, to: &writer)
        case .untagged(let name): Self.write(2, .zero, name, to: &writer)
        case .metadata(let before, let after):
            writer.append(UInt8(3))
            try ValueCodec.encode(.composite(before), into: &writer)
            try ValueCodec.encode(.composite(after), into: &writer)
        case .erased(let record):
            writer.append(UInt8(4))
            record.encode(into: &writer)
        case .thinned(let record):
            writer.append(UInt8(5))
            record.encode(into: &writer)
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

extension ByteReader {
    /// Reads a composite of the value codec.
    package mutating func readEntries() throws(CorruptRecord) -> [String: AttributeValue] {
        let start = offset
        guard case .composite(let entries) = try ValueCodec.decode(&self) else {
            throw CorruptRecord("metadata that are no composite", at: start)
        }
        return entries
    }
}
