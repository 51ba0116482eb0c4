import LMDB
import StrataModel

/// The events that one step of a truncation (`TrimStep`) goes over: for each row and pair the event before them and the
/// last of them; their models, maintenance events and transactions.
///
/// Memory: some 50 bytes for each object and pair touched.
struct TrimStepEvents: ~Copyable {
    /// The events on one row or pair.
    struct Chain: BitwiseCopyable {
        /// The event before the stretch, 0 for none.
        let first: UInt64
        /// The last event of the stretch.
        var last: UInt64
        /// Whether the row or pair exists after it.
        var isAlive: Bool
        /// Whether the last event can stay as it is: it has nothing before it.
        var isWhole: Bool
    }

    private let tables: StoreTables
    private(set) var rows = ObjectTable(filler: Chain(first: 0, last: 0, isAlive: false, isWhole: false))
    private(set) var pairs: [PairKey: (chain: Chain, positions: PairPositions)] = [:]
    private(set) var notes: [EventNumber] = []
    /// Models installed in the stretch, in order.
    private(set) var models: [(event: EventNumber, version: ModelVersion)] = []
    private(set) var transactions: [TransactionRecord] = []
    private(set) var count = 0
    /// The number of times that events of the stretch name each large value.
    private(set) var blobs = BlobCounts()
    private let countsBlobs: Bool

    /// The last transaction; nil before the first.
    var last: TransactionRecord? { transactions.last }

    init(_ tables: StoreTables, countsBlobs: Bool) {
        self.tables = tables
        self.countsBlobs = countsBlobs
    }

    /// Reads whole transactions after a baseline until there are enough of them.
    ///
    /// - Parameters:
    ///   - target: the last transaction to read.
    ///   - limits: the numbers of events and bytes after which no further transaction begins.
    mutating func read(
        after baseline: LogBaseline, through target: TransactionNumber, _ limits: TrimLimits, _ log: LogReader
    ) throws {
        try log.transaction.withCursor(tables.events) { cursor in
            var walk = EventWalk(cursor, .values)
            defer { walk.close() }
            var found = try walk.seek(atOrAfter: baseline.event.rawValue + 1)
            var size = 0
            var number = baseline.transaction.rawValue + 1
            while number <= target.rawValue, count < limits.eventsInOneCommit, size < limits.bytesInOneCommit {
                guard let record = try log.transaction(TransactionNumber(rawValue: number)) else {
                    throw StrataError(.corrupt, "A transaction of the log is missing: \(number).")
                }
                for event in record.firstEvent.rawValue...record.lastEvent.rawValue {
                    guard found, walk.number == event else {
                        throw StrataError(
                            .corrupt, "An event of the log is missing.",
                            context: .init(eventNumber: EventNumber(rawValue: event)))
                    }
                    size += walk.record.count
                    try note(try walk.view(), EventNumber(rawValue: event), log.histories)
                    found = try walk.next()
                }
                transactions.append(record)
                number += 1
            }
        }
    }

    private mutating func note(_ event: EventView, _ number: EventNumber, _ histories: SchemaHistory) throws {
        count += 1
        let header = event.header
        switch header.kind {
        case .inserted, .updated, .deleted:
            let known = rows[header.object]
            let isFirst = header.kind == .inserted
            // Before an insertion there was at most a deletion, which no baseline keeps.
            let first = known?.first ?? (isFirst ? 0 : header.previous.rawValue)
            rows.set(
                header.object,
                to: Chain(
                    first: first, last: number.rawValue, isAlive: header.kind != .deleted,
                    isWhole: isFirst && header.previous == .zero))
            if countsBlobs { try blobs.add(event, -1, histories) }
        case .linked, .unlinked, .moved:
            let pair = try event.pair()
            let first = pairs[pair.key]?.chain.first ?? header.previous.rawValue
            pairs[pair.key] = (
                Chain(
                    first: first, last: number.rawValue, isAlive: header.kind != .unlinked,
                    isWhole: header.kind == .linked && header.previous == .zero), pair.positions
            )
        case .modelInstalled: models.append((number, try event.installedModel().version))
        case .maintenance: notes.append(number)
        }
    }
}

/// The change in the number of events that name each large value.
struct BlobCounts {
    private(set) var counts: [BlobReference: Int64] = [:]

    /// Counts as the projector does: values in insertions, and new values in updates.
    mutating func add(_ event: EventView, _ sign: Int64, _ histories: SchemaHistory) throws {
        if event.isBare { return }
        switch event.header.kind {
        case .inserted: try add(image: event.payload, of: event.header.object, sign, histories)
        case .updated:
            for change in try event.changes() {
                if case .value(.blob(let reference)) = change.after { counts[reference, default: 0] += sign }
            }
        default: break
        }
    }

    mutating func add(
        image: UnsafeRawBufferPointer, of id: ObjectID, _ sign: Int64, _ histories: SchemaHistory
    ) throws {
        let layout = try histories.layout(of: image, id: id)
        let reader = try RowReader(image, layout: layout)
        for slot in layout.variableSlots where layout.slots[slot].allowsExternalStorage {
            if let reference = try reader.blob(slot) { counts[reference, default: 0] += sign }
        }
    }
}
