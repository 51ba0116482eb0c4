// The payloads of events: changes of properties, pairs, and the last values of deleted objects.

package import Foundation

/// The change of one property in an `updated` event.
package struct PropertyChange: Sendable, Hashable {
    package var property: PropertyID
    package var before: RecordedValue
    package var after: RecordedValue

    package init(property: PropertyID, before: RecordedValue, after: RecordedValue) {
        self.property = property
        self.before = before
        self.after = after
    }
}

/// The content of a `linked`, `unlinked` or `moved` event.
package struct PairEvent: Sendable, Hashable {
    package var key: PairKey
    /// The positions after (linked, moved) or before (unlinked) the event.
    package var positions: PairPositions
    /// The positions of a moved pair before the event.
    package var positionsBefore: PairPositions?

    package init(key: PairKey, positions: PairPositions, positionsBefore: PairPositions? = nil) {
        self.key = key
        self.positions = positions
        self.positionsBefore = positionsBefore
    }
}

/// The content of a `deleted` event: the last values of the object.
package enum DeletedPayload {
    case image(UnsafeRawBufferPointer)
    case values([(property: PropertyID, value: RecordedValue)])
}

// MARK: - Reading

extension EventView {
    /// The changes of an `updated` event.
    package func changes() throws(CorruptRecord) -> [PropertyChange] {
        var reader = ByteReader(payload)
        let count = Int(try reader.readInteger(as: UInt16.self))
        var changes: [PropertyChange] = []
        changes.reserveCapacity(min(count, reader.remaining / 6))
        for _ in 0..<count {
            let property = PropertyID(rawValue: try reader.readInteger(as: UInt32.self))
            let before = try ValueCodec.decodeRecorded(&reader)
            let after = try ValueCodec.decodeRecorded(&reader)
            changes.append(PropertyChange(property: property, before: before, after: after))
        }
        guard reader.remaining == 0 else { throw CorruptRecord("bytes after the last change", at: reader.offset) }
        return changes
    }

    /// Calls `body` with each property of an `updated` event and the bytes of its value before, as `ValueCodec` writes
    /// them; nil if the value is in the object's previous event. Decodes no values.
    package func forEachBeforeImage(
        _ body: (PropertyID, UnsafeRawBufferPointer?) throws -> Void
    ) throws {
        var reader = ByteReader(payload)
        for _ in 0..<Int(try reader.readInteger(as: UInt16.self)) {
            let property = PropertyID(rawValue: try reader.readInteger(as: UInt32.self))
            let start = reader.offset
            let isRecorded = try ValueCodec.skipRecorded(&reader)
            let value = UnsafeRawBufferPointer(rebasing: payload[start..<reader.offset])
            _ = try ValueCodec.skipRecorded(&reader)
            try body(property, isRecorded ? value : nil)
        }
        guard reader.remaining == 0 else { throw CorruptRecord("bytes after the last change", at: reader.offset) }
    }

    /// The last values in a `deleted` event.
    package func deleted() throws(CorruptRecord) -> DeletedPayload {
        var reader = ByteReader(payload)
        switch try reader.readByte() {
        case 0: return .image(UnsafeRawBufferPointer(rebasing: payload[1...]))
        case 1:
            let count = Int(try reader.readInteger(as: UInt16.self))
            var values: [(property: PropertyID, value: RecordedValue)] = []
            values.reserveCapacity(min(count, reader.remaining / 5))
            for _ in 0..<count {
                let property = PropertyID(rawValue: try reader.readInteger(as: UInt32.self))
                values.append((property, try ValueCodec.decodeRecorded(&reader)))
            }
            guard reader.remaining == 0 else { throw CorruptRecord("bytes after the last value", at: reader.offset) }
            return .values(values)
        default: throw CorruptRecord("unknown form of a deleted event", at: 0)
        }
    }

    /// The pair of a `linked`, `unlinked` or `moved` event.
    package func pair() throws(CorruptRecord) -> PairEvent {
        var reader = ByteReader(payload)
        let property = PropertyID(rawValue: try reader.readInteger(as: UInt32.self))
        let source = ObjectID(rawValue: try reader.readInteger(as: UInt64.self))
        let target = ObjectID(rawValue: try reader.readInteger(as: UInt64.self))
        let first = try Self.positions(&reader)
        let key = PairKey(property: property, source: source, target: target)
        guard header.kind == .moved else {
            guard reader.remaining == 0 else { throw CorruptRecord("bytes after a pair", at: reader.offset) }
            return PairEvent(key: key, positions: first)
        }
        let second = try Self.positions(&reader)
        guard reader.remaining == 0 else { throw CorruptRecord("bytes after a pair", at: reader.offset) }
        return PairEvent(key: key, positions: second, positionsBefore: first)
    }

    private static func positions(_ reader: inout ByteReader) throws(CorruptRecord) -> PairPositions {
        let inSource = Int64(bitPattern: try reader.readInteger(as: UInt64.self))
        return PairPositions(inSource: inSource, inTarget: Int64(bitPattern: try reader.readInteger(as: UInt64.self)))
    }

    /// The version and the schema record of a `modelInstalled` event.
    package func installedModel() throws(CorruptRecord) -> (version: ModelVersion, record: Data) {
        var reader = ByteReader(payload)
        let version = ModelVersion(rawValue: try reader.readInteger(as: UInt32.self))
        return (version, Data(payload[4...]))
    }
}

// MARK: - Writing

extension ByteWriter {
    package mutating func append(changes: [PropertyChange]) throws(UnstorableValue) {
        append(littleEndian: UInt16(changes.count))
        for change in changes {
            append(littleEndian: change.property.rawValue)
            try ValueCodec.encode(change.before, into: &self)
            try ValueCodec.encode(change.after, into: &self)
        }
    }

    package mutating func append(lastValues: [(property: PropertyID, value: RecordedValue)]) throws(UnstorableValue) {
        append(UInt8(1))
        append(littleEndian: UInt16(lastValues.count))
        for (property, value) in lastValues {
            append(littleEndian: property.rawValue)
            try ValueCodec.encode(value, into: &self)
        }
    }

    package mutating func append(pair: PairEvent) {
        append(littleEndian: pair.key.property.rawValue)
        append(littleEndian: pair.key.source.rawValue)
        append(littleEndian: pair.key.target.rawValue)
        if let before = pair.positionsBefore { append(positions: before) }
        append(positions: pair.positions)
    }

    private mutating func append(positions: PairPositions) {
        append(littleEndian: UInt64(bitPattern: positions.inSource))
        append(littleEndian: UInt64(bitPattern: positions.inTarget))
    }
}
