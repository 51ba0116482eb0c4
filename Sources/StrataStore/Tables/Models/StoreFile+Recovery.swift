import Logging
import Foundation
import LMDB
import StrataModel

extension StoreFile {
    /// The models that a store opens with. If the view that holds them is damaged or lacks the newest, they are read
    /// from the log, so that such a store can still be inspected, verified and rebuilt.
    static func modelsAtOpening(_ tables: StoreTables, _ transaction: ReadTransaction) throws -> SchemaHistory {
        let models = Result { try readModels(tables, transaction) }
        guard let bytes = try meta("head", tables, transaction), bytes.count == LogHead.size,
            let (last, newest) = try? LogHead.lastEvent(bytes)
        else { return try models.get() }
        if case .success(let histories) = models, histories.newest?.version ?? .init(rawValue: 0) >= newest {
            return histories
        }
        guard let recovered = try? modelsOfLog(tables, transaction, through: last),
            recovered.newest?.version == newest
        else { return try models.get() }
        StoreLogger.shared.warning("the view of models is damaged; they were read from the log")
        return recovered
    }

    private static func modelsOfLog(
        _ tables: StoreTables, _ transaction: ReadTransaction, through last: EventNumber
    ) throws -> SchemaHistory {
        var schemas: [Schema] = []
        let log = LogReader(transaction, tables, SchemaHistory([]))
        try log.events(from: EventNumber(rawValue: 1), through: last) { event, _ in
            if event.header.kind == .modelInstalled {
                schemas.append(try SchemaRecord.schema(from: event.installedModel().record))
            }
            return true
        }
        return SchemaHistory(schemas)
    }
}
