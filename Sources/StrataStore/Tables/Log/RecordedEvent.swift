package import Foundation
package import StrataModel

/// One event of the log as a value: its changes, and its position in the log.
///
/// Entities and properties appear as numbers; `RecordedNames` has their names. Large before-images are recorded as
/// `previous`; `Store.resolved(_:)` looks them up.
package struct RecordedEvent: Sendable {
    /// A property with its value in the event.
    package struct Value: Sendable, Hashable {
        package let property: PropertyID
        package let value: RecordedValue
    }

    /// The content of an event, by kind.
    package enum Payload: Sendable {
        /// The new object's values, in slot order.
        case inserted([Value])
        case updated([PropertyChange])
        /// The object's last values.
        case deleted([Value])
        case linked(PairEvent)
        case unlinked(PairEvent)
        case moved(PairEvent)
        case modelInstalled(ModelVersion)
        case maintenance(Data)
        /// The content was removed on purpose.
        case redacted
    }

    package let eventNumber: EventNumber
    package let kind: EventKind
    /// Nil for events that concern no object.
    package let object: ObjectID?
    package let transaction: TransactionNumber
    /// The previous event on the same row, or pair; zero if this is the first.
    package let previous: EventNumber
    package var payload: Payload
    /// Whether values were erased from the event; they read as nil.
    package var isErased = false
    /// Whether values that later events replace were dropped from the event; they read as nil.
    package var isThinned = false
    /// For an event of a migration, resolved: the former numbers of properties that it converted. Their values before
    /// are those of that number.
    package var formers: [PropertyID: PropertyID] = [:]
    /// For an event of a migration, resolved: whether the pair was linked before, under another number.
    package var wasLinked = false

    /// The objects that the event concerns: its own, or both ends of a pair.
    package var objects: [ObjectID] {
        switch payload {
        case .linked(let pair), .unlinked(let pair), .moved(let pair): [pair.key.source, pair.key.target]
        default: object.map { [$0] } ?? []
        }
    }
}

extension RecordedEvent {
    /// Copies an event out of the log.
    init(_ event: EventView, _ eventNumber: EventNumber, _ histories: SchemaHistory) throws {
        let header = event.header
        self.init(
            eventNumber: eventNumber, kind: header.kind, object: header.object.isNil ? nil : header.object,
            transaction: header.transaction, previous: header.previous,
            payload: event.isBare ? .redacted : try Self.payload(event, histories),
            isErased: header.flags.contains(.redacted), isThinned: header.flags.contains(.thinned))
    }

    private static func payload(_ event: EventView, _ histories: SchemaHistory) throws -> Payload {
        let id = event.header.object
        switch event.header.kind {
        case .inserted: return .inserted(try values(of: event.payload, id, histories))
        case .updated: return .updated(try event.changes())
        case .deleted:
            switch try event.deleted() {
            case .image(let image): return .deleted(try values(of: image, id, histories))
            case .values(let list): return .deleted(list.map { Value(property: $0.property, value: $0.value) })
            }
        case .linked: return .linked(try event.pair())
        case .unlinked: return .unlinked(try event.pair())
        case .moved: return .moved(try event.pair())
        case .modelInstalled: return .modelInstalled(try event.installedModel().version)
        case .maintenance: return .maintenance(Data(event.payload))
        }
    }

    private static func values(
        of image: UnsafeRawBufferPointer, _ id: ObjectID, _ histories: SchemaHistory
    ) throws -> [Value] {
        let layout = try histories.layout(of: image, id: id)
        let reader = try RowReader(image, layout: layout)
        var values: [Value] = []
        for (slot, description) in layout.slots.enumerated() where description.storage != nil {
            values.append(Value(property: description.propertyID, value: .value(try reader.value(slot))))
        }
        return values
    }
}

extension LogReader {
    /// The event with every `previous` replaced by the value.
    func resolved(_ event: RecordedEvent) throws -> RecordedEvent {
        guard let id = event.object else { return event }
        var result = event
        switch event.payload {
        case .updated(let changes):
            result.payload = .updated(
                try changes.map { change in
                    var change = change
                    change.before = .value(try resolve(change.before, change.property, of: id, asOf: event.previous))
                    return change
                })
        case .deleted(let values):
            result.payload = .deleted(
                try values.map { value in
                    let resolved = try resolve(value.value, value.property, of: id, asOf: event.previous)
                    return RecordedEvent.Value(property: value.property, value: .value(resolved))
                })
        default: break
        }
        return result
    }
}
