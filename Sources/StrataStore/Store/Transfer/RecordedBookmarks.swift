import LMDB
import StrataModel

/// The tags and metadata that maintenance events of the log set and remove, and how far these thin entities.
struct RecordedBookmarks {
    private var tags: [String: EventNumber?] = [:]
    private var metadataChanges: [[String: AttributeValue]] = []
    private var thinnings: [(record: ThinnedRecord, eventNumber: EventNumber)] = []

    /// Whether an event says that entities are thinned.
    var hasThinnings: Bool { !thinnings.isEmpty }

    /// Notes the tag, the metadata or the thinning of a maintenance event.
    mutating func note(_ event: EventView, _ number: EventNumber) throws {
        guard event.header.kind == .maintenance, !event.header.flags.isReduced else { return }
        switch try MaintenanceRecord(event.payload) {
        case .tagged(let name, let eventNumber): tags[name] = .some(eventNumber)
        case .untagged(let name): tags[name] = .some(nil)
        case .metadata(_, let changes): metadataChanges.append(changes)
        case .thinned(let record): thinnings.append((record, number))
        case .erased, .note, .unknown: break
        }
    }

    /// Carries the changes out in the state of a store.
    ///
    /// - Parameter first: tags of earlier states are left out, because these are no longer kept.
    func write(_ transaction: WriteTransaction, _ tables: StoreTables, from first: EventNumber = .zero) throws {
        for (name, eventNumber) in tags {
            if let eventNumber {
                guard eventNumber >= first else { continue }
                try Bookmark.tag.put(name, eventNumber.rawValue, transaction, tables)
            } else {
                _ = try Bookmark.tag.remove(name, transaction, tables)
            }
        }
        for (record, number) in thinnings { try ThinnedEntities.note(record, at: number, transaction, tables) }
        guard !metadataChanges.isEmpty else { return }
        var metadata = try StoreMetadata.read(transaction, tables)
        for changes in metadataChanges { StoreMetadata.apply(changes, to: &metadata) }
        try StoreMetadata.write(metadata, transaction, tables)
    }
}
