// Compares the views of a damaged store with those of the store that was made of it.

import LMDB
import StrataModel

/// The differences between a view of a damaged store and that of the store that was made of it.
package struct ViewDifference: Sendable, Hashable {
    package let view: String
    /// The number of records that differ, or that are in one of the stores only.
    package let count: Int
    /// The first of them.
    package let first: String
}

/// Compares the views of a store that was made of a damaged one with those of the damaged one, record by record:
/// rows by their values, links and indexes by their keys, pairs by their positions, counters by their values.
///
/// The numbers of events are not compared, because added objects have events of their own.
struct ViewComparison {
    let damaged: DamagedViews
    let made: DamagedViews
    /// The models of the damaged store's rows, read through that of the new one.
    let histories: SchemaHistory
    /// The models of the new store.
    let newHistories: SchemaHistory

    /// The differences of each view that can be read to its end.
    func run() throws -> [ViewDifference] {
        let names = RecordedNames(newHistories)
        var found: [ViewDifference] = []
        func compare(_ name: String, _ table: (StoreTables) -> BufferedTable, _ isSame: Same) throws {
            let differences = try table(made.tables).withCursor(made.transaction) { new in
                try reading {
                    try table(damaged.tables).withCursor(damaged.transaction) { old in
                        try merge(name, old, new, names, isSame)
                    }
                }
            }
            if let differences, differences.count > 0 { found.append(differences) }
        }
        try compare("objects", { BufferedTable($0.objects) }, hasSameValues)
        try compare("pairs", { BufferedTable($0.pairs) }) { _, old, new in
            (try? PairState(old).positions) == (try? PairState(new).positions)
        }
        try compare("links", \.links) { _, _, _ in true }
        try compare("indexes", \.indexes) { _, _, _ in true }
        let counts = try CounterCursor.with(made.tables, made.transaction) { new in
            try reading {
                try CounterCursor.with(damaged.tables, damaged.transaction) { old in
                    // Large values are counted by events, which are others.
                    try merge("counts", old, new, names) { key, old, new in key.count == 32 || old.elementsEqual(new) }
                }
            }
        }
        if let counts, counts.count > 0 { found.append(counts) }
        return found
    }

    private typealias Same = (UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool

    /// The result of reading the damaged store; nil if it cannot be read.
    private func reading<R>(_ body: () throws -> R) throws -> R? {
        do { return try body() } catch is LMDBError { return nil } catch is CorruptRecord { return nil }
    }

    private func merge<Walk: RecordWalk>(
        _ view: String, _ old: Walk, _ new: Walk, _ names: RecordedNames, _ isSame: Same
    ) throws -> ViewDifference {
        var (old, new) = (old, new)
        var (hasOld, hasNew) = (try old.first(), try new.first())
        var (count, first) = (0, "")
        func note(_ key: UnsafeRawBufferPointer, _ what: String) {
            if key.count == 32, view == "counts" { return }
            count += 1
            if count == 1 { first = "\(location(view, key, names)) \(what)" }
        }
        while hasOld || hasNew {
            let order = !hasOld ? 1 : !hasNew ? -1 : old.key.compare(with: new.key)
            if order < 0 { note(old.key, "is in the damaged store only") }
            if order > 0 { note(new.key, "is in the new store only") }
            if order == 0, !isSame(old.key, old.value, new.value) { note(old.key, "differs") }
            if order <= 0 { hasOld = try old.advance() }
            if order >= 0 { hasNew = try new.advance() }
        }
        return ViewDifference(view: view, count: count, first: first)
    }

    private func location(_ view: String, _ key: UnsafeRawBufferPointer, _ names: RecordedNames) -> String {
        switch (view, key.count) {
        case ("objects", 8): names.name(of: StoreKey.objectID(key, at: 0))
        case ("indexes", 12...): "the entry of \(names.name(of: StoreKey.lastObjectID(key)))"
        case ("links", StoreKey.linkSize...), ("pairs", StoreKey.linkSize):
            "\(link(key, names)) - \(names.name(of: StoreKey.lastObjectID(key)))"
        case ("counts", 2):
            names.name(of: EntityID(rawValue: UInt16(bigEndian: key.loadUnaligned(as: UInt16.self))))
        case ("counts", CounterKey.membersSize): link(key, names)
        default: "the record of key \(key.hexadecimal)"
        }
    }

    /// `Owner/p3.movies`; the key must be long enough.
    private func link(_ key: UnsafeRawBufferPointer, _ names: RecordedNames) -> String {
        names.name(
            of: PropertyID(rawValue: UInt32(bigEndian: key.loadUnaligned(as: UInt32.self))),
            StoreKey.objectID(key, at: 4))
    }

    private func hasSameValues(
        _ key: UnsafeRawBufferPointer, _ old: UnsafeRawBufferPointer, _ new: UnsafeRawBufferPointer
    ) -> Bool {
        let id = StoreKey.objectID(key, at: 0)
        guard let entity = newHistories.newest?.entity(id.entityID),
            let old = try? values(of: id, old, histories), let new = try? values(of: id, new, newHistories)
        else { return false }
        // Two models number their slots each in their own way.
        return entity.properties.filter { $0.storage != nil }.allSatisfy { property in
            (old[property.id] ?? .null).isIdentical(to: new[property.id] ?? .null)
        }
    }

    private func values(
        of id: ObjectID, _ bytes: UnsafeRawBufferPointer, _ histories: SchemaHistory
    ) throws -> [PropertyID: AttributeValue] {
        guard let entity = histories.newest?.entity(id.entityID) else { return [:] }
        let image = try StoredRow(bytes).image
        let row = try histories.converted(image, from: try histories.layout(of: image, id: id), to: entity)
        var values: [PropertyID: AttributeValue] = [:]
        try row.bytes.withUnsafeBytes { bytes in
            let reader = try RowReader(bytes, layout: entity.layout)
            for property in entity.properties where property.storage != nil {
                values[property.id] = try reader.value(property.slot)
            }
        }
        return values
    }
}
