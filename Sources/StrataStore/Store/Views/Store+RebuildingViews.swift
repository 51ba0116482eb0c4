import Crypto
import LMDB
import Locking
import StrataModel

extension Store {
    /// Rebuilds the groups of a view from the objects, in one commit.
    ///
    /// - Returns: whether the view is as it was, byte for byte. A view that was behind the commits or not built yet, or
    ///   that leaves an object out, is not compared, and counts as unchanged.
    /// - Throws: `unknownKey` for a view that the store's model does not have.
    package func rebuild(view name: String) throws -> Bool {
        let result = Locked(false)
        try onWriter { [self] in
            do {
                let isSame = try file.write { transaction in
                    let head = try file.readHead(transaction)
                    let histories = try file.histories(for: head, transaction)
                    let projector = Projector(tables: file.tables, histories: histories, tracking: .independent)
                    guard let schema = histories.newest, let tables = file.tables.views,
                        let view = try IndexMap.of(schema).views.view(named: name)
                    else {
                        throw StrataError(
                            .unknownKey, "The store's model has no view \(name).", context: .init(key: name, path: path)
                        )
                    }
                    let progress = try ViewProgress.read(view.id, transaction, file.tables)
                    let isCompared = view.isWhole(progress, at: head.event)
                    let before = try Self.digest(of: view.id, tables, transaction)
                    try projector.refill(view.id, at: head.event, transaction)
                    return try !isCompared || Self.digest(of: view.id, tables, transaction) == before
                }
                result.withLock { $0 = isSame }
            } catch let fault as ViewFault {
                throw fault.cause
            } catch {
                throw file.publicError(error, during: "rebuilding a view")
            }
        }
        return result.withLock { $0 }
    }

    /// The SHA-256 of a view's records.
    private static func digest(
        of view: ViewID, _ tables: ViewTables, _ transaction: ReadTransaction
    ) throws -> SHA256.Digest {
        var hash = SHA256()
        for table in tables.all {
            try ViewKeys.withPrefix(of: view) { prefix in
                try transaction.withCursor(table) { cursor in
                    var found = try cursor.seek(atOrAfter: prefix)
                    while found, cursor.key.hasPrefix(prefix) {
                        for part in [cursor.key, cursor.value] {
                            withUnsafeBytes(of: part.count) { hash.update(bufferPointer: $0) }
                            hash.update(bufferPointer: part)
                        }
                        found = try cursor.next()
                    }
                }
            }
        }
        return hash.finalize()
    }
}

extension PreparedView {
    /// Whether the view has exactly the groups that a rebuild at an event makes.
    ///
    /// - Parameter progress: the record of the view; nil if it has none.
    func isWhole(_ progress: ViewProgress?, at eventNumber: EventNumber) -> Bool {
        // Without a record, an inline view is kept in each commit, and one that catches up has no groups yet.
        guard let progress else { return isInline }
        return progress.isComplete && progress.position == eventNumber && progress.leftOut.isEmpty
    }
}
