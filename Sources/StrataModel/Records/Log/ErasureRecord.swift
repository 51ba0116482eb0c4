// The record of an erasure, in the payload of its maintenance event (MaintenanceRecord.swift) after the first byte.
// Little-endian:
//
//   width  field
//   4      number of objects, then UInt64 id of each, ascending
//   4      number of properties whose values were erased, then UInt32 id of each, ascending; 0 for whole objects
//   8      number of events that were changed
//   4      number of transaction records that lost texts, then for each, ascending: UInt64 number, 32 bytes: the digest
//          of the record as it is, made like that of the record as it was (TransactionRecord.swift)

/// The objects and properties of an erasure, and its changes of the log.
package struct ErasureRecord: Sendable, Hashable {
    /// A transaction whose record lost texts.
    package struct ChangedTransaction: Sendable, Hashable {
        package var number: TransactionNumber
        /// The digest of the record as it is.
        package var digest: [UInt8]

        package init(number: TransactionNumber, digest: [UInt8]) {
            self.number = number
            self.digest = digest
        }
    }

    /// Ascending.
    package var objects: [ObjectID]
    /// The properties whose values were erased, ascending; empty if whole objects were.
    package var properties: [PropertyID]
    /// The number of events that were changed.
    package var eventCount: Int
    package var transactions: [ChangedTransaction]

    package init(
        objects: [ObjectID], properties: [PropertyID], eventCount: Int = 0, transactions: [ChangedTransaction] = []
    ) {
        self.objects = objects
        self.properties = properties
        self.eventCount = eventCount
        self.transactions = transactions
    }

    /// Reads the whole rest of a payload.
    package init(_ reader: inout ByteReader) throws(CorruptRecord) {
        objects = []
        for _ in 0..<(try reader.readInteger(as: UInt32.self)) {
            objects.append(ObjectID(rawValue: try reader.readInteger(as: UInt64.self)))
        }
        properties = []
        for _ in 0..<(try reader.readInteger(as: UInt32.self)) {
            properties.append(PropertyID(rawValue: try reader.readInteger(as: UInt32.self)))
        }
        eventCount = Int(truncatingIfNeeded: try reader.readInteger(as: UInt64.self))
        transactions = []
        for _ in 0..<(try reader.readInteger(as: UInt32.self)) {
            let number = TransactionNumber(rawValue: try reader.readInteger(as: UInt64.self))
            transactions.append(ChangedTransaction(number: number, digest: [UInt8](try reader.readBytes(32))))
        }
        guard reader.remaining == 0 else { throw CorruptRecord("bytes after an erasure", at: reader.offset) }
    }

    package func encode(into writer: inout ByteWriter) {
        writer.append(littleEndian: UInt32(objects.count))
        for id in objects { writer.append(littleEndian: id.rawValue) }
        writer.append(littleEndian: UInt32(properties.count))
        for property in properties { writer.append(littleEndian: property.rawValue) }
        writer.append(littleEndian: UInt64(eventCount))
        writer.append(littleEndian: UInt32(transactions.count))
        for transaction in transactions {
            writer.append(littleEndian: transaction.number.rawValue)
            transaction.digest.withUnsafeBytes { writer.append($0) }
        }
    }
}

extension EventView {
    /// The erasure that the event records; nil if it records something else.
    package func erasure() throws(CorruptRecord) -> ErasureRecord? {
        guard header.kind == .maintenance, !isBare, case .erased(let erasure) = try MaintenanceRecord(payload) else {
            return nil
        }
        return erasure
    }
}
