import Locking
import LMDB
import StrataModel

extension StoreFile {
    /// The history for reading a state through a model: the newest, or that of an older model if the state is not
    /// younger.
    func histories(
        _ newest: SchemaHistory, through schema: Schema?, at eventNumber: EventNumber, _ transaction: ReadTransaction
    ) throws -> SchemaHistory {
        guard let schema, let last = newest.newest, schema.version != last.version else { return newest }
        guard schema.version < last.version, try has(schema, at: eventNumber, newest, transaction) else {
            throw StrataError(
                .modelChanged,
                "The state was written under a newer model than \(schema.version.rawValue). Open the store again.",
                context: .init(eventNumber: eventNumber, path: path))
        }
        return try newest.through(schema.version)
    }

    /// Whether a state was written under a model, or under one that extends it.
    private func has(
        _ schema: Schema, at eventNumber: EventNumber, _ newest: SchemaHistory, _ transaction: ReadTransaction
    ) throws -> Bool {
        guard let next = try newest.replacement(of: schema.version) else { return true }
        return try eventNumber < installation(of: next, newest, transaction)
    }

    /// The newest state that can be read through a model. Where all such states were truncated, the end of the log.
    func newestState(
        through schema: Schema, _ head: EventNumber, _ newest: SchemaHistory, _ transaction: ReadTransaction
    ) throws -> EventNumber {
        guard let last = newest.newest, schema.version < last.version,
            let next = try newest.replacement(of: schema.version)
        else { return head }
        let installed = try installation(of: next, newest, transaction)
        let reader = LogReader(transaction, tables, newest)
        if let baseline = try reader.baseline(), installed <= baseline.event { return head }
        let record = try reader.lastTransaction(upTo: try readHead(transaction).transaction) {
            $0.firstEvent <= installed
        }
        // A migration writes events before the model, in the same transaction: none of them ends a state.
        guard let record, record.firstEvent > .zero else { return head }
        return EventNumber(rawValue: record.firstEvent.rawValue - 1)
    }

    /// The model that was the newest at an event.
    func schema(
        at eventNumber: EventNumber, _ newest: SchemaHistory, _ transaction: ReadTransaction
    ) throws -> Schema? {
        let versions = newest.versions
        var found = versions.first
        for version in versions.dropFirst() {
            guard try installation(of: version, newest, transaction) <= eventNumber else { break }
            found = version
        }
        return try found.flatMap { try newest.schema($0) }
    }

    /// The last event of the transaction that installed a model; for a model from before the baseline, that of the
    /// baseline.
    func installation(
        of version: ModelVersion, _ histories: SchemaHistory, _ transaction: ReadTransaction
    ) throws -> EventNumber {
        if let known = installations.withLock({ $0[version] }) { return known }
        let reader = LogReader(transaction, tables, histories)
        // A transaction records the model under which it began.
        let record = try reader.lastTransaction(
            upTo: try readHead(transaction).transaction, where: { $0.modelVersion < version })
        guard let record else {
            if let baseline = try reader.baseline(), version <= baseline.head.modelVersion { return baseline.event }
            throw StrataError(
                .corrupt, "The log does not install model \(version.rawValue).", context: .init(path: path))
        }
        installations.withLock { $0[version] = record.lastEvent }
        return record.lastEvent
    }
}
