// A thinning of the history of some entities, in the payload of its maintenance event (MaintenanceRecord.swift) after the
// first byte. Little-endian:
//
//   width  field
//   8      number of the last event up to which values are dropped: the cut
//   2      number of entities, then UInt16 id of each, ascending
//
// Of the events up to the cut on the row of an object of such an entity, an attribute's value stays only in the last one
// that names it, if the object exists at the cut. What is dropped reads as nil, or as the default that rows which are too
// old for the attribute have, and the event gets flag 16. Links, times and everything else stay. So a replay leads to the
// same state at the cut; states before it can only be read where nothing is missing.

/// The entities that have lost values which were replaced up to a cut.
package struct ThinnedRecord: Sendable, Hashable {
    /// The last event up to which values are dropped.
    package var cut: EventNumber
    /// Ascending.
    package var entities: [EntityID]

    package init(cut: EventNumber, entities: [EntityID]) {
        self.cut = cut
        self.entities = entities
    }

    /// Reads the whole rest of a payload.
    package init(_ reader: inout ByteReader) throws(CorruptRecord) {
        cut = EventNumber(rawValue: try reader.readInteger(as: UInt64.self))
        entities = []
        for _ in 0..<(try reader.readInteger(as: UInt16.self)) {
            entities.append(EntityID(rawValue: try reader.readInteger(as: UInt16.self)))
        }
        guard reader.remaining == 0 else { throw CorruptRecord("bytes after a thinning", at: reader.offset) }
    }

    package func encode(into writer: inout ByteWriter) {
        writer.append(littleEndian: cut.rawValue)
        writer.append(littleEndian: UInt16(entities.count))
        for entity in entities { writer.append(littleEndian: entity.rawValue) }
    }
}

extension EventView {
    /// The thinning that the event records; nil if it records something else.
    package func thinning() throws(CorruptRecord) -> ThinnedRecord? {
        guard header.kind == .maintenance, !isBare, case .thinned(let record) = try MaintenanceRecord(payload) else {
            return nil
        }
        return record
    }
}
