import Foundation
package import StrataModel
import StrataStore

// Makes events and transactions for apps from the records of the log.

extension Store {
    /// Adds to events the names of their entities and properties, and the transactions that they belong to.
    func named(_ recorded: [RecordedEvent]) throws -> [HistoryEvent] {
        let names = try recordedNames()
        var transactions: [TransactionNumber: HistoryTransaction] = [:]
        return try recorded.map { event in
            let transaction: HistoryTransaction
            if let known = transactions[event.transaction] {
                transaction = known
            } else if let record = try self.transaction(event.transaction) {
                transaction = try HistoryTransaction(record)
                transactions[event.transaction] = transaction
            } else {
                throw StrataError(
                    .corrupt, "The log has an event without its transaction.",
                    context: .init(eventNumber: event.eventNumber))
            }
            return try HistoryEvent(try resolved(event).decrypted(keyRing), transaction, names)
        }
    }
}

extension HistoryTransaction {
    package static let reasonKey = MaintenanceNote.reasonKey
    static let correlationKey = "strata.correlation"

    /// The transaction of a record, with what libraries put into its metadata as values.
    package init(_ record: TransactionRecord) throws {
        var metadata = record.metadata
        let reason = metadata.removeValue(forKey: Self.reasonKey)
        let correlationID = metadata.removeValue(forKey: Self.correlationKey)
        let conflicts = try metadata.removeValue(forKey: ConflictRecord.metadataKey).map { text in
            do { return try ConflictRecord.decode(text) } catch {
                throw StrataError(
                    .corrupt, "The record of a merge's conflicts is damaged.",
                    context: .init(eventNumber: record.lastEvent),
                    cause: error)
            }
        }
        self.init(
            number: record.number, id: record.id, date: record.date, author: record.author,
            contextName: record.contextName, processName: record.processName, reason: reason,
            correlationID: correlationID, metadata: metadata,
            firstEvent: record.firstEvent, lastEvent: record.lastEvent, conflicts: conflicts ?? [])
    }
}

extension HistoryEvent {
    fileprivate init(
        _ event: RecordedEvent, _ transaction: HistoryTransaction, _ names: RecordedNames
    ) throws {
        self.init(
            eventNumber: event.eventNumber, kind: Kind(event.kind), objectID: event.object,
            entityName: event.object.map { names.name(of: $0.entityID) },
            changes: try Self.changes(event.payload, of: event.object?.entityID, names, event.eventNumber),
            isErased: event.isErased, isThinned: event.isThinned, transaction: transaction)
    }

    private static func record(_ payload: Data, _ eventNumber: EventNumber) throws -> MaintenanceRecord {
        do {
            return try payload.withUnsafeBytes { try MaintenanceRecord($0) }
        } catch {
            throw StrataError(
                .corrupt, "The record of a maintenance event is damaged.", context: .init(eventNumber: eventNumber),
                cause: error)
        }
    }

    private static func changes(_ record: MaintenanceRecord) -> [Change] {
        switch record {
        case .tagged(let name, let eventNumber):
            [
                Change("tag", .null, .string(name), nil),
                Change("event", .null, .integer(Int64(bitPattern: eventNumber.rawValue)), nil),
            ]
        case .untagged(let name): [Change("tag", .string(name), .null, nil)]
        case .metadata(let before, let after):
            after.keys.sorted().map { Change($0, before[$0] ?? .null, after[$0] ?? .null, nil) }
        case .erased(let erasure):
            [
                Change("objects", .null, .integer(Int64(erasure.objects.count)), nil),
                Change("events", .null, .integer(Int64(erasure.eventCount)), nil),
            ]
        case .thinned(let thinning):
            [Change("event", .null, .integer(Int64(bitPattern: thinning.cut.rawValue)), nil)]
        case .note, .unknown: []
        }
    }

    private static func changes(
        _ payload: RecordedEvent.Payload, of entity: EntityID?, _ names: RecordedNames, _ eventNumber: EventNumber
    ) throws -> [Change] {
        switch payload {
        case .inserted(let values):
            values.map { Change(names.name(of: $0.property, in: entity), .null, $0.value.known, names) }
                .filter { !$0.after.isNull }
        case .deleted(let values):
            values.map { Change(names.name(of: $0.property, in: entity), $0.value.known, .null, names) }
                .filter { !$0.before.isNull }
        case .updated(let changes):
            changes.map { Change(names.name(of: $0.property, in: entity), $0.before.known, $0.after.known, names) }
        case .linked(let pair):
            [
                Change(
                    names.name(of: pair.key), .null, .objectID(pair.key.target),
                    names)
            ]
        case .unlinked(let pair):
            [
                Change(
                    names.name(of: pair.key), .objectID(pair.key.target), .null,
                    names)
            ]
        case .moved(let pair):
            [
                Change(
                    names.name(of: pair.key), .objectID(pair.key.target),
                    .objectID(pair.key.target), names)
            ]
        case .modelInstalled(let version):
            [Change("modelVersion", .null, .integer(Int64(version.rawValue)), nil)]
        case .maintenance(let payload): changes(try record(payload, eventNumber))
        case .redacted: []
        }
    }
}

extension HistoryEvent.Kind {
    fileprivate init(_ kind: EventKind) {
        self =
            switch kind {
            case .inserted: .inserted
            case .updated: .updated
            case .deleted: .deleted
            case .linked: .linked
            case .unlinked: .unlinked
            case .moved: .moved
            case .modelInstalled: .modelInstalled
            case .maintenance: .maintenance
            }
    }
}
