import LMDB
import Logging
import StrataModel
import Synchronization

extension Store {
    /// Unlinks pairs with objects whose entity has left the model, or has lost the relationship.
    ///
    /// A migration unlinks them. Earlier versions did not, and what they have left is members that no context can show.
    /// Where that cannot be done, as on a full disk or in a store that is only read, the store opens all the same, and
    /// snapshots pass over them. The next opening for writing tries again.
    ///
    /// - Complexity: two look-ups for each many-to-many and each entity that has it, if nothing is to be done; none
    ///   before the first migration.
    func unlinkStrayPairs() {
        do {
            let count = isReadOnly || file.options.receivesOnly ? 0 : try unlinkPairs()
            if count > 0 {
                StoreLogger.shared.notice(
                    """
                    \(CountText.of(count, "link")) of \(path) to objects whose entity has left the model, or has lost the \
                    relationship, \(count == 1 ? "was" : "were") removed
                    """)
            }
            snapshots.hasStrayPairs.store(try !strayPairs(limit: 1).isEmpty, ordering: .relaxed)
        } catch {
            snapshots.hasStrayPairs.store(true, ordering: .relaxed)
            StoreLogger.shared.warning(
                """
                links of \(path) to objects whose entity has left the model, or has lost the relationship, could not be \
                removed: \(error)
                """)
        }
    }

    /// - Returns: how many there were.
    private func unlinkPairs() throws -> Int {
        var count = 0
        var last: [PairKey] = []
        while true {
            let keys = try strayPairs(limit: 10_000)
            // A link without its pair is damage, which a verification names.
            if keys.isEmpty || keys == last { break }
            last = keys
            var changes = ChangeSet(
                base: try head(), modelVersion: schema.version, author: PairMendings.author,
                contextName: PairMendings.contextName)
            changes.pairs = keys.map { ChangeSet.PairChange(key: $0, kind: .unlink) }
            guard case .saved = try save(changes) else { break }
            count += keys.count
        }
        return count
    }

    private func strayPairs(limit: Int) throws -> [PairKey] {
        try file.read { transaction, _, histories in
            guard let schema = histories.newest, histories.versions.count > 1 else { return [] }
            var keys: Set<PairKey> = []
            for link in schema.links.all where link.isPairs && keys.count < limit {
                try Self.findStrayPairs(of: link, schema, file.tables, transaction, limit, &keys)
            }
            return keys.sorted()
        }
    }

    /// Finds the owners that can have no members under a number, and passes over the owners of other entities.
    private static func findStrayPairs(
        of link: Link, _ schema: Schema, _ tables: StoreTables, _ transaction: ReadTransaction, _ limit: Int,
        _ keys: inout Set<PairKey>
    ) throws {
        try tables.links.withCursor(transaction) { cursor in
            func seek(_ owner: ObjectID) throws -> Bool {
                try StoreKey.withLinkPrefix(link.id, owner: owner) { try cursor.seek(atOrAfter: $0) }
            }
            var found = try seek(ObjectID(rawValue: 0))
            while found, keys.count < limit, cursor.key.count >= StoreKey.linkSize,
                UInt32(bigEndian: cursor.key.loadUnaligned(as: UInt32.self)) == link.id.rawValue
            {
                let owner = StoreKey.objectID(cursor.key, at: 4)
                if schema.holds(owner.entityID, at: link) {
                    found = try seek(ObjectID(entity: EntityID(rawValue: owner.entityID.rawValue + 1), row: 0))
                } else {
                    if let key = link.pairKey(owner: owner, member: StoreKey.lastObjectID(cursor.key)) {
                        keys.insert(key)
                    }
                    found = try cursor.advance()
                }
            }
        }
    }
}
