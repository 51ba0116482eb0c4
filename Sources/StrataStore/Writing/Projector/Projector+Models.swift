import Foundation
import LMDB
import StrataModel

// Installing a model, and filling its new indexes and links. This is a function of the rows at that event, so a replay
// that reaches the event makes the same entries.
extension Projector {
    /// Adopts the model, and fills the indexes and links that are new in it.
    mutating func install(
        _ event: EventView, _ eventNumber: EventNumber, _ transaction: WriteTransaction
    ) throws {
        let (version, data) = try event.installedModel()
        let schema = try SchemaRecord.schema(from: data)
        guard schema.version == version else { throw CorruptRecord("model version does not match its record", at: 0) }
        let old = histories.newest
        let filling = ModelFilling(from: old, to: schema)
        histories = histories.adding(schema)
        links = schema.links
        data.withUnsafeBytes { batch.put(.models, key: UInt64(version.rawValue), value: $0) }
        try flush(transaction)
        for link in filling.clearedLinks { try clear(link, transaction) }
        try fillViews(from: old, at: EventNumber(rawValue: eventNumber.rawValue - 1), transaction)
        guard fillsAtOnce else { return }
        for entity in schema.entities where !entity.isAbstract {
            var next = ObjectID(entity: entity.id, row: 0)
            while let start = next.isNil ? nil : next {
                next = try fill(filling, of: entity, from: start, limit: .max, transaction) ?? ObjectID(rawValue: 0)
            }
        }
    }

    /// Adds the rows of one entity to its new indexes and links, from an id on, at most `limit` rows.
    ///
    /// - Returns: where to continue; nil at the end of the entity.
    mutating func fill(
        _ filling: ModelFilling, of entity: EntitySchema, from start: ObjectID, limit: Int,
        _ transaction: WriteTransaction
    ) throws -> ObjectID? {
        let known = try indexes()
        let indexes = try filling.indexes(of: entity).map { try known.index($0.id) },
            rowLinks = filling.links(of: entity, links)
        guard !indexes.isEmpty || !rowLinks.isEmpty else { return nil }
        let end = ObjectID(entity: entity.id, row: ObjectID.maximumRow).rawValue
        var next: UInt64? = start.rawValue
        var count = 0
        // Nothing is written while a cursor is open on the rows.
        next = try transaction.withCursor(tables.objects) { cursor in
            var found = try cursor.seek(atOrAfter: start.rawValue)
            var nextID = start.rawValue
            while found, batch.sizeInBytes < 32 << 20, count < limit {
                let id = StoreKey.objectID(cursor.key, at: 0)
                guard id.rawValue <= end else { return nil }
                let stored = try StoredRow(cursor.value)
                let layout = try histories.layout(of: stored.image, id: id)
                let reader = try RowReader(stored.image, layout: layout)
                for index in indexes {
                    // A row changed under this model has its entry already, in the main table or in the buffer.
                    try removeEntry(index, of: entity, reader, layout, id, known)
                    try addEntry(index, of: entity, reader, layout, id, known)
                }
                for link in rowLinks { try addLink(link, of: id, reader, layout, entity) }
                nextID = id.rawValue + 1
                count += 1
                found = try cursor.next()
            }
            return found ? nextID : nil
        }
        try flush(transaction)
        return next.map(ObjectID.init(rawValue:))
    }

    /// Removes every link and counter under a number.
    private mutating func clear(_ link: PropertyID, _ transaction: WriteTransaction) throws {
        let prefix = withUnsafeBytes(of: link.rawValue.bigEndian) { Array($0) }
        for table in tables.links.parts + [tables.counts] {
            while true {
                let keys = try Self.keys(from: prefix, in: table, limit: 10_000, transaction)
                for key in keys { _ = try key.withUnsafeBytes { try transaction.delete(table, $0) } }
                if keys.count < 10_000 { break }
            }
        }
    }

    private static func keys(
        from prefix: [UInt8], in table: Table, limit: Int, _ transaction: WriteTransaction
    ) throws -> [[UInt8]] {
        try prefix.withUnsafeBytes { prefix in
            try transaction.withCursor(table) { cursor in
                var keys: [[UInt8]] = []
                var found = try cursor.seek(atOrAfter: prefix)
                while found, keys.count < limit, cursor.key.starts(with: prefix) {
                    // Counters of entities have shorter keys, which begin with an entity's number.
                    if cursor.key.count > 4 { keys.append(Array(cursor.key)) }
                    found = try cursor.next()
                }
                return keys
            }
        }
    }
}

extension Projector {
    static func touches(_ index: IndexSchema, _ changed: [PropertyID]) -> Bool {
        index.partialPredicate != nil || index.elements.contains { changed.contains($0.propertyID) }
    }
}

/// The indexes and links of a model for which no entries have been made.
struct ModelFilling {
    private var newIndexes: Set<IndexID>
    private var newLinks: Set<PropertyID>
    /// Numbers that had links before and are filled again: those of a to-one without inverse.
    let clearedLinks: [PropertyID]

    init(from old: Schema?, to new: Schema) {
        let known = Set(old?.indexes.map(\.id) ?? [])
        newIndexes = Set(new.indexes.map(\.id)).subtracting(known)
        var links: Set<PropertyID> = []
        for link in new.links.all where !link.isPairs && !Self.isSame(old?.links.link(link.id), link, old) {
            links.insert(link.id)
        }
        newLinks = links
        clearedLinks = links.filter(\.isHiddenInverse).sorted()
    }

    /// A to-many whose members come from other rows than before has a new number; a hidden inverse always keeps its
    /// number.
    private static func isSame(_ old: Link?, _ new: Link, _ schema: Schema?) -> Bool {
        guard let old, case .rows(let oldToOne) = old.source, case .rows(let toOne) = new.source else { return false }
        // A new entity has no rows, but one that returns does.
        let known = new.memberEntityIDs.filter { schema?.assignment.wasGiven($0) ?? false }
        return oldToOne == toOne && old.isOrdered == new.isOrdered && old.memberEntityIDs == known
    }

    var linksOnly: ModelFilling {
        var copy = self
        copy.newIndexes = []
        return copy
    }

    var indexesOnly: ModelFilling {
        var copy = self
        copy.newLinks = []
        return copy
    }

    func indexes(of entity: EntitySchema) -> [IndexSchema] {
        newIndexes.isEmpty ? [] : entity.indexes.filter { newIndexes.contains($0.id) }
    }

    func links(of entity: EntitySchema, _ links: LinkMap) -> [RowLink] {
        newLinks.isEmpty ? [] : links.rowLinks(of: entity.id).filter { newLinks.contains($0.link) }
    }
}
