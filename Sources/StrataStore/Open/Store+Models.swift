import Foundation
import LMDB
import StrataModel

extension Store {
    /// Makes `model` the store's newest if it is not; nil keeps what the store has.
    func adopt(_ model: ManagedObjectModel?) throws {
        guard let model else {
            guard core.histories.newest != nil else {
                throw StrataError(.invalidModel, "The store has no model yet.", context: .init(path: path))
            }
            return
        }
        if let newest = core.histories.newest, newest.model.entities == model.entities { return }
        if isReadOnly { return try refuseWhenDifferent(model) }
        try onWriter { [self] in try install(model) }
    }

    private func refuseWhenDifferent(_ model: ManagedObjectModel) throws {
        throw StrataError(
            .persistentStoreIncompatibleVersionHash,
            "The store has another model version, and is open for reading only.", context: .init(path: path))
    }

    /// On the writer's thread: one transaction with one event, and the indexes that are new.
    private func install(_ model: ManagedObjectModel) throws {
        do {
            try core.write { transaction in
                var head = try core.readHead(transaction)
                let histories = try core.histories(for: head, transaction)
                if let newest = histories.newest {
                    if newest.model.entities == model.entities { return }
                }
                let assignment = try (histories.newest?.assignment ?? ModelAssignment())
                    .extended(for: model, from: histories.newest)
                let version = ModelVersion(rawValue: head.modelVersion.rawValue + 1)
                let schema = try Schema(version: version, model: model, assignment: assignment)
                if let newest = histories.newest {
                    let difference = SchemaDifference(from: newest, to: schema)
                    if difference.isSame { return }
                    try refuseWhatNeedsMigration(difference, at: head, transaction)
                }
                var projector = Projector(tables: core.tables, histories: histories, tracking: .independent)
                var events = EventList(transaction: TransactionSequence(rawValue: head.transaction.rawValue + 1))
                var payload = ByteWriter()
                payload.append(littleEndian: version.rawValue)
                try SchemaRecord(schema).encoded().withUnsafeBytes { payload.append($0) }
                events.append(.modelInstalled, ObjectID(rawValue: 0), previous: .zero, payload)
                let description = TransactionDescription(id: UUID(), author: "strata")
                _ = try LogWriter.append(events, description, after: &head, core, transaction, &projector)
            }
            try core.read { _, _, _ in }
        } catch {
            throw core.publicError(error, during: "installing a model")
        }
    }

    /// A model may replace another while every row and link ever written can be read through it.
    ///
    /// Rows that are there must have what the new model requires; rules that got narrower hold for what is saved from
    /// now on.
    private func refuseWhatNeedsMigration(
        _ difference: SchemaDifference, at head: LogHead, _ transaction: WriteTransaction
    ) throws {
        // Nothing but models was ever written.
        if head.event.rawValue == UInt64(head.modelVersion.rawValue) { return }
        let refused = try difference.changes.filter { change in
            switch change.cost {
            case .constantTime, .build: false
            case .scan: try change.kind != .rules && hasObjects(change.entityIDs, transaction)
            case .rewrite: true
            }
        }
        guard !refused.isEmpty else { return }
        throw StrataError(
            .migration, "The store's objects do not fit the new model; it needs a migration.",
            context: .init(path: path),
            details: refused.map {
                StrataError(.migration, $0.sentence, context: .init(entityName: $0.entityName, key: $0.key))
            })
    }

    private func hasObjects(_ entities: [EntityID], _ transaction: WriteTransaction) throws -> Bool {
        try entities.contains { entity in
            try CounterKey.entity(entity).withBytes { key in
                guard let value = try transaction.get(core.tables.counts, key) else { return false }
                return try CounterKey.value(value) > 0
            }
        }
    }
}
