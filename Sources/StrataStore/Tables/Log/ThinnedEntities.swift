// The events up to which the history of entities is thinned (ThinnedRecord.swift), in the table `state`, so that they
// are found without a search of the log. Little-endian:
//
//   key    "thinned", UInt16 id of the entity, big-endian
//   value  UInt64 number of the last event up to which values are dropped: the cut
//          UInt64 number of the last event up to which that was completed; less than the cut while it is under way, more
//                 if there was nothing to drop up to there; an entity of which nothing was dropped yet has the cut 0
//          UInt64 number of the maintenance event that says so

import LMDB
package import StrataModel

/// The event up to which the history of one entity is thinned, and the state of a thinning that is under way.
package struct ThinnedEntity: Sendable, Hashable {
    /// The last event up to which values that later ones replace are dropped.
    package var cut: EventNumber
    /// The last event up to which all of them are gone.
    package var done: EventNumber
    /// The maintenance event that says so.
    package var record: EventNumber

    /// Whether values up to the cut may still be there.
    package var isUnfinished: Bool { done < cut }

    init(cut: EventNumber, done: EventNumber, record: EventNumber) {
        self.cut = cut
        self.done = done
        self.record = record
    }

    fileprivate init(_ bytes: UnsafeRawBufferPointer) throws(CorruptRecord) {
        var reader = ByteReader(bytes)
        cut = EventNumber(rawValue: try reader.readInteger(as: UInt64.self))
        done = EventNumber(rawValue: try reader.readInteger(as: UInt64.self))
        record = EventNumber(rawValue: try reader.readInteger(as: UInt64.self))
        guard reader.remaining == 0 else { throw CorruptRecord("bytes after a thinned entity", at: reader.offset) }
    }

    fileprivate func encoded() -> ByteWriter {
        var writer = ByteWriter()
        writer.append(littleEndian: cut.rawValue)
        writer.append(littleEndian: done.rawValue)
        writer.append(littleEndian: record.rawValue)
        return writer
    }
}

/// The entities whose history is thinned.
enum ThinnedEntities {
    private static let prefix = Array("thinned".utf8)

    static func all(_ transaction: ReadTransaction, _ tables: StoreTables) throws -> [EntityID: ThinnedEntity] {
        var found: [EntityID: ThinnedEntity] = [:]
        try transaction.withCursor(tables.state) { cursor in
            var isThere = try prefix.withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
            while isThere, prefix.withUnsafeBytes({ cursor.key.hasPrefix($0) }) {
                do throws(CorruptRecord) {
                    guard cursor.key.count == prefix.count + 2 else {
                        throw CorruptRecord("key of a thinned entity of another length", at: 0)
                    }
                    let id = cursor.key.loadUnaligned(fromByteOffset: prefix.count, as: UInt16.self)
                    found[EntityID(rawValue: UInt16(bigEndian: id))] = try ThinnedEntity(cursor.value)
                } catch {
                    throw StrataError.corrupt(error, "state")
                }
                isThere = try cursor.next()
            }
        }
        return found
    }

    static func put(
        _ state: ThinnedEntity, _ entity: EntityID, _ transaction: WriteTransaction, _ tables: StoreTables
    ) throws {
        var key = ByteWriter()
        prefix.withUnsafeBytes { key.append($0) }
        key.append(bigEndian: entity.rawValue)
        let value = state.encoded()
        try transaction.put(tables.state, key.bytes, value.bytes)
    }

    /// Takes over the thinnings of a maintenance event of the log. Values up to the cut may still be there.
    static func note(
        _ record: ThinnedRecord, at eventNumber: EventNumber, _ transaction: WriteTransaction, _ tables: StoreTables
    ) throws {
        let known = try all(transaction, tables)
        for entity in record.entities where record.cut > known[entity]?.cut ?? .zero {
            let state = ThinnedEntity(cut: record.cut, done: known[entity]?.done ?? .zero, record: eventNumber)
            try put(state, entity, transaction, tables)
        }
        try StoreFile.noteThinning(tables, transaction)
    }

    /// The error for a moment at which values of an entity are missing.
    static func refusal(_ eventNumber: EventNumber, _ entity: EntityID, _ log: LogReader) throws -> StrataError {
        let name = RecordedNames(log.histories).name(of: entity)
        guard let cut = try all(log.transaction, log.tables)[entity]?.cut,
            let record = try log.transaction(log.event(cut) { $0.header.transaction })
        else {
            return StrataError(
                .historyDropped, "The history of \(name) was thinned, and its values of that time are gone.",
                context: .init(entityName: name, eventNumber: eventNumber))
        }
        return StrataError(
            .historyDropped,
            "The history of \(name) was thinned up to event \(cut) (transaction \(record.number)); its values in states "
                + "before that are gone.",
            context: .init(
                entityName: name, eventNumber: eventNumber,
                baseline: HistoryBaseline(eventNumber: cut, transaction: record.number, date: record.date)))
    }
}

extension LogReader {
    /// - Throws: `historyDropped` if the event has lost values to a thinning.
    func checkValues(of event: RecordedEvent) throws {
        guard event.isThinned, let id = event.object else { return }
        throw try ThinnedEntities.refusal(
            EventNumber(rawValue: event.eventNumber.rawValue - 1), id.entityID, self)
    }
}

extension LogFrame {
    /// - Throws: `historyDropped` if an event has lost values to a thinning.
    func checkValues(_ log: LogReader) throws {
        try withRecords { _, events in
            for event in events {
                let header = try EventView(sealed: event).header
                guard header.flags.contains(.thinned) else { continue }
                throw try ThinnedEntities.refusal(
                    EventNumber(rawValue: record.firstEvent.rawValue - 1), header.object.entityID, log)
            }
        }
    }
}

extension StoreFile {
    /// Notes in the header that entities have a thinned history, which older versions cannot read.
    static func noteThinning(_ tables: StoreTables, _ transaction: WriteTransaction) throws {
        try changeHeader(tables, transaction) { $0.isThinned = true }
    }
}
