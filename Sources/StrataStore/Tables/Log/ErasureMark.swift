// An erasure that is under way, or has left something to be done, in the table `state`. Little-endian:
//
//   key    "erasing"
//   value  UInt8 flags: 1 = views must be rebuilt
//          author: UInt32 length and UTF-8, length 0xFFFFFFFF = nil
//          metadata: UInt16 count, then key and value, as the author
//          UInt32 count, then UInt32 id of each property; 0 for whole objects
//          UInt32 count, then UInt64 id of each object whose events are still to be changed
//          UInt32 count, then UInt64 event number of each erasure that came from another log and is still to be made
//          UInt32 count, then UInt64 number of each transaction that the shared log still has with its values
//          UInt32 count, then 16 bytes of each subject whose key is still to be destroyed
//          (the last two are missing if both are 0, the last one if it is 0)
//
// The next opening for writing finishes it. The completed erasures are in the mark, too, so that they are found without
// a search of the log:
//
//   key    "erased", UInt64 number of the event, big-endian
//   value  the payload of the event
//
// A copy of an older state has also those that came later in the log it was made from, which tell what its transactions
// have lost:
//
//   key    "forgotten", UInt64 XXH64 of the value, big-endian
//   value  the payload of the event

import LMDB
import StrataModel

/// The work that an erasure has not finished.
struct ErasureMark {
    var mustRebuild = false
    var author: String?
    var metadata: [String: String] = [:]
    var properties: [PropertyID] = []
    /// The objects whose events are still to be changed.
    var objects: [ObjectID] = []
    /// The erasures that came with another log, which this one records, and which are still to be made here.
    var received: [EventNumber] = []
    /// The transactions that the shared log still has with their values.
    var unshared: Set<TransactionNumber> = []
    /// The subjects whose keys are still to be destroyed.
    var subjects: [SubjectID] = []

    static func read(_ transaction: ReadTransaction, _ tables: StoreTables) throws -> ErasureMark? {
        try StoreFile.withKey("erasing") { key in
            guard let bytes = try transaction.get(tables.state, key) else { return nil }
            do throws(CorruptRecord) {
                return try ErasureMark(bytes)
            } catch {
                throw StrataError.corrupt(error, "state")
            }
        }
    }

    func write(_ transaction: WriteTransaction, _ tables: StoreTables) throws {
        var writer = ByteWriter()
        writer.append(UInt8(mustRebuild ? 1 : 0))
        writer.append(text: author)
        writer.append(littleEndian: UInt16(metadata.count))
        for key in metadata.keys.sorted() {
            writer.append(text: key)
            writer.append(text: metadata[key])
        }
        writer.append(littleEndian: UInt32(properties.count))
        for property in properties { writer.append(littleEndian: property.rawValue) }
        writer.append(littleEndian: UInt32(objects.count))
        for id in objects { writer.append(littleEndian: id.rawValue) }
        writer.append(littleEndian: UInt32(received.count))
        for number in received { writer.append(littleEndian: number.rawValue) }
        if !unshared.isEmpty || !subjects.isEmpty {
            writer.append(littleEndian: UInt32(unshared.count))
            for number in unshared.sorted() { writer.append(littleEndian: number.rawValue) }
        }
        if !subjects.isEmpty {
            writer.append(littleEndian: UInt32(subjects.count))
            for subject in subjects { subject.bytes.withUnsafeBytes { writer.append($0) } }
        }
        try StoreFile.withKey("erasing") { try transaction.put(tables.state, $0, writer.bytes) }
    }

    /// Removes the mark from a copy in which no value is left, whatever the log that it was copied from still has to do.
    ///
    /// - Returns: false if values are left.
    static func removeFinished(_ transaction: WriteTransaction, _ state: Table) throws -> Bool {
        try StoreFile.withKey("erasing") { key in
            guard let bytes = try transaction.get(state, key) else { return true }
            let mark: ErasureMark
            do throws(CorruptRecord) { mark = try ErasureMark(bytes) } catch {
                throw StrataError.corrupt(error, "state")
            }
            guard mark.objects.isEmpty, mark.received.isEmpty, !mark.mustRebuild else { return false }
            _ = try transaction.delete(state, key)
            return true
        }
    }

    static func remove(_ transaction: WriteTransaction, _ tables: StoreTables) throws {
        _ = try StoreFile.withKey("erasing") { try transaction.delete(tables.state, $0) }
    }
}

extension ErasureMark {
    private init(_ bytes: UnsafeRawBufferPointer) throws(CorruptRecord) {
        var reader = ByteReader(bytes)
        mustRebuild = try reader.readByte() & 1 != 0
        author = try reader.readText()
        for _ in 0..<(try reader.readInteger(as: UInt16.self)) {
            guard let key = try reader.readText() else {
                throw CorruptRecord("metadata without a key", at: reader.offset)
            }
            metadata[key] = try reader.readText()
        }
        for _ in 0..<(try reader.readInteger(as: UInt32.self)) {
            properties.append(PropertyID(rawValue: try reader.readInteger(as: UInt32.self)))
        }
        for _ in 0..<(try reader.readInteger(as: UInt32.self)) {
            objects.append(ObjectID(rawValue: try reader.readInteger(as: UInt64.self)))
        }
        for _ in 0..<(try reader.readInteger(as: UInt32.self)) {
            received.append(EventNumber(rawValue: try reader.readInteger(as: UInt64.self)))
        }
        if reader.isAtEnd { return }
        for _ in 0..<(try reader.readInteger(as: UInt32.self)) {
            unshared.insert(TransactionNumber(rawValue: try reader.readInteger(as: UInt64.self)))
        }
        if reader.isAtEnd { return }
        for _ in 0..<(try reader.readInteger(as: UInt32.self)) {
            subjects.append(SubjectID(try reader.readBytes(16)))
        }
    }
}

/// The erasures that were made.
enum ErasureList {
    private static let prefix = Array("erased".utf8)

    static func put(
        _ payload: UnsafeRawBufferPointer, at eventNumber: EventNumber, _ transaction: WriteTransaction,
        _ tables: StoreTables
    ) throws {
        var key = ByteWriter()
        prefix.withUnsafeBytes { key.append($0) }
        key.append(bigEndian: eventNumber.rawValue)
        try transaction.put(tables.state, key.bytes, payload)
    }

    private static let elsewherePrefix = Array("forgotten".utf8)

    /// Notes an erasure that another log records, and that has taken values out of transactions of this one.
    static func putElsewhere(
        _ payload: UnsafeRawBufferPointer, _ transaction: WriteTransaction, _ tables: StoreTables
    ) throws {
        var key = ByteWriter()
        elsewherePrefix.withUnsafeBytes { key.append($0) }
        key.append(bigEndian: XXH64.hash(payload))
        try transaction.put(tables.state, key.bytes, payload)
    }

    /// The erasures that only other logs record, encoded.
    static func elsewhere(_ transaction: ReadTransaction, _ tables: StoreTables) throws -> [[UInt8]] {
        var found: [[UInt8]] = []
        try transaction.withCursor(tables.state) { cursor in
            var isThere = try elsewherePrefix.withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
            while isThere, elsewherePrefix.withUnsafeBytes({ cursor.key.hasPrefix($0) }) {
                found.append(Array(cursor.value))
                isThere = try cursor.next()
            }
        }
        return found
    }

    /// The erasure that an event records.
    ///
    /// - Throws: `corrupt` if the list has none.
    static func record(
        at eventNumber: EventNumber, _ transaction: ReadTransaction, _ tables: StoreTables
    ) throws -> ErasureRecord {
        guard let found = try all(transaction, tables).first(where: { $0.eventNumber == eventNumber }) else {
            throw StrataError(.corrupt, "An erasure is missing.", context: .init(eventNumber: eventNumber))
        }
        return found.record
    }

    /// The event of the last erasure; nil without one.
    static func last(_ transaction: ReadTransaction, _ tables: StoreTables) throws -> EventNumber? {
        try transaction.withCursor(tables.state) { cursor in
            var end = prefix
            end.append(.max)
            guard try end.withUnsafeBytes({ try cursor.seek(before: $0) }),
                prefix.withUnsafeBytes({ cursor.key.hasPrefix($0) }), cursor.key.count == prefix.count + 8
            else { return nil }
            return EventNumber(rawValue: StoreKey.objectID(cursor.key, at: prefix.count).rawValue)
        }
    }

    /// In the order of the log.
    static func all(
        _ transaction: ReadTransaction, _ tables: StoreTables
    ) throws -> [(eventNumber: EventNumber, record: ErasureRecord)] {
        try payloads(transaction, tables).map { eventNumber, payload in
            do throws(CorruptRecord) {
                return (eventNumber, try record(payload))
            } catch {
                throw StrataError.corrupt(error, "state")
            }
        }
    }

    static func record(_ payload: [UInt8]) throws(CorruptRecord) -> ErasureRecord {
        let record = try payload.withUnsafeBufferPointer { (bytes) throws(CorruptRecord) in
            try MaintenanceRecord(UnsafeRawBufferPointer(bytes))
        }
        guard case .erased(let erasure) = record else { throw CorruptRecord("an erasure that is none", at: 0) }
        return erasure
    }

    /// The same, encoded.
    static func payloads(
        _ transaction: ReadTransaction, _ tables: StoreTables
    ) throws -> [(eventNumber: EventNumber, payload: [UInt8])] {
        var found: [(eventNumber: EventNumber, payload: [UInt8])] = []
        try transaction.withCursor(tables.state) { cursor in
            var isThere = try prefix.withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
            while isThere, prefix.withUnsafeBytes({ cursor.key.hasPrefix($0) }) {
                guard cursor.key.count == prefix.count + 8 else {
                    throw StrataError.corrupt(CorruptRecord("key of an erasure of another length", at: 0), "state")
                }
                let number = StoreKey.objectID(cursor.key, at: prefix.count).rawValue
                found.append((EventNumber(rawValue: number), Array(cursor.value)))
                isThere = try cursor.next()
            }
        }
        return found
    }
}

extension StoreFile {
    /// Notes in the header that the store has erased events, which older versions cannot read.
    func noteErasures(_ transaction: WriteTransaction) throws { try Self.noteErasures(tables, transaction) }

    static func noteErasures(_ tables: StoreTables, _ transaction: WriteTransaction) throws {
        try changeHeader(tables, transaction) { $0.hasErasures = true }
    }
}
