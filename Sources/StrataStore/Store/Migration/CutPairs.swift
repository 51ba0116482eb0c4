import LMDB
import StrataModel

/// The pairs of relationships that had left the model when the log was truncated.
///
/// A truncation removes their entries in `links` (`ModelRemains`) and leaves the pairs. No model since has had the
/// relationship under that number, so the pairs are as they were.
///
/// Memory: some 100 bytes for each pair of a relationship that is asked for.
final class CutPairs {
    private let transaction: ReadTransaction
    private let tables: StoreTables
    /// By number, the last model that had the relationship.
    private let models: [PropertyID: Schema]
    /// By number and owner, in the order of the entries in `links`.
    private var known: [PropertyID: [ObjectID: [OldLinks.Target]]] = [:]

    /// Nil if no relationship had left the model when the log was truncated, or it never was.
    init?(_ log: LogReader) throws {
        guard let baseline = try log.baseline() else { return nil }
        let schemas = try log.histories.schemas(log.histories.versions)
        let kept = Set(schemas.lazy.filter { $0.version >= baseline.head.modelVersion }.flatMap(\.links.all).map(\.id))
        var models: [PropertyID: Schema] = [:]
        for schema in schemas where schema.version < baseline.head.modelVersion {
            for link in schema.links.all where link.isPairs && !kept.contains(link.id) { models[link.id] = schema }
        }
        if models.isEmpty { return nil }
        self.models = models
        transaction = log.transaction
        tables = log.tables
    }

    /// The members of an object under a number; nil if `links` has them.
    func members(of number: PropertyID, owner: ObjectID) throws -> [OldLinks.Target]? {
        guard let schema = models[number] else { return nil }
        if let owners = known[number] { return owners[owner] ?? [] }
        let owners = try read(number, schema)
        known[number] = owners
        return owners[owner] ?? []
    }

    private func read(_ number: PropertyID, _ schema: Schema) throws -> [ObjectID: [OldLinks.Target]] {
        guard case .pairs(let canonical, _, _, _)? = schema.links.link(number)?.source else { return [:] }
        var owners: [ObjectID: [OldLinks.Target]] = [:]
        try transaction.withCursor(tables.pairs) { cursor in
            let first = ObjectID(rawValue: 0)
            var found = try StoreKey.withLinkPrefix(canonical, owner: first) { try cursor.seek(atOrAfter: $0) }
            while found, let key = StoreKey.pair(cursor.key), key.property == canonical {
                let positions: PairPositions
                do throws(CorruptRecord) {
                    positions = try PairState(cursor.value).positions
                } catch {
                    throw StrataError.corrupt(error, "pairs")
                }
                for entry in schema.links.entries(of: key, positions) where entry.link == number {
                    owners[entry.owner, default: []].append(
                        OldLinks.Target(id: entry.member, position: entry.position ?? 0))
                }
                found = try cursor.next()
            }
        }
        return owners.mapValues { $0.sorted { ($0.position, $0.id) < ($1.position, $1.id) } }
    }
}
