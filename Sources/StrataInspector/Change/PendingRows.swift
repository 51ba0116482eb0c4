import StrataGraph
import StrataModel

/// Rows of a step that is not saved yet, which later records of the file may name.
final class PendingRows {
    /// A record names a row that has to be saved first.
    struct NamedTooEarly: Error {}

    private let entity: EntitySchema
    private(set) var rows: [BatchRow<ManagedObject>] = []
    /// Where in the file each comes from.
    private(set) var places: [String] = []
    /// What the rows have for an attribute, for those that were asked for.
    private var values: [String: Set<AttributeValue>] = [:]

    init(_ entity: EntitySchema) { self.entity = entity }

    func append(_ row: BatchRow<ManagedObject>, _ place: String) {
        rows.append(row)
        places.append(place)
        for name in values.keys { note(row, name) }
    }

    func removeAll() {
        rows.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
        values = [:]
    }

    /// Whether one of the rows is an object of this entity, or of one below it, with this value.
    func hold(_ value: AttributeValue, of name: String, in target: EntitySchema) -> Bool {
        guard !rows.isEmpty, target.entityIDs.contains(entity.id) else { return false }
        if values[name] == nil {
            values[name] = []
            for row in rows { note(row, name) }
        }
        return values[name]?.contains(value) ?? false
    }

    private func note(_ row: BatchRow<ManagedObject>, _ name: String) {
        if let value = row[name], !value.isNull { values[name]?.insert(value) }
    }
}
