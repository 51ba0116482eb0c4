import LMDB
import StrataModel

extension RowSalvage {
    /// Takes the records on the pages of a file that cannot be opened: rows, then the changes of later events to them,
    /// deletions and pairs. Of each object and pair the newest that is found counts.
    func readPages(_ carving: LogCarving) throws {
        var revisions: [ObjectID: EventNumber] = [:]
        for (id, row) in carving.rows where row.revision > end {
            guard let bytes = carving.scan.bytes(at: row.location) else { continue }
            try bytes.withUnsafeBytes { bytes in
                guard let stored = salvaged({ try StoredRow(bytes) }) else { return }
                revisions[id] = row.revision
                try add(id, stored.image)
            }
        }
        var pairs = carving.pairs.filter { $0.value.revision > end }.mapValues {
            (revision: $0.revision, positions: Optional($0.positions))
        }
        try carving.forEachEvent(after: end) { event, eventNumber in
            guard !event.isBare else { return }
            let id = event.header.object
            switch event.header.kind {
            case .inserted, .updated, .deleted:
                guard eventNumber > revisions[id] ?? end else { return }
                revisions[id] = eventNumber
                try add(event, of: id)
            case .linked, .unlinked, .moved:
                guard let pair = salvaged({ try event.pair() }), eventNumber > pairs[pair.key]?.revision ?? end else {
                    return
                }
                pairs[pair.key] = (eventNumber, event.header.kind == .unlinked ? nil : pair.positions)
            case .modelInstalled, .maintenance: return
            }
        }
        for (id, eventNumber) in carving.tombstones where eventNumber > max(revisions[id] ?? end, end) {
            try addDeletion(of: id)
        }
        for (pair, state) in pairs { try add(pair, state.positions) }
        try cutDanglingLinks()
    }

    private func add(_ event: EventView, of id: ObjectID) throws {
        switch event.header.kind {
        case .inserted: try add(id, event.payload)
        case .updated: if let changes = salvaged({ try event.changes() }) { try add(id, changes) }
        default: try addDeletion(of: id)
        }
    }
}
