import LMDB
import StrataModel

/// Entries of indexes and links that left the model before a cut of the history.
///
/// As long as the past is kept, snapshots of it read them. Behind the cut nothing does, and the events that made them are
/// gone in part. So a truncation removes them, and so does a replay where it reaches the cut.
struct ModelRemains {
    private let indexes: [IndexID]
    private let links: [PropertyID]

    /// - Parameter schema: the model at the cut. Records of later models stay.
    init(_ histories: SchemaHistory, at schema: Schema?) throws {
        guard let schema else {
            (indexes, links) = ([], [])
            return
        }
        let models = try histories.schemas
        let later = models.filter { $0.version >= schema.version }
        let keptIndexes = Set(later.flatMap { $0.indexes.map(\.id) })
        let keptLinks = Set(later.flatMap { $0.links.all.map(\.id) })
        let earlier = models.filter { $0.version < schema.version }
        indexes = Set(earlier.flatMap { $0.indexes.map(\.id) }).subtracting(keptIndexes).sorted()
        links = Set(earlier.flatMap { $0.links.all.map(\.id) }).subtracting(keptLinks).sorted()
    }

    func clear(_ tables: StoreTables, _ transaction: WriteTransaction) throws {
        for index in indexes {
            for table in tables.indexes.parts { try Self.clear(index.rawValue, table, transaction) }
        }
        for link in links {
            for table in tables.links.parts + [tables.counts] { try Self.clear(link.rawValue, table, transaction) }
        }
    }

    /// Removes all keys that begin with a number.
    private static func clear(_ number: UInt32, _ table: Table, _ transaction: WriteTransaction) throws {
        try withUnsafeBytes(of: number.bigEndian) { prefix in
            let cursor = try transaction.writeCursor(table)
            defer { cursor.close() }
            while try cursor.seek(atOrAfter: prefix), cursor.key.hasPrefix(prefix) { try cursor.delete() }
        }
    }
}
