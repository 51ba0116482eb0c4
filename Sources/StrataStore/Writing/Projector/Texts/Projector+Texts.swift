import LMDB
import StrataModel

// Full texts. The words of an object are a function of its row, so the lists are a function of the rows at an event.
extension Projector {
    /// The number of bytes that are collected before they are written, when lists are made again: so few that the
    /// processor's cache holds most of them, and several times the terms that `TextChanges.reset` keeps.
    private static let step = 32 << 20

    mutating func insertText(
        _ text: PreparedText, _ id: ObjectID, _ row: RowReader, _ layout: RowLayout, _ entity: ProjectedEntity
    ) throws {
        let changes = try textChanges()
        try entity.plan.withNewestRow(row, layout, entity.schema) { try changes.insert(id, $0, text) }
    }

    mutating func removeText(
        _ text: PreparedText, _ id: ObjectID, _ row: RowReader, _ layout: RowLayout, _ entity: ProjectedEntity
    ) throws {
        let changes = try textChanges()
        try entity.plan.withNewestRow(row, layout, entity.schema) { try changes.remove(id, $0, text) }
    }

    /// - Parameter after: in the newest layout.
    mutating func updateText(
        _ text: PreparedText, _ id: ObjectID, from before: RowReader, _ layout: RowLayout, to after: RowReader,
        _ entity: ProjectedEntity
    ) throws {
        let changes = try textChanges()
        try entity.plan.withNewestRow(before, layout, entity.schema) {
            try changes.update(id, from: $0, to: after, text)
        }
    }

    private mutating func textChanges() throws -> TextChanges {
        guard tables.views?.texts != nil else { throw MissingViewTables(hasTexts: true) }
        return batch.textChanges()
    }

    /// Makes the lists of words of full texts from the objects.
    func fill(
        _ texts: [PreparedText], _ plan: IndexMap, _ table: Table, _ transaction: WriteTransaction,
        stepInBytes: Int = Self.step
    ) throws {
        for text in texts {
            let changes = TextChanges()
            for entity in text.entities.sorted() {
                guard let entity = plan.schema.entity(entity) else { continue }
                var next = ObjectID(entity: entity.id, row: 0).rawValue
                while let more = try collect(
                    text, entity, plan, from: next, upTo: stepInBytes, into: changes, transaction)
                {
                    try changes.write(to: table, transaction)
                    changes.reset()
                    next = more
                }
            }
            try changes.write(to: table, transaction)
        }
    }

    /// - Returns: where to continue once the changes are written; nil at the end of the entity.
    private func collect(
        _ text: PreparedText, _ entity: EntitySchema, _ plan: IndexMap, from start: UInt64, upTo limit: Int,
        into changes: TextChanges, _ transaction: WriteTransaction
    ) throws -> UInt64? {
        let end = ObjectID(entity: entity.id, row: ObjectID.maximumRow).rawValue
        return try transaction.withCursor(tables.objects) { cursor in
            var found = try cursor.seek(atOrAfter: start)
            while found {
                let id = StoreKey.objectID(cursor.key, at: 0)
                guard id.rawValue <= end else { return nil }
                if changes.sizeInBytes > limit { return id.rawValue }
                let stored = try StoredRow(cursor.value)
                let layout = try histories.layout(of: stored.image, id: id)
                try plan.withNewestRow(try RowReader(stored.image, layout: layout), layout, entity) {
                    try changes.insert(id, $0, text)
                }
                found = try cursor.next()
            }
            return nil
        }
    }
}
