import LMDB
import StrataModel

/// Drops the values of some entities that later events up to a cut replace, from the cut backward.
///
/// Going backward, the first event of an object that names an attribute keeps its value, unless the object is deleted
/// at the cut; older ones lose it (`EventEraser`). Each step is one commit, after which the log leads to the same
/// state: later steps change older events only, and no reader gets an older value through a newer event. A thinning
/// that is interrupted begins again at the cut, and finds the events there already thinned.
///
/// Memory: some 60 bytes for each object that was changed after `done`.
struct Thinning: Sendable {
    /// The state of an object during the pass. The bits are those of the attributes of its entity.
    private struct Seen {
        /// Attributes whose value at the cut is still to come.
        var kept: UInt64
        /// Attributes that an event after `done` names; the value that stayed then is still to come, and goes.
        var pending: UInt64
    }

    /// The attributes of one entity that a pass looks at.
    private struct Attributes: Sendable {
        let numbers: [PropertyID]
        let fillers: [PropertyID: AttributeValue]
        /// Whether an index of the entity has left the model.
        let areInOldViews: Bool

        func bit(_ property: PropertyID) -> UInt64 { numbers.firstIndex(of: property).map { 1 << UInt64($0) } ?? 0 }

        func set(_ bits: UInt64) -> Set<PropertyID> {
            if bits == 0 { return [] }
            return Set(numbers.indices.filter { bits >> UInt64($0) & 1 != 0 }.map { numbers[$0] })
        }

        func bits(_ properties: Set<PropertyID>) -> UInt64 { properties.reduce(0) { $0 | bit($1) } }
    }

    let cut: EventNumber
    /// The cut of an earlier thinning: up to there only the newest values are left.
    let done: EventNumber
    /// The entities that are thinned.
    let entities: Set<EntityID>
    /// The newest event that no step has come to.
    private(set) var position: EventNumber
    private var seen: [ObjectID: Seen] = [:]
    private var pendingCount = 0
    private var attributes: [EntityID: Attributes] = [:]
    /// The part of the attributes that this pass looks at, where an entity has had very many.
    private let pass: Int
    private var hasMorePasses = false
    /// Whether a newer model was installed after the events that come next.
    private var isBehindModel = false
    /// Whether an event was changed that the views show: an index that has left the model has the entries of that time.
    private(set) var mustRebuild = false

    /// The most attributes of one pass.
    private static let attributesInOnePass = UInt64.bitWidth

    init(_ entities: Set<EntityID>, after done: EventNumber, through cut: EventNumber, pass: Int = 0) {
        self.entities = entities
        self.done = done
        self.cut = cut
        self.pass = pass
        position = cut
    }

    /// The same for further attributes, if an entity has had more than one pass looks at; nil if not.
    var nextPass: Int? { hasMorePasses ? pass + 1 : nil }

    /// Goes on over some events.
    ///
    /// - Parameter count: about how many.
    mutating func run(over count: Int, _ file: StoreFile, _ transaction: WriteTransaction) throws -> ThinningStep {
        let log = try reader(file, transaction)
        var changes = EventChanges()
        var batch = WriteBatch(tables: file.tables)
        let step = try walk(over: count, log) { number, record, blobs in
            changes.replace(number.rawValue, with: record)
            for blob in blobs { batch.add(-1, to: CounterKey(blob: blob)) }
        }
        try changes.write(file.tables, transaction)
        try batch.flush(into: transaction)
        return step
    }

    /// The same without a change: says how many events would lose values.
    mutating func plan(over count: Int, _ file: StoreFile, _ transaction: ReadTransaction) throws -> ThinningStep {
        try walk(over: count, reader(file, transaction)) { _, _, _ in }
    }

    private func reader(_ file: StoreFile, _ transaction: ReadTransaction) throws -> LogReader {
        LogReader(transaction, file.tables, try file.histories(for: file.readHead(transaction), transaction))
    }

    // MARK: Walking

    private mutating func walk(
        over count: Int, _ log: LogReader, _ change: (EventNumber, [UInt8], [BlobReference]) -> Void
    ) throws -> ThinningStep {
        var step = ThinningStep()
        let first = try start(count, log)
        var records: [(number: EventNumber, bytes: [UInt8])] = []
        try log.events(from: first, through: position, .whole) { event, number in
            if event.header.kind == .modelInstalled { records.append((number, [])) }
            if event.header.kind.isOnRow, entities.contains(event.header.object.entityID), isConcerned(event, number) {
                records.append((number, Array(event.record)))
            }
            return true
        }
        for (number, bytes) in records.reversed() {
            if bytes.isEmpty {
                isBehindModel = true
                continue
            }
            let (changed, blobs) = try bytes.withUnsafeBytes { bytes in
                try thin(EventView(sealed: bytes), number, log)
            }
            guard let changed else { continue }
            change(number, changed, blobs)
            step.changedEvents += 1
        }
        position = EventNumber(rawValue: first.rawValue - 1)
        step.isDone = position == .zero || position <= done && pendingCount == 0
        return step
    }

    /// The first event of a step. Up to the baseline there are few for many numbers.
    private func start(_ count: Int, _ log: LogReader) throws -> EventNumber {
        var size = UInt64(max(1, count))
        if let baseline = try log.baseline(), position <= baseline.event {
            size *= max(1, baseline.event.rawValue / max(1, baseline.keptCount))
        }
        let before = position.rawValue - min(size, position.rawValue)
        // The values that an older event loses are known when all newer events were read.
        return EventNumber(rawValue: (position > done ? max(done.rawValue, before) : before) + 1)
    }

    /// Up to the earlier cut, only objects that have changed since lose anything.
    private func isConcerned(_ event: EventView, _ number: EventNumber) -> Bool {
        number > done || seen[event.header.object].map { $0.pending != 0 } ?? false
    }

    /// - Returns: the record without values; nil if it has none to lose.
    private mutating func thin(
        _ event: EventView, _ number: EventNumber, _ log: LogReader
    ) throws -> ([UInt8]?, [BlobReference]) {
        let id = event.header.object
        // One that was never changed before the cut loses nothing, and needs no place in the table.
        if event.header.kind == .inserted, seen[id] == nil { return (nil, []) }
        let attributes = try attributes(of: id.entityID, log.histories)
        var state = seen[id] ?? Seen(kept: .max, pending: 0)
        if number <= done, state.pending == 0 { return (nil, []) }
        let wasPending = state.pending != 0
        if event.header.kind == .deleted { state = Seen(kept: 0, pending: .max) }
        var eraser = EventEraser(attributes.fillers, keeping: attributes.set(state.kept), log.histories, mark: .thinned)
        let record = try eraser.erased(event)
        if record != nil, isBehindModel, attributes.areInOldViews { mustRebuild = true }
        switch event.header.kind {
        case .inserted: state = Seen(kept: 0, pending: 0)
        case .updated where !event.isBare:
            var named: UInt64 = 0
            for change in try event.changes() { named |= attributes.bit(change.property) }
            state.kept &= ~named
            if number > done { state.pending |= named } else { state.pending &= ~named }
        default: break
        }
        pendingCount += (state.pending != 0 ? 1 : 0) - (wasPending ? 1 : 0)
        seen[id] = state
        return (record, eraser.blobs)
    }

    private mutating func attributes(of entity: EntityID, _ histories: SchemaHistory) throws -> Attributes {
        if let known = attributes[entity] { return known }
        let properties = ErasedProperties(properties: nil, histories: histories)
        let all = try properties.fillers(of: entity)
        let numbers = all.keys.sorted()
        let rest = numbers.dropFirst(pass * Self.attributesInOnePass)
        if rest.count > Self.attributesInOnePass { hasMorePasses = true }
        let own = Array(rest.prefix(Self.attributesInOnePass))
        let made = Attributes(
            numbers: own, fillers: all.filter { own.contains($0.key) },
            areInOldViews: try properties.isInOldViews(entity))
        attributes[entity] = made
        return made
    }
}

/// The result of one commit of a thinning.
struct ThinningStep {
    var changedEvents = 0
    var isDone = false
}
