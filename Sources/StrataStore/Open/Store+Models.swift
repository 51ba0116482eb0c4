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
            try core.environment.write(timeout: core.options.writerLockTimeout) { transaction in
                var head = try core.readHead(transaction)
                let histories = try core.histories(for: head, transaction)
                if let newest = histories.newest {
                    if newest.model.entities == model.entities { return }
                }
                let assignment = try (histories.newest?.assignment ?? ModelAssignment())
                    .extended(for: model, from: histories.newest)
                let version = ModelVersion(rawValue: head.modelVersion.rawValue + 1)
                let schema = try Schema(version: version, model: model, assignment: assignment)
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
}
