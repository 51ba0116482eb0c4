// A segment: transactions of a log, one after the other. Integers are little-endian:
//
//   offset  width  field
//   0       8      magic "STRATASG"
//   8       4      version, 1
//   12      4      flags, 0; with an unknown one the segment is not read
//   16      16     store id
//   32      16     lineage
//   48      8      first transaction
//   56      8      last transaction
//   64      8      first event
//   72      8      last event
//   80      8      commit time of the last transaction, microseconds since 1970, Int64
//   88      8      when the store was created, microseconds since 1970, Int64
//   96      32     digest of the transaction before the first (zeros if there is none)
//   128     32     digest of the last transaction
//   160     ...    for each transaction: UInt64 length, then the frame (LogFrame.swift)
//   end-32  32     SHA-256 of everything before it

import Crypto
package import Foundation
package import StrataModel
package import StrataStore

/// Some transactions of a log, as a file at a target.
package struct Segment: Sendable {
    package let identifier: UUID
    package let lineage: UUID
    package let first: TransactionNumber
    package let last: TransactionNumber
    package let firstEvent: EventNumber
    package let lastEvent: EventNumber
    package let microseconds: Int64
    package let createdMicroseconds: Int64
    package let previousDigest: [UInt8]
    package let digest: [UInt8]
    /// The whole file.
    package let bytes: Data

    static let magic = Array("STRATASG".utf8)
    static let version: UInt32 = 1
    static let headerSize = 160
    static let sumSize = 32

    package var name: SegmentName { SegmentName(first: first, last: last, digest: digest, lineage: lineage) }

    /// Makes the file of consecutive frames.
    ///
    /// - Parameter previousDigest: of the transaction before the first, 32 bytes.
    package init?(_ frames: [LogFrame], of position: LogPosition, previousDigest: [UInt8]) {
        guard let first = frames.first?.record, let last = frames.last?.record else { return nil }
        identifier = position.identifier
        lineage = position.lineage
        self.first = first.number
        self.last = last.number
        firstEvent = first.firstEvent
        lastEvent = last.lastEvent
        microseconds = last.microseconds
        createdMicroseconds = position.createdMicroseconds
        self.previousDigest = previousDigest
        digest = last.digest
        var data = Data(capacity: Self.headerSize + Self.sumSize + frames.reduce(0) { $0 + 8 + $1.bytes.count })
        data.append(Self.header(position, first, last, previousDigest))
        for frame in frames {
            withUnsafeBytes(of: UInt64(frame.bytes.count).littleEndian) { data.append(contentsOf: $0) }
            data.append(frame.bytes)
        }
        data.append(contentsOf: SHA256.hash(data: data))
        bytes = data
    }

    private static func header(
        _ position: LogPosition, _ first: TransactionRecord, _ last: TransactionRecord, _ previousDigest: [UInt8]
    ) -> Data {
        var writer = ByteWriter()
        magic.withUnsafeBytes { writer.append($0) }
        writer.append(littleEndian: version)
        writer.append(littleEndian: UInt32(0))
        withUnsafeBytes(of: position.identifier.uuid) { writer.append($0) }
        withUnsafeBytes(of: position.lineage.uuid) { writer.append($0) }
        writer.append(littleEndian: first.number.rawValue)
        writer.append(littleEndian: last.number.rawValue)
        writer.append(littleEndian: first.firstEvent.rawValue)
        writer.append(littleEndian: last.lastEvent.rawValue)
        writer.append(littleEndian: UInt64(bitPattern: last.microseconds))
        writer.append(littleEndian: UInt64(bitPattern: position.createdMicroseconds))
        previousDigest.withUnsafeBytes { writer.append($0) }
        last.digest.withUnsafeBytes { writer.append($0) }
        return Data(writer.array)
    }

    /// Reads a file, and checks its sum.
    package init(_ data: Data) throws(CorruptRecord) {
        let data = data.startIndex == 0 ? data : Data(data)
        guard data.count >= Self.headerSize + Self.sumSize else { throw CorruptRecord("segment cut short", at: 0) }
        guard data.prefix(8).elementsEqual(Self.magic) else { throw CorruptRecord("not a segment", at: 0) }
        let header = [UInt8](data.prefix(Self.headerSize))
        var fields: Fields?
        do {
            fields = try header.withUnsafeBytes { try Fields($0) }
        } catch {
            throw (error as? CorruptRecord) ?? CorruptRecord("segment that cannot be read", at: 0)
        }
        guard let fields else { throw CorruptRecord("segment that cannot be read", at: 0) }
        let content = data.prefix(data.count - Self.sumSize)
        guard SHA256.hash(data: content).elementsEqual(data.suffix(Self.sumSize)) else {
            throw CorruptRecord("segment whose sum does not match", at: data.count - Self.sumSize)
        }
        identifier = fields.identifier
        lineage = fields.lineage
        first = fields.first
        last = fields.last
        firstEvent = fields.firstEvent
        lastEvent = fields.lastEvent
        microseconds = fields.microseconds
        createdMicroseconds = fields.createdMicroseconds
        previousDigest = fields.previousDigest
        digest = fields.digest
        bytes = data
    }

    private struct Fields {
        let identifier: UUID
        let lineage: UUID
        let first: TransactionNumber
        let last: TransactionNumber
        let firstEvent: EventNumber
        let lastEvent: EventNumber
        let microseconds: Int64
        let createdMicroseconds: Int64
        let previousDigest: [UInt8]
        let digest: [UInt8]

        init(_ bytes: UnsafeRawBufferPointer) throws(CorruptRecord) {
            var reader = ByteReader(bytes)
            _ = try reader.readBytes(8)
            guard try reader.readInteger(as: UInt32.self) == Segment.version else {
                throw CorruptRecord("segment of a newer version", at: 8)
            }
            guard try reader.readInteger(as: UInt32.self) == 0 else {
                throw CorruptRecord("segment with features of a newer version", at: 12)
            }
            identifier = UUID(uuid: try reader.readBytes(16).loadUnaligned(as: uuid_t.self))
            lineage = UUID(uuid: try reader.readBytes(16).loadUnaligned(as: uuid_t.self))
            first = TransactionNumber(rawValue: try reader.readInteger(as: UInt64.self))
            last = TransactionNumber(rawValue: try reader.readInteger(as: UInt64.self))
            firstEvent = EventNumber(rawValue: try reader.readInteger(as: UInt64.self))
            lastEvent = EventNumber(rawValue: try reader.readInteger(as: UInt64.self))
            microseconds = Int64(bitPattern: try reader.readInteger(as: UInt64.self))
            createdMicroseconds = Int64(bitPattern: try reader.readInteger(as: UInt64.self))
            previousDigest = [UInt8](try reader.readBytes(32))
            digest = [UInt8](try reader.readBytes(32))
        }
    }

    /// Calls `body` with each frame until it returns false.
    package func forEachFrame(_ body: (LogFrame) throws -> Bool) throws {
        let end = bytes.count - Self.sumSize
        var offset = Self.headerSize
        while offset < end {
            guard end - offset >= 8 else { throw CorruptRecord("frame cut short", at: offset) }
            let length = bytes.withUnsafeBytes {
                UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
            offset += 8
            guard length <= UInt64(end - offset) else { throw CorruptRecord("frame cut short", at: offset) }
            let frame = try LogFrame(Data(bytes[offset..<offset + Int(length)]))
            offset += Int(length)
            guard try body(frame) else { return }
        }
    }
}
