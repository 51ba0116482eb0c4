import LMDB
import StrataModel

/// What was skipped in a damaged store's views.
package struct PassedOver: Sendable, Equatable {
    /// Damaged rows, deletions and pairs. Some may be old enough to be in the sound part of the log.
    package var records = 0
    /// To-ones and pairs that lead to lost objects.
    package var links = 0
    /// Tables that cannot be read to their end.
    package var tables: [String] = []

    package var isEmpty: Bool { self == PassedOver() }
}

/// Reads the views of a damaged store record by record; skips and counts damaged records.
///
/// Errors of the sound store, which the changes are for, are thrown.
final class RowSalvage {
    private(set) var changes = NetChanges()
    private(set) var passedOver = PassedOver()

    private let transaction: ReadTransaction
    private let tables: StoreTables
    private let histories: SchemaHistory
    private let schema: Schema
    /// The new store ends here; newer changes are salvaged.
    private let end: EventNumber
    private let snapshot: Snapshot
    /// Copies a large value; false if it is lost.
    private let bring: (BlobReference) throws -> Bool

    init(
        transaction: ReadTransaction, tables: StoreTables, histories: SchemaHistory, schema: Schema,
        end: EventNumber, snapshot: Snapshot, bring: @escaping (BlobReference) throws -> Bool
    ) {
        self.bring = bring
        self.transaction = transaction
        self.tables = tables
        self.histories = histories
        self.schema = schema
        self.end = end
        self.snapshot = snapshot
    }

    func run() throws {
        try walk("objects", tables.objects) { try self.addRow($0, $1) }
        for id in Array(changes.objects.keys) { try cutDanglingTargets(of: id) }
        try walk("tombstones", tables.tombstones) { try self.addDeletion($0, $1) }
        try walk("pairs", tables.pairs) { try self.addPair($0, $1) }
    }

    /// Walks a table as far as it can be read.
    private func walk(
        _ name: String, _ table: Table, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var failure: (any Error)?
        do {
            try transaction.withCursor(table) { cursor in
                var found = try cursor.first()
                while found, failure == nil {
                    do { try body(cursor.key, cursor.value) } catch { failure = error }
                    found = try cursor.next()
                }
            }
        } catch {
            passedOver.tables.append(name)
        }
        if let failure { throw failure }
    }

    /// The result of reading the damaged store; nil, and counted, if it is damaged.
    private func salvaged<Value>(_ read: () throws -> Value?) -> Value? {
        do {
            if let value = try read() { return value }
        } catch {}
        passedOver.records += 1
        return nil
    }

    /// Whether the object will exist in the new store.
    private func willExist(_ id: ObjectID) throws -> Bool {
        if let object = changes.objects[id] { return object.existsAfter }
        return try snapshot.exists(id)
    }

    // MARK: Records

    private func addRow(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        guard let stored = salvaged({ key.count == 8 ? try StoredRow(value) : nil }), stored.revision > end else {
            return
        }
        let id = StoreKey.objectID(key, at: 0)
        let entity = schema.entity(id.entityID)
        guard let values = salvaged({ try entity.flatMap { _ in try values(of: id, stored.image) } }), let entity else {
            return
        }
        for case (_, .blob(let reference)) in values where try !bring(reference) {
            passedOver.records += 1
            return
        }
        let before = try snapshot.row(id)?.converted(to: entity)
        var object = NetChanges.Object(existedBefore: before != nil, existsAfter: true)
        for (property, value) in values {
            let old = try before?.bytes.withUnsafeBytes {
                try RowReader($0, layout: entity.layout).value(property.slot)
            }
            object.note(property.id, before: old ?? .null, after: value)
        }
        changes.objects[id] = object
    }

    private func values(
        of id: ObjectID, _ image: UnsafeRawBufferPointer
    ) throws -> [(PropertySchema, AttributeValue)]? {
        guard let entity = histories.newest?.entity(id.entityID) else { return nil }
        let layout = try histories.layout(of: image, id: id)
        let now = try histories.converted(image, from: layout, to: entity)
        return try entity.properties.filter { $0.storage != nil }.map { property in
            (property, try now.bytes.withUnsafeBytes { try RowReader($0, layout: entity.layout).value(property.slot) })
        }
    }

    /// Removes a to-one to a lost object, which would keep the row from being saved.
    private func cutDanglingTargets(of id: ObjectID) throws {
        guard let entity = schema.entity(id.entityID), let object = changes.objects[id] else { return }
        for (property, values) in object.values {
            guard case .objectID(let target) = values.after,
                entity.properties.first(where: { $0.id == property })?.relationship != nil,
                try !willExist(target)
            else { continue }
            changes.objects[id]?.values[property] = .init(before: values.before, after: .null)
            passedOver.links += 1
        }
    }

    private func addDeletion(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        guard let eventNumber = salvaged({ key.count == 8 ? try Tombstone.eventNumber(value) : nil }), eventNumber > end
        else {
            return
        }
        let id = StoreKey.objectID(key, at: 0)
        guard changes.objects[id] == nil, try snapshot.exists(id) else { return }
        changes.objects[id] = NetChanges.Object(existedBefore: true, existsAfter: false)
    }

    private func addPair(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        guard let pair = salvaged({ StoreKey.pair(key) }), let state = salvaged({ try PairState(value) }),
            state.revision > end
        else { return }
        guard try willExist(pair.source), try willExist(pair.target) else {
            passedOver.links += 1
            return
        }
        changes.pairs[pair] = .init(before: try snapshot.pair(pair), after: state.positions)
    }
}
