import LMDB
import StrataModel

// Declared views. What a row adds to its group is a function of the row, so a group is a function of the rows at an
// event, whatever events made them.
extension Projector {
    /// Adds a row to the groups of its entity's views, or takes it away.
    ///
    /// - Parameter changed: the properties that an update changes; views that depend on none of them are left out.
    mutating func changeGroups(
        _ entity: ProjectedEntity, _ reader: RowReader, _ layout: RowLayout, _ id: ObjectID, _ sign: Int64,
        touching changed: [PropertyID]? = nil
    ) throws {
        guard tables.views != nil else { throw ViewTables.missing(texts: false) }
        var touched = entity.views[...]
        if let changed { touched = entity.views.filter { $0.isTouched(by: changed) }[...] }
        if touched.isEmpty { return }
        let changes = batch.groupChanges()
        let schema = entity.plan.schema
        if layout === entity.layout {
            for view in touched { try view.add(reader, id, sign, Evaluation(ownRowOf: schema), to: changes) }
            return
        }
        try entity.plan.withNewestRow(reader, layout, entity.schema) { row in
            for view in touched { try view.add(row, id, sign, Evaluation(ownRowOf: schema), to: changes) }
        }
    }

    /// Notes a row as it was before the batch, because a view across relationships reads it. When the batch is written
    /// the view is corrected by the difference of the two states.
    ///
    /// - Parameter before: nil for an object that did not exist.
    mutating func watch(_ id: ObjectID, before: CurrentRow?, _ entity: ProjectedEntity) throws {
        guard tables.views != nil else { throw ViewTables.missing(texts: false) }
        let watched = batch.watchedRows(histories, entity.plan.schema)
        guard watched.begin(id), let before else { return }
        watched.set(id, try histories.converted(before.image, from: before.layout, to: entity.schema))
    }

    /// Removes the groups of views that the model no longer has, and groups the objects for the new ones in one pass.
    func fillViews(from old: Schema?, _ transaction: WriteTransaction) throws {
        guard let schema = histories.newest else { return }
        let kept = schema.assignment.keptViews
        let known = old?.assignment.keptViews ?? []
        let plan = IndexMap.of(schema)
        let fresh = try plan.views.views.filter { !known.contains($0.id) }
        let texts = try plan.texts.texts.filter { !known.contains($0.id) }
        guard !fresh.isEmpty || !texts.isEmpty || !known.isSubset(of: kept) else { return }
        if !texts.isEmpty, tables.views?.texts == nil { throw ViewTables.missing(texts: true) }
        guard let views = tables.views else { throw ViewTables.missing(texts: false) }
        for view in known.subtracting(kept).sorted() {
            for table in views.all { try Self.clear(view, table, transaction) }
        }
        try fill(fresh, plan, views, transaction)
        if let table = views.texts { try fill(texts, plan, table, transaction) }
    }

    /// Drops the records of a view and makes them anew from the objects.
    func refill(_ view: ViewID, _ transaction: WriteTransaction) throws {
        guard let schema = histories.newest else { return }
        guard let views = tables.views else { throw ViewTables.missing(texts: false) }
        for table in views.all { try Self.clear(view, table, transaction) }
        let plan = IndexMap.of(schema)
        if let table = views.texts {
            try fill(try plan.texts.texts.filter { $0.id == view }, plan, table, transaction)
        }
        try fill(try plan.views.views.filter { $0.id == view }, plan, views, transaction)
    }

    private func fill(
        _ fresh: [PreparedView], _ plan: IndexMap, _ views: ViewTables, _ transaction: WriteTransaction
    ) throws {
        let changes = GroupChanges()
        for entity in Set(fresh.flatMap(\.entities)).sorted() {
            guard let entity = plan.schema.entity(entity) else { continue }
            let own = fresh.filter { $0.entities.contains(entity.id) }
            try group(own, entity, plan, transaction, into: changes)
        }
        try changes.write(to: views, transaction)
    }

    private func group(
        _ views: [PreparedView], _ entity: EntitySchema, _ plan: IndexMap, _ transaction: WriteTransaction,
        into changes: GroupChanges
    ) throws {
        let snapshot = Snapshot(
            eventNumber: .zero, schema: plan.schema, transaction: transaction, tables: tables, histories: histories,
            layers: [])
        let evaluation = Evaluation(snapshot)
        let end = ObjectID(entity: entity.id, row: ObjectID.maximumRow).rawValue
        try transaction.withCursor(tables.objects) { cursor in
            var found = try cursor.seek(atOrAfter: ObjectID(entity: entity.id, row: 0).rawValue)
            while found {
                let id = StoreKey.objectID(cursor.key, at: 0)
                guard id.rawValue <= end else { return }
                let stored = try StoredRow(cursor.value)
                let layout = try histories.layout(of: stored.image, id: id)
                try plan.withNewestRow(try RowReader(stored.image, layout: layout), layout, entity) { row in
                    for view in views { try view.add(row, id, 1, evaluation, to: changes) }
                }
                found = try cursor.next()
            }
        }
    }

    /// Checks, before a save writes anything, that the tables of declared views are open if there are such views.
    func checkTables() throws {
        guard let model = histories.newest?.model, model.needsViewTables else { return }
        if model.hasFullText, tables.views?.texts == nil { throw ViewTables.missing(texts: true) }
        if tables.views == nil { throw ViewTables.missing(texts: false) }
    }

    /// Removes all records of a view.
    private static func clear(_ view: ViewID, _ table: Table, _ transaction: WriteTransaction) throws {
        try ViewKeys.withPrefix(of: view) { prefix in
            let cursor = try transaction.writeCursor(table)
            defer { cursor.close() }
            while try cursor.seek(atOrAfter: prefix), cursor.key.hasPrefix(prefix) { try cursor.delete() }
        }
    }
}
