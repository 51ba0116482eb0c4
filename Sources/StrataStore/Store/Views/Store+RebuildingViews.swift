import Crypto
import LMDB
import Locking
import StrataModel

extension Store {
    /// Rebuilds the groups of a view from the objects, in one commit.
    ///
    /// - Returns: whether the view is as it was, byte for byte. A view that was behind the commits is not compared, and
    ///   counts as unchanged.
    /// - Throws: `unknownKey` for a view that the store's model does not have.
    package func rebuild(view name: String) throws -> Bool {
        let result = Locked(false)
        try onWriter { [self] in
            do {
                let isSame = try file.write { transaction in
                    let head = try file.readHead(transaction)
                    let histories = try file.histories(for: head, transaction)
                    let projector = Projector(tables: file.tables, histories: histories, tracking: .independent)
                    guard let id = histories.newest?.assignment.views[name], let tables = file.tables.views else {
                        throw StrataError(
                            .unknownKey, "The store's model has no view \(name).", context: .init(key: name, path: path)
                        )
                    }
                    let progress = try ViewProgress.read(id, transaction, file.tables)
                    let isBehind = progress.map { !$0.isComplete || $0.position < head.event } ?? false
                    let before = try Self.digest(of: id, tables, transaction)
                    try projector.refill(id, at: head.event, transaction)
                    return try isBehind || Self.digest(of: id, tables, transaction) == before
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
