import StrataModel

// The meaning of comparisons follows Core Data's stores. `== nil` and `!= nil` test whether there is a value. Every
// other comparison with nil is false, `!=` included, and NOT makes that true. A key path through a to-one that is nil
// is nil. Text is compared in the form that index keys have (`TextFolding`), so canonically equivalent texts are equal.
// Numbers are compared by value; NaN equals nothing.

/// A compiled condition on a row: one node of a predicate, bound to an entity.
///
/// It reads the bytes of the row in place. It makes no objects, and values only where bytes do not suffice. Slots are
/// those of the entity's newest layout, which all its subentities share.
protocol RowCondition: AnyObject, Sendable {
    /// Whether the row of object `id` meets the condition.
    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool
    /// Whether the condition holds if a to-one on its path is nil: no, unless it says so.
    var holdsForNothing: Bool { get }
    /// Its cost, by which the parts of an AND or OR are sorted.
    var cost: ConditionCost { get }
}

extension RowCondition {
    var holdsForNothing: Bool { false }
}

/// The cost of a condition, in classes that are sorted from cheap to expensive.
enum ConditionCost: Int, Comparable, Sendable {
    case constant, scalar, text, value, otherRow, manyRows

    static func < (left: ConditionCost, right: ConditionCost) -> Bool { left.rawValue < right.rawValue }
}

/// The state that conditions share during a run: the snapshot with other rows, and buffers.
///
/// Belongs to one run of a query, on one thread.
final class Evaluation {
    let schema: Schema
    /// nil if conditions may only use the row itself, as the predicate of a partial index.
    let snapshot: Snapshot?
    /// Evaluates expressions that are not compiled.
    private(set) lazy var expressions = SnapshotExpressions(self)
    /// Set by a run over many rows of a state that does not change meanwhile.
    var ahead: MembersAhead?
    /// The results of `RememberedCondition`s.
    private var remembered: [ObjectIdentifier: [ObjectID: Bool]] = [:]
    /// The numbers that `FarNumberCondition`s have read.
    private var farNumbers: [FarNumbers] = []
    /// The results of `TextCondition`s whose whole query was run.
    private var textResults: [ObjectIdentifier: TextResult] = [:]
    private var textScans: [ObjectIdentifier: (scan: TextScan, uses: Int)] = [:]
    /// Whether text queries are run with ranks.
    var ranksText = false
    /// The folded text of the present row.
    @exclusivity(unchecked) private var text = ByteWriter(capacity: 256)

    init(_ snapshot: Snapshot) {
        self.snapshot = snapshot
        schema = snapshot.schema
    }

    /// Makes an evaluation for conditions that use only the row itself.
    init(ownRowOf schema: Schema) {
        snapshot = nil
        self.schema = schema
    }

    /// Counts work that is no reading of rows or links.
    ///
    /// - Throws: as `RequestMeter.spend`.
    @inline(__always)
    func spend(_ values: Int) throws { if let snapshot { try snapshot.spend(values: values) } }

    /// Counts the work on a text of more than a few bytes.
    @inline(__always)
    func spend(onText count: Int) throws { if count >= 256 { try spend(PredicateWork.ofText(count)) } }

    /// The result of a condition for an object, decided once in a run.
    func remembered(
        _ condition: RememberedCondition, _ id: ObjectID, _ decide: () throws -> Bool
    ) throws -> Bool {
        if let known = remembered[ObjectIdentifier(condition)]?[id] { return known }
        let result = try decide()
        try snapshot?.hold(32)
        remembered[ObjectIdentifier(condition), default: [:]][id] = result
        return result
    }

    /// The numbers that a condition has read.
    func farNumbers(of condition: FarNumberCondition) -> FarNumbers {
        for known in farNumbers where known.condition === condition { return known }
        let made = FarNumbers(condition)
        farNumbers.append(made)
        return made
    }

    /// Returns the result of a text query, which is run once.
    func textResult(_ condition: TextCondition) throws -> TextResult {
        let key = ObjectIdentifier(condition)
        if let known = textResults[key] { return known }
        guard let snapshot else { return TextResult() }
        let result = try snapshot.search(
            condition.query, condition.text, columns: condition.columns, ranked: ranksText)
        textResults[key] = result
        return result
    }

    /// Returns the result of a text query that was run; nil if it was not.
    func knownTextResult(_ condition: TextCondition) -> TextResult? {
        textResults.isEmpty ? nil : textResults[ObjectIdentifier(condition)]
    }

    /// The scan of single texts for a query; nil once enough texts were scanned to run the query itself.
    func textScan(_ condition: TextCondition) throws -> TextScan? {
        let key = ObjectIdentifier(condition)
        guard let uses = textScans[key]?.uses else {
            let made = TextScan(condition.query)
            textScans[key] = (made, 1)
            return made
        }
        if uses == Self.mostScans, snapshot != nil {
            _ = try textResult(condition)
            return nil
        }
        textScans[key]?.uses = uses + 1
        return textScans[key]?.scan
    }

    private static let mostScans = 256

    /// Calls `body` with the row of another object in its newest layout, or nil if there is none, or if the model no
    /// longer has its entity.
    func withRow<R>(_ id: ObjectID, _ body: (RowReader?) throws -> R) throws -> R {
        guard let snapshot else { return try body(nil) }
        try snapshot.spend(rows: 1)
        guard schema.entity(id.entityID) != nil, let row = try snapshot.row(id) else { return try body(nil) }
        return try row.withNewestReader(id, schema) { try body($0) }
    }

    /// Calls `body` with a text in the form in which it is compared.
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
    /// Reads the row through the newest layout. Properties that are newer than the row have their initial values.
    func withNewestReader<R>(_ id: ObjectID, _ schema: Schema, _ body: (RowReader) throws -> R) throws -> R {
        if layout.version == schema.version { return try body(reader) }
        guard let entity = schema.entity(id.entityID) else {
            throw StrataError(
                .corrupt, "A row belongs to an entity that the model does not have.", context: .init(objectID: id))
        }
        let image = try converted(to: entity)
        return try withExtendedLifetime(image) {
            try body(try RowReader(image.unsafeBytes, layout: entity.layout))
        }
    }
}
