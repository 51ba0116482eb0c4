import StrataModel

// What a comparison means where something is missing, as Core Data's stores have it: `== nil` and `!= nil` ask whether
// a value is there; every other comparison with a missing value is false, `!=` included; NOT turns that into true. A
// key path through a to-one that leads nowhere is missing. Text is compared in the form that index keys have
// (`TextFolding`), so canonically equivalent texts are equal; floating point by worth, and NaN equals nothing.

/// One compiled condition over a row: a node of a predicate that was bound to an entity.
///
/// It reads the row's bytes where they lie and makes neither objects nor, where bytes settle it, values. Slots are
/// those of the entity's newest layout, the same in all its subentities.
protocol RowCondition: AnyObject, Sendable {
    /// Whether the row of object `id` meets the condition.
    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool
    /// What the condition comes to where a to-one on the way leads nowhere.
    var holdsForNothing: Bool { get }
    /// How long it takes beside the other parts of an AND or OR, which are tried from cheap to dear.
    var cost: ConditionCost { get }
}

/// Orders conditions by what they touch.
enum ConditionCost: Int, Comparable, Sendable {
    case constant, scalar, text, value, otherRow, manyRows

    static func < (left: ConditionCost, right: ConditionCost) -> Bool { left.rawValue < right.rawValue }
}

/// What conditions may reach beyond the row at hand, and memory they share.
///
/// Belongs to one run of one query on one thread.
final class Evaluation {
    let schema: Schema
    /// nil where only the row itself may be asked: the predicate of a partial index.
    let snapshot: Snapshot?
    /// For what only an evaluator of whole expressions can tell.
    private(set) lazy var expressions = SnapshotExpressions(self)
    /// Folded text of the row at hand.
    @exclusivity(unchecked) private var text = ByteWriter(capacity: 256)

    init(_ snapshot: Snapshot) {
        self.snapshot = snapshot
        schema = snapshot.schema
    }

    /// For conditions over nothing but the row itself.
    init(ownRowOf schema: Schema) {
        snapshot = nil
        self.schema = schema
    }

    /// Calls `body` with the row of another object in its newest layout, or with nil when there is none.
    func withRow<R>(_ id: ObjectID, _ body: (RowReader?) throws -> R) throws -> R {
        guard let row = try snapshot?.row(id) else { return try body(nil) }
        return try row.withNewestReader(id, schema) { try body($0) }
    }

    /// Calls `body` with the text in the form in which it is compared.
    @inline(__always)
    func withForm<R>(
        of bytes: UnsafeRawBufferPointer, _ folding: StringFolding, _ body: (UnsafeRawBufferPointer) throws -> R
    ) rethrows -> R {
        if !folding.contains(.caseInsensitive), bytes.isASCII { return try body(bytes) }
        return try withFolded(bytes, folding, body)
    }

    private func withFolded<R>(
        _ bytes: UnsafeRawBufferPointer, _ folding: StringFolding, _ body: (UnsafeRawBufferPointer) throws -> R
    ) rethrows -> R {
        text.reset()
        bytes.withMemoryRebound(to: UInt8.self) { TextFolding.fold($0, folding, into: &text) }
        return try body(text.bytes)
    }
}

extension SnapshotRow {
    /// Reads the row as one of the newest layout; what it is too old for reads as it was born.
    func withNewestReader<R>(_ id: ObjectID, _ schema: Schema, _ body: (RowReader) throws -> R) throws -> R {
        if layout.version == schema.version { return try body(reader) }
        guard let entity = schema.entity(id.entityID) else {
            throw StrataError(.corrupt, "A row is of an entity that the model has not.", context: .init(objectID: id))
        }
        let image = try converted(to: entity)
        return try withExtendedLifetime(image) {
            try body(try RowReader(image.unsafeBytes, layout: entity.layout))
        }
    }
}
