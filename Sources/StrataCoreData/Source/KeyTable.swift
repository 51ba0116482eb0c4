import StrataModel

/// The keys of one table's rows with the entity of each. A key and an offset make the row number of the new object.
///
/// A class, because every link of every row asks one of them.
final class KeyTable {
    /// One more than the index of the entity, by the distance from the first key; 0 for none.
    private var dense: [UInt16] = []
    /// The entries of tables with few rows over a wide range of keys.
    private var sparse: [Int64: UInt16] = [:]
    private(set) var first: Int64 = 0
    private(set) var last: Int64 = -1
    private(set) var count = 0
    private let entities: [EntityID]
    /// The number that is added to a key.
    var offset: Int64 = 0

    /// The widest range of keys: every key of it gets a row number.
    private static let widest: Int64 = 1 << 27

    /// - Parameters:
    ///   - entityIDs: by the entities' numbers in the file.
    /// - Throws: `persistentStoreOpen` for keys that are too far apart.
    init(
        _ database: SQLiteDatabase, _ table: FilePlan.RootTable, _ entityIDs: [Int64: EntityID]
    ) throws(StrataError) {
        let name = SQLiteDatabase.quoted(table.name)
        let numbers = entityIDs.keys.sorted()
        entities = numbers.compactMap { entityIDs[$0] }
        let indexes = Dictionary(uniqueKeysWithValues: numbers.enumerated().map { ($1, UInt16($0 + 1)) })
        let bounds = try database.prepare(
            "SELECT min(Z_PK), max(Z_PK), count(*) FROM \(name) WHERE typeof(Z_PK) = 'integer'")
        guard try bounds.step(), !bounds.isNull(0) else { return }
        (first, last) = (bounds.integer(0), bounds.integer(1))
        let (span, overflows) = last.subtractingReportingOverflow(first)
        guard !overflows, span < Self.widest else {
            throw StrataError(
                .persistentStoreOpen, "The keys of \(table.name) are too far apart.",
                context: .init(entityName: table.rootName, path: database.path))
        }
        let isDense = span / 4 < bounds.integer(2) + 1_000_000
        if isDense { dense = [UInt16](repeating: 0, count: Int(span) + 1) }
        let rows = try database.prepare("SELECT Z_PK, Z_ENT FROM \(name)")
        while try rows.step() {
            let key = rows.integer(0)
            // The number of an entity that has its table for itself may be out of date.
            guard let index = entities.count == 1 ? 1 : rows.key(1).flatMap({ indexes[$0] }), rows.kind(0) == .integer,
                key >= first, key <= last
            else { continue }
            let isKnown = isDense ? dense[Int(key - first)] != 0 : sparse[key] != nil
            guard !isKnown else {
                throw Self.repeated("\(key)", table, database.path)
            }
            if isDense { dense[Int(key - first)] = index } else { sparse[key] = index }
            count += 1
        }
    }

    /// The error for a key that two rows have.
    static func repeated(_ key: String, _ table: FilePlan.RootTable, _ path: String) -> StrataError {
        StrataError(
            .persistentStoreOpen, "The file is damaged: two rows of \(table.name) have the key \(key).",
            context: .init(entityName: table.rootName, path: path))
    }

    /// The number of row numbers that it takes.
    var span: UInt64 { last < first ? 0 : UInt64(last - first) + 1 }

    /// The object of a key; nil if there is none.
    func objectID(_ key: Int64) -> ObjectID? {
        guard key >= first, key <= last else { return nil }
        let index = dense.isEmpty ? sparse[key] ?? 0 : dense[Int(key - first)]
        return index == 0 ? nil : ObjectID(entity: entities[Int(index) - 1], row: UInt64(bitPattern: key &+ offset))
    }

    /// The key of an object in this table.
    func key(_ id: ObjectID) -> Int64 { Int64(id.row) &- offset }
}
