package import StrataModel

/// The reasons why objects of a store do not fit a model.
package struct Misfits: Sendable {
    /// In the order in which they were found.
    package let problems: [MigrationProblem]
    /// The objects by the names that their entities have in the new model.
    package let objects: [String: [ObjectID]]
}

extension Store {
    /// Checks every object against a model, with rules for values, as a migration would; writes nothing.
    ///
    /// - Complexity: O(objects that the change of the model concerns).
    package func misfits(
        of model: ManagedObjectModel, _ rules: [MigrationRule], progress: ProgressHandler? = nil
    ) throws -> Misfits {
        try checkOpen()
        return try file.read { transaction, head, histories in
            guard let old = histories.newest else { return Misfits(problems: [], objects: [:]) }
            let migration = try Migration(
                from: old, to: try successor(of: histories, model, transaction),
                LogReader(transaction, file.tables, histories), try file.readHead(transaction).transaction,
                values: rules, blobs: blobs, keys: keyRing)
            let snapshot = Snapshot(
                eventNumber: head, schema: old, transaction: transaction, tables: file.tables, histories: histories,
                layers: [])
            return try migration.failures(snapshot, histories, progress).misfits
        }
    }
}
