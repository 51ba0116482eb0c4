import LMDB
import Logging
import StrataModel
import Synchronization

extension Store {
    /// Unlinks pairs with objects of entities that have left the model.
    ///
    /// A migration unlinks them. Earlier versions did not, and what they have left is members that no context can show.
    /// Where that cannot be done, as on a full disk or in a store that is only read, the store opens all the same, and
    /// snapshots pass over them. The next opening for writing tries again.
    ///
    /// - Complexity: a look-up for each entity that has left the model and each many-to-many, if nothing is to be done.
    func unlinkGoneMembers() {
        do {
            let count = isReadOnly || file.options.receivesOnly ? 0 : try unlinkPairsOfGoneObjects()
            if count > 0 {
                StoreLogger.shared.notice(
                    "\(count) links of \(path) to objects whose entity has left the model were removed")
            }
            snapshots.hasGoneMembers.store(try !pairsOfGoneObjects(limit: 1).isEmpty, ordering: .relaxed)
        } catch {
            snapshots.hasGoneMembers.store(true, ordering: .relaxed)
            StoreLogger.shared.warning(
                "links of \(path) to objects whose entity has left the model could not be removed: \(error)")
        }
    }

    /// - Returns: how many there were.
    private func unlinkPairsOfGoneObjects() throws -> Int {
        var count = 0
        var last: [PairKey] = []
        while true {
            let keys = try pairsOfGoneObjects(limit: 10_000)
            // A link without its pair is damage, which a verification names.
            if keys.isEmpty || keys == last { break }
            last = keys
            var changes = ChangeSet(
                base: try head(), modelVersion: schema.version, author: "strata", contextName: "mending")
            changes.pairs = keys.map { ChangeSet.PairChange(key: $0, kind: .unlink) }
            guard case .saved = try save(changes) else { break }
            count += keys.count
        }
        return count
    }

    private func pairsOfGoneObjects(limit: Int) throws -> [PairKey] {
        try file.read { transaction, _, histories in
            try Self.pairsOfGoneObjects(transaction, file.tables, histories.newest, limit: limit)
        }
    }

    private static func pairsOfGoneObjects(
        _ transaction: ReadTransaction, _ tables: StoreTables, _ schema: Schema?, limit: Int
    ) throws -> [PairKey] {
        guard let schema else { return [] }
        let gone = schema.goneEntities
        let links = gone.isEmpty ? [] : schema.links.all.filter(\.isPairs)
        var keys: Set<PairKey> = []
        for link in links {
            try tables.links.withCursor(transaction) { cursor in
                for entity in gone {
                    let first = ObjectID(entity: entity, row: 0)
                    var found = try StoreKey.withLinkPrefix(link.id, owner: first) { try cursor.seek(atOrAfter: $0) }
                    while found, keys.count < limit, cursor.key.count >= StoreKey.linkSize {
                        let number = UInt32(bigEndian: cursor.key.loadUnaligned(as: UInt32.self))
                        let owner = StoreKey.objectID(cursor.key, at: 4)
                        guard number == link.id.rawValue, owner.entityID == entity else { break }
                        if let key = link.pairKey(owner: owner, member: StoreKey.lastObjectID(cursor.key)) {
                            keys.insert(key)
                        }
                        found = try cursor.advance()
                    }
                }
            }
        }
        return keys.sorted()
    }
}
