// A transaction in the log. Key: its number, UInt64 big-endian. Value, all integers little-endian:
//
//   offset  width  field
//   0       1      codec version, 1
//   1       1      1 if an erasure has removed texts from the record. Its digest stays that of the record as it was;
//                  that of the record as it is stands in the erasure (ErasureRecord.swift)
//   2       2      0
//   4       4      checksum: low half of XXH64 (seed: bytes 0..<4) over everything from offset 8
//   8       32     digest: SHA-256(digest before, bytes 40... of this record, then of each event its bytes 0..<4 and
//                  8..<56, in order, flags 2 and 16 (values removed) as if not set); the digest before the first
//                  transaction is 32 zero bytes
//   40      16     transaction id
//   56      8      number of the first event
//   64      4      number of events
//   68      4      model version
//   72      8      commit time, microseconds since 1970-01-01 00:00 UTC, Int64; later than the one before
//   80      4      process id
//   84      ...    author, context name, process name: each UInt32 length then UTF-8, length 0xFFFFFFFF = nil
//           ...    metadata: UInt16 count, then key and value, sorted by key
//           ...    touched entities: UInt16 count, then {UInt16 entity, UInt8 kinds (bit 0 = kind 1), UInt16 count,
//                  UInt32 property...}, sorted

package import Foundation

/// One save in the log: its author, time and model, and the entities that it touched.
package struct TransactionRecord: Sendable, Hashable {
    /// The changes of a transaction to one entity.
    package struct Touched: Sendable, Hashable {
        package var entity: EntityID
        /// Bit n is set if the transaction has an event of the kind with raw value n + 1.
        package var kinds: UInt8
        /// Changed properties (updates and links), sorted.
        package var properties: [PropertyID]

        package init(entity: EntityID, kinds: UInt8, properties: [PropertyID]) {
            self.entity = entity
            self.kinds = kinds
            self.properties = properties
        }

        /// Whether the transaction has an event of this kind on an object of the entity.
        package func has(_ kind: EventKind) -> Bool { kinds & (1 << (kind.rawValue - 1)) != 0 }
    }

    package static let digestOffset = 8
    package static let chainedOffset = 40

    /// The transaction's number, which is the key of the record.
    package var number: TransactionNumber
    package var digest: [UInt8]
    package var id: UUID
    package var firstEvent: EventNumber
    package var eventCount: Int
    package var modelVersion: ModelVersion
    package var microseconds: Int64
    package var processID: Int32
    package var author: String?
    package var contextName: String?
    package var processName: String?
    package var metadata: [String: String]
    package var touched: [Touched]
    /// Whether an erasure has removed texts from the record.
    package var isErased = false

    package init(
        number: TransactionNumber, digest: [UInt8] = [UInt8](repeating: 0, count: 32), id: UUID,
        firstEvent: EventNumber, eventCount: Int, modelVersion: ModelVersion, microseconds: Int64, processID: Int32,
        author: String?, contextName: String?, processName: String?, metadata: [String: String], touched: [Touched]
    ) {
        self.number = number
        self.digest = digest
        self.id = id
        self.firstEvent = firstEvent
        self.eventCount = eventCount
        self.modelVersion = modelVersion
        self.microseconds = microseconds
        self.processID = processID
        self.author = author
        self.contextName = contextName
        self.processName = processName
        self.metadata = metadata
        self.touched = touched
    }

    /// The number of the last event.
    package var lastEvent: EventNumber { EventNumber(rawValue: firstEvent.rawValue + UInt64(eventCount) - 1) }
    package var date: Date { Date(timeIntervalSince1970: Double(microseconds) / 1_000_000) }

    /// The bytes of the record, with its digest and the checksum.
    package func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.append(UInt8(1))
        writer.append(UInt8(isErased ? 1 : 0))
        writer.append(littleEndian: UInt16(0))
        writer.append(littleEndian: UInt32(0))
        digest.withUnsafeBytes { writer.append($0) }
        withUnsafeBytes(of: id.uuid) { writer.append($0) }
        writer.append(littleEndian: firstEvent.rawValue)
        writer.append(littleEndian: UInt32(eventCount))
        writer.append(littleEndian: modelVersion.rawValue)
        writer.append(littleEndian: UInt64(bitPattern: microseconds))
        writer.append(littleEndian: UInt32(bitPattern: processID))
        writer.append(text: author)
        writer.append(text: contextName)
        writer.append(text: processName)
        writer.append(littleEndian: UInt16(metadata.count))
        for key in metadata.keys.sorted() {
            writer.append(text: key)
            writer.append(text: metadata[key])
        }
        writer.append(littleEndian: UInt16(touched.count))
        for entry in touched {
            writer.append(littleEndian: entry.entity.rawValue)
            writer.append(entry.kinds)
            writer.append(littleEndian: UInt16(entry.properties.count))
            for property in entry.properties { writer.append(littleEndian: property.rawValue) }
        }
        var bytes = writer.array
        bytes.withUnsafeMutableBytes { EventHeader.seal($0) }
        return bytes
    }

    /// Reads and checks a record.
    package init(_ bytes: UnsafeRawBufferPointer, number: TransactionNumber) throws(CorruptRecord) {
        guard bytes.count >= 84 else { throw CorruptRecord("transaction shorter than its header", at: 0) }
        var reader = ByteReader(bytes)
        guard try reader.readByte() == 1 else { throw CorruptRecord("unknown transaction codec version", at: 0) }
        isErased = try reader.readByte() & 1 != 0
        _ = try reader.readBytes(2)
        guard try reader.readInteger(as: UInt32.self) == EventHeader.checksum(bytes) else {
            throw CorruptRecord("transaction checksum does not match", at: 4)
        }
        self.number = number
        digest = [UInt8](try reader.readBytes(32))
        id = UUID(uuid: try reader.readBytes(16).loadUnaligned(as: uuid_t.self))
        firstEvent = EventNumber(rawValue: try reader.readInteger(as: UInt64.self))
        // This limit keeps `lastEvent` from overflowing.
        guard 1...UInt64.max >> 1 ~= firstEvent.rawValue else { throw CorruptRecord("events beyond the log", at: 56) }
        eventCount = Int(try reader.readInteger(as: UInt32.self))
        modelVersion = ModelVersion(rawValue: try reader.readInteger(as: UInt32.self))
        microseconds = Int64(bitPattern: try reader.readInteger(as: UInt64.self))
        processID = Int32(bitPattern: try reader.readInteger(as: UInt32.self))
        author = try reader.readText()
        contextName = try reader.readText()
        processName = try reader.readText()
        metadata = [:]
        for _ in 0..<(try reader.readInteger(as: UInt16.self)) {
            guard let key = try reader.readText() else {
                throw CorruptRecord("metadata without a key", at: reader.offset)
            }
            metadata[key] = try reader.readText()
        }
        touched = []
        for _ in 0..<(try reader.readInteger(as: UInt16.self)) { touched.append(try Touched(&reader)) }
        guard reader.remaining == 0 else { throw CorruptRecord("bytes after a transaction", at: reader.offset) }
    }
}

extension TransactionRecord.Touched {
    fileprivate init(_ reader: inout ByteReader) throws(CorruptRecord) {
        entity = EntityID(rawValue: try reader.readInteger(as: UInt16.self))
        kinds = try reader.readByte()
        properties = []
        for _ in 0..<(try reader.readInteger(as: UInt16.self)) {
            properties.append(PropertyID(rawValue: try reader.readInteger(as: UInt32.self)))
        }
    }
}

extension ByteWriter {
    /// Appends text as UInt32 length and UTF-8; nil as the length 0xFFFFFFFF.
    package mutating func append(text: String?) {
        guard var text else { return append(littleEndian: UInt32.max) }
        text.withUTF8 { utf8 in
            append(littleEndian: UInt32(utf8.count))
            append(UnsafeRawBufferPointer(utf8))
        }
    }
}

extension ByteReader {
    package mutating func readText() throws(CorruptRecord) -> String? {
        let length = try readInteger(as: UInt32.self)
        guard length != .max else { return nil }
        let start = offset
        guard let text = String(validating: try readBytes(Int(length)), as: UTF8.self) else {
            throw CorruptRecord("text is not UTF-8", at: start)
        }
        return text
    }
}
