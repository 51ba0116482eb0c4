import StrataGraph
import StrataModel

/// The rows of an import that are not saved yet: those of the step that is read, and those of the step that is being
/// written. Later records of the file may name them.
final class PendingRows {
    /// Thrown if a record names a row that must be saved first.
    struct NamedTooEarly: Error {}

    private struct Step {
        var rows: [BatchValues] = []
        /// The place in the file of each row.
        var locations: [RecordLocation] = []
        /// The values of the rows for each attribute that was looked up.
        private var values: [String: Set<AttributeValue>] = [:]

        mutating func append(_ row: BatchValues, _ location: RecordLocation) {
            rows.append(row)
            locations.append(location)
            for name in values.keys { note(row, name) }
        }

        mutating func hold(_ value: AttributeValue, of name: String) -> Bool {
            if values[name] == nil {
                values[name] = []
                for row in rows { note(row, name) }
            }
            return values[name]?.contains(value) ?? false
        }

        private mutating func note(_ row: BatchValues, _ name: String) {
            if let value = row.value(named: name), !value.isNull { values[name]?.insert(value) }
        }
    }

    private let entity: EntitySchema
    private var read = Step()
    private var written = Step()

    init(_ entity: EntitySchema) { self.entity = entity }

    /// The rows that are read and not yet written.
    var rows: [BatchValues] { read.rows }
    var locations: [RecordLocation] { read.locations }
    var count: Int { read.rows.count }
    /// The places in the file of the rows that are being written.
    var writtenLocations: [RecordLocation] { written.locations }

    func append(_ row: BatchValues, _ location: RecordLocation) { read.append(row, location) }

    /// From here on the rows so far are being written.
    func beginWriting() { (read, written) = (Step(), read) }

    /// The rows that were being written are saved, or refused.
    func endWriting() { written = Step() }

    /// Whether a row is of this entity or a subentity and has this value.
    func hold(_ value: AttributeValue, of name: String, in target: EntitySchema) -> Bool {
        guard target.entityIDs.contains(entity.id) else { return false }
        return read.hold(value, of: name) || written.hold(value, of: name)
    }
}
