import LMDB
import StrataModel

// Declared views. What a row adds to its group is a function of the row, so a group is a function of the rows at an
// event, whatever events made them.
extension Projector {
    /// Adds a row to the groups of its entity's views, or takes it away.
    mutating func changeGroups(
        _ entity: ProjectedEntity, _ reader: RowReader, _ layout: RowLayout, _ id: ObjectID, _ sign: Int64
    ) throws {
        guard let changes = try groupChanges() else { return }
        let declared = declared
        try Self.withNewestRow(reader, layout, entity) { row in
            for view in entity.views where declared.keeps(view) {
                try view.add(row, id, sign, entity.evaluation(for: view), to: changes)
            }
        }
    }

    /// Replaces a row in the groups of its entity's views. Views that depend on none of the changed properties are left
    /// out.
    ///
    /// - Parameter after: in the newest layout.
    mutating func changeGroups(
        _ entity: ProjectedEntity, from before: RowReader, _ layout: RowLayout, to after: RowReader, _ id: ObjectID,
        touching changed: [PropertyID]
    ) throws {
        guard entity.views.contains(where: { $0.isTouched(by: changed) }), let changes = try groupChanges() else {
            return
        }
        let declared = declared
        try Self.withNewestRow(before, layout, entity) { before in
            for view in entity.views where view.isTouched(by: changed) && declared.keeps(view) {
                try view.replace(
                    before, by: after, id, changing: changed, entity.evaluation(for: view), in: changes)
            }
        }
    }

    /// The changes to be added to; nil if views are not kept.
    private mutating func groupChanges() throws -> GroupChanges? {
        // The tables stay open, so only the first change asks for them.
        guard batch.hasGroupChanges || tables.views != nil else { throw MissingViewTables(hasTexts: false) }
        return declared.areKept ? batch.groupChanges() : nil
    }

    private static func withNewestRow(
        _ reader: RowReader, _ layout: RowLayout, _ entity: ProjectedEntity, _ body: (RowReader) throws -> Void
    ) throws {
        if layout === entity.layout { return try body(reader) }
        try entity.plan.withNewestRow(reader, layout, entity.schema, body)
    }

    /// Notes a row as it was before the batch, because a view across relationships reads it. When the batch is written
    /// the view is corrected by the difference of the two states.
    ///
    /// - Parameter before: nil for an object that did not exist.
    mutating func watch(_ id: ObjectID, before: CurrentRow?, _ entity: ProjectedEntity) throws {
        guard tables.views != nil else { throw MissingViewTables(hasTexts: false) }
        guard declared.areKept else { return }
        let watched = batch.watchedRows(histories, entity.plan.schema, without: declared.building)
        guard watched.begin(id), let before else { return }
        watched.set(id, try histories.converted(before.image, from: before.layout, to: entity.schema))
    }

    /// Notes a pair as it was before the batch, as a row is noted.
    ///
    /// - Parameter before: nil if it was not linked.
    mutating func watch(_ key: PairKey, before: PairPositions?) throws {
        guard declared.areKept else { return }
        let plan = try indexes()
        guard try plan.views.isWatching(pairsOf: key.property) else { return }
        guard tables.views != nil else { throw MissingViewTables(hasTexts: false) }
        batch.watchedRows(histories, plan.schema, without: declared.building).set(key, before)
    }

    /// Finds out which views are left to a worker: those that it is building, and inline views that this projector does
    /// not keep. These stay behind at the state before its first event.
    ///
    /// - Parameter last: the end of the log.
    mutating func noteBuildingViews(at last: EventNumber, _ transaction: WriteTransaction) throws {
        declared.building = []
        guard let schema = histories.newest, !schema.model.views.isEmpty else { return }
        declared.building = Set(try ViewProgress.all(transaction, tables).keys)
        for view in try IndexMap.of(schema).views.inlineProjections where isForWorker(view) {
            guard declared.building.insert(view.id).inserted else { continue }
            try ViewProgress(all: 0, at: last).write(view.id, transaction, tables)
        }
    }

    /// Whether a view has columns that this projector cannot make, or whose faults it must not answer with a refusal.
    private func isForWorker(_ view: PreparedView) -> Bool {
        view.hasProjections && (declared.acceptsFaults || !view.hasCode)
    }

    /// Removes the groups of views that the model no longer has, and groups the objects for the new inline ones in one
    /// pass. Where that is too much for one commit a worker does it.
    ///
    /// - Parameter last: the last event under the old model.
    mutating func fillViews(from old: Schema?, at last: EventNumber, _ transaction: WriteTransaction) throws {
        guard let schema = histories.newest else { return }
        let kept = schema.assignment.keptViews
        let known = old?.assignment.keptViews ?? []
        let plan = IndexMap.of(schema)
        let added = try plan.views.views.filter { !known.contains($0.id) }
        var fresh = added.filter(\.isInline)
        let texts = try plan.texts.texts.filter { !known.contains($0.id) }
        let dropped = known.subtracting(kept)
        guard !added.isEmpty || !texts.isEmpty || !dropped.isEmpty else { return }
        if !texts.isEmpty, tables.views?.texts == nil { throw MissingViewTables(hasTexts: true) }
        guard let views = tables.views else { throw MissingViewTables(hasTexts: false) }
        if let table = views.texts { try fill(texts, plan, table, transaction) }
        guard declared.areKept else { return try dropped.forEach { try tables.clear($0, transaction) } }
        let later = try fresh.filter { try isForWorker($0) || isLarge($0, transaction) }
        for view in later { try leaveToWorker(view, transaction) }
        fresh.removeAll { declared.building.contains($0.id) }
        for view in dropped.sorted() {
            try drop(view, of: old, at: last, keepsGroups: !later.isEmpty, transaction)
        }
        if declared.acceptsFaults {
            try fillOrLeave(fresh, plan, views, transaction)
        } else {
            _ = try ViewFault.naming { try fill(fresh, plan, views, transaction) }
        }
    }

    private mutating func leaveToWorker(_ view: PreparedView, _ transaction: WriteTransaction) throws {
        try tables.beginAnew(view, transaction)
        declared.building.insert(view.id)
    }

    /// Makes inline views of the objects. A view that cannot group an object is left to a worker, which names the
    /// object.
    private mutating func fillOrLeave(
        _ fresh: [PreparedView], _ plan: IndexMap, _ views: ViewTables, _ transaction: WriteTransaction
    ) throws {
        do {
            try fill(fresh, plan, views, transaction)
        } catch is ViewFault {
            for view in fresh {
                do {
                    try tables.clear(view.id, transaction)
                    try fill([view], plan, views, transaction)
                } catch is ViewFault {
                    try leaveToWorker(view, transaction)
                }
            }
        }
    }

    /// Whether making a view takes too long for one commit.
    private func isLarge(_ view: PreparedView, _ transaction: ReadTransaction) throws -> Bool {
        guard let mostObjectsAtOnce = declared.mostObjectsAtOnce else { return false }
        let count = try view.entities.reduce(0) { sum, entity in
            try CounterKey.entity(entity).withBytes { key in
                sum + Int(try transaction.get(tables.counts, key).map { try CounterKey.value($0) } ?? 0)
            }
        }
        return count > mostObjectsAtOnce
    }

    /// Drops a view that the model no longer has. One with many records is left to a worker, and so is one that may be
    /// read through the old model until others are complete.
    private func drop(
        _ view: ViewID, of old: Schema?, at last: EventNumber, keepsGroups: Bool, _ transaction: WriteTransaction
    ) throws {
        let isText = old?.assignment.texts.values.contains(view) == true
        guard let mostObjectsAtOnce = declared.mostObjectsAtOnce,
            try keepsGroups && !isText || !tables.hasAtMost(mostObjectsAtOnce, recordsOf: view, transaction)
        else { return try tables.clear(view, transaction) }
        let isInline = old?.model.views.contains { old?.assignment.views[$0.name] == view && $0.upkeep == .inline }
        var progress =
            try ViewProgress.read(view, transaction, tables)
            ?? (isInline == true ? ViewProgress(all: 0, at: last) : ViewProgress())
        progress.isRetired = true
        if !progress.isComplete || progress.failure != nil { progress = .dropping }
        try progress.write(view, transaction, tables)
    }

    /// Drops the records of a view and makes them again from the objects.
    ///
    /// - Parameter head: the state of the tables.
    /// - Throws: `ViewFault` if the view cannot group an object.
    func refill(_ view: ViewID, at head: EventNumber, _ transaction: WriteTransaction) throws {
        guard let schema = histories.newest else { return }
        guard let views = tables.views else { throw MissingViewTables(hasTexts: false) }
        try tables.clear(view, transaction)
        let plan = IndexMap.of(schema)
        if let table = views.texts {
            try fill(try plan.texts.texts.filter { $0.id == view }, plan, table, transaction)
        }
        let found = try plan.views.views.filter { $0.id == view }
        try found.forEach { try $0.checkCode() }
        let count = try fill(found, plan, views, transaction)
        if found.contains(where: { !$0.isInline }) {
            try ViewProgress(all: count, at: head).write(view, transaction, tables)
        }
    }

    /// Makes the inline views of the objects, where there are none.
    ///
    /// - Parameter left: views that are left out.
    /// - Throws: `ViewFault` if a view cannot group an object.
    func fillInlineViews(without left: Set<ViewID>, _ transaction: WriteTransaction) throws {
        guard let views = tables.views, let schema = histories.newest else { return }
        let plan = IndexMap.of(schema)
        let own = try plan.views.inline.filter { !left.contains($0.id) && $0.hasCode }
        try fill(own, plan, views, transaction)
    }

    /// Rebuilds all views after a replay. A view that cannot group an object, or whose types this process does not
    /// have, stays empty.
    mutating func refillAll(at head: EventNumber, _ transaction: WriteTransaction) throws {
        guard let views = tables.views, let schema = histories.newest else { return }
        let plan = IndexMap.of(schema)
        let inline = try plan.views.inline
        for view in inline where !view.hasCode { try leaveToWorker(view, transaction) }
        try fillOrLeave(inline.filter(\.hasCode), plan, views, transaction)
        for view in try plan.views.catchingUp {
            guard view.hasCode else {
                try tables.clear(view.id, transaction)
                continue
            }
            do {
                try refill(view.id, at: head, transaction)
            } catch is ViewFault {
                try tables.clear(view.id, transaction)
            }
        }
    }

    /// The changes that are collected before they are written.
    private static let largestChanges = 64 << 20

    /// - Returns: how many objects were grouped.
    @discardableResult
    private func fill(
        _ fresh: [PreparedView], _ plan: IndexMap, _ views: ViewTables, _ transaction: WriteTransaction
    ) throws -> UInt64 {
        var changes = GroupChanges()
        let snapshot = Snapshot(
            eventNumber: .zero, schema: plan.schema, transaction: transaction, tables: tables, histories: histories,
            layers: [])
        let evaluation = Evaluation(snapshot)
        var count: UInt64 = 0
        for entity in Set(fresh.flatMap(\.entities)).sorted() {
            guard let entity = plan.schema.entity(entity) else { continue }
            let own = fresh.filter { $0.entities.contains(entity.id) }
            var next: ObjectID? = ObjectID(rawValue: 0)
            while let start = next {
                // Nothing is written while a cursor is open on the rows.
                next = try snapshot.forEachStoredRow(of: entity, from: start) { row, id in
                    for view in own { try view.noting(id) { try view.add(row, id, 1, evaluation, to: changes) } }
                    count += 1
                    return changes.sizeInBytes < Self.largestChanges
                }
                guard next != nil else { break }
                try changes.write(to: views, transaction)
                changes = GroupChanges()
            }
        }
        try changes.write(to: views, transaction)
        return count
    }

    /// Checks, before a save writes anything, that the transaction can use the tables of declared views if there are
    /// such views.
    func checkTables(_ transaction: WriteTransaction) throws {
        if let model = histories.newest?.model { try tables.check(for: model, transaction) }
    }
}

extension StoreTables {
    /// Removes all records of a view, and how far it has come.
    func clear(_ view: ViewID, _ transaction: WriteTransaction) throws {
        try ViewProgress.remove(view, transaction, self)
        _ = try removeRecords(of: view, atMost: .max, transaction)
    }

    /// Has a worker rebuild a view.
    func beginAnew(_ view: PreparedView, _ transaction: WriteTransaction) throws {
        try clear(view.id, transaction)
        // Without a record, saves would keep it.
        if view.isInline { try ViewProgress().write(view.id, transaction, self) }
    }

    /// Has views that catch up or are being built made anew if they need events up to a cut that are dropped, or have
    /// lost their values. Only a truncation by force goes so far. Those of older models are of no use without them.
    func clearViews(behind cut: EventNumber, _ histories: SchemaHistory, _ transaction: WriteTransaction) throws {
        let progress = try ViewProgress.all(transaction, self).filter { $0.value.position < cut }
        guard !progress.isEmpty, let schema = histories.newest else { return }
        for (view, own) in progress where own.isRetired {
            try ViewProgress.dropping.write(view, transaction, self)
        }
        for view in try IndexMap.of(schema).views.views where progress[view.id] != nil {
            try beginAnew(view, transaction)
        }
    }

    /// Removes some records of a view.
    ///
    /// - Returns: how many were removed; less than `limit` if none is left.
    func removeRecords(of view: ViewID, atMost limit: Int, _ transaction: WriteTransaction) throws -> Int {
        var count = 0
        for table in views?.all ?? [] {
            try ViewKeys.withPrefix(of: view) { prefix in
                let cursor = try transaction.writeCursor(table)
                defer { cursor.close() }
                while count < limit, try cursor.seek(atOrAfter: prefix), cursor.key.hasPrefix(prefix) {
                    try cursor.delete()
                    count += 1
                }
            }
        }
        return count
    }

    fileprivate func hasAtMost(_ limit: Int, recordsOf view: ViewID, _ transaction: ReadTransaction) throws -> Bool {
        var count = 0
        for table in views?.all ?? [] {
            try ViewKeys.withPrefix(of: view) { prefix in
                try transaction.withCursor(table) { cursor in
                    var found = try cursor.seek(atOrAfter: prefix)
                    while found, count <= limit, cursor.key.hasPrefix(prefix) {
                        count += 1
                        found = try cursor.next()
                    }
                }
            }
        }
        return count <= limit
    }
}
