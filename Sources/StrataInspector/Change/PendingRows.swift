import StrataGraph
import StrataModel

/// The rows of an import step that is not saved yet; later records of the file may name them.
final class PendingRows {
    /// Thrown if a record names a row that must be saved first.
    struct NamedTooEarly: Error {}

    private let entity: EntitySchema
    private(set) var rows: [BatchRow<ManagedObject>] = []
    /// Where in the file each row comes from.
    private(set) var locations: [String] = []
    /// The values of the rows for each attribute that was looked up.
    private var values: [String: Set<AttributeValue>] = [:]

    init(_ entity: EntitySchema) { self.entity = entity }

    func append(_ row: BatchRow<ManagedObject>, _ location: String) {
        rows.append(row)
        locations.append(location)
        for name in values.keys { note(row, name) }
    }

    func removeAll() {
        rows.removeAll(keepingCapacity: true)
        locations.removeAll(keepingCapacity: true)
        values = [:]
    }

    /// Whether a row is of this entity or a subentity and has this value.
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
