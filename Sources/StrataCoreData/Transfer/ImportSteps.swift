import StrataGraph
import StrataModel
import StrataStore

/// Fills a new store from a file, in transactions that each note how far they have come.
///
/// Rows without history are inserted table by table, those with a history transaction by transaction. A to-one whose
/// target comes later is set in a further pass, and pairs follow in the last. An interrupted import of the same file
/// goes on behind the last transaction.
final class ImportSteps {
    private let store: Store
    private let layout: ImportLayout
    private let history: PersistentHistory
    private let mending: OneToOneMending
    private let places: PlaceMending
    private let treatment: CoreDataFaultTreatment
    private let watch: ImportWatch
    /// The progress of an earlier run.
    private let begun: ImportStep
    /// The tables with to-ones that are still to be set.
    private var open: Set<Int> = []
    /// The steps that are being written while the next one is read, oldest first. Those that wait share a commit.
    private var pending: [(save: SaveInProgress, size: StepSize)] = []

    /// The size of a step. Steps that share a commit are together as large as one may be, because a commit is in
    /// memory.
    private struct StepSize {
        var rows: Int
        var bytes: Int

        init(_ changes: ChangeSet) {
            rows = changes.insertions.count + changes.updates.count + changes.pairs.count
            bytes = changes.insertions.reduce(0) { $0 + $1.image.count }
            bytes += changes.updates.reduce(0) { $0 + $1.image.count }
        }

        mutating func add(_ other: StepSize) {
            rows += other.rows
            bytes += other.bytes
        }

        var isTooLarge: Bool { rows > Stretch.mostRows || bytes > Stretch.mostBytes }
    }

    /// Insertions until they are enough for a transaction.
    private struct Stretch {
        static let mostRows = 10_000
        static let mostPairs = 20_000
        static let mostBytes = 8 << 20

        private(set) var insertions: [ChangeSet.Insertion] = []
        private var size = 0

        var isFull: Bool { insertions.count >= Self.mostRows || size >= Self.mostBytes }

        mutating func add(_ row: ImportedRows.Row) {
            insertions.append(ChangeSet.Insertion(id: row.id, image: row.image))
            size += row.image.count
        }
    }

    init(
        _ store: Store, _ layout: ImportLayout, _ history: PersistentHistory, _ treatment: CoreDataFaultTreatment,
        _ watch: ImportWatch
    ) throws {
        self.store = store
        self.layout = layout
        self.history = history
        self.treatment = treatment
        self.watch = watch
        mending = try OneToOneMending(layout)
        places = try PlaceMending(layout)
        watch.rowCount = layout.keys.reduce(0) { $0 + $1.count }
        begun = try Self.lastStep(of: store)
    }

    /// - Returns: how many pairs the store has.
    func run(_ faults: inout FaultList) throws -> Int {
        let lease = try store.beginBlobLease()
        defer { withExtendedLifetime(lease) {} }
        try insertRows(&faults)
        try insertHistory(&faults)
        try setLinks()
        let pairs = try insertPairs(&faults)
        try settle()
        return pairs
    }

    // MARK: Saving

    private static func lastStep(of store: Store) throws -> ImportStep {
        let last = try store.transactions(before: nil, limit: 64)
        return last.lazy.compactMap { $0.metadata[ImportRecord.stepKey].flatMap { ImportStep($0) } }.first ?? .start
    }

    private func newChanges(_ step: ImportStep) throws -> ChangeSet {
        ChangeSet(
            base: try store.head(), modelVersion: store.schema.version, contextName: "import",
            metadata: [ImportRecord.stepKey: step.text, HistoryTransaction.reasonKey: "import from Core Data"])
    }

    /// Begins to write a step. Small steps wait for each other in the writer, up to the size of a large one.
    private func save(_ changes: ChangeSet) throws {
        guard !changes.isEmpty else { return }
        let size = StepSize(changes)
        while !pending.isEmpty, pending.reduce(into: size, { $0.add($1.size) }).isTooLarge { try settleFirst() }
        try store.trimMappedPages()
        pending.append((try store.beginSave(changes), size))
    }

    /// Waits until everything is written.
    private func settle() throws {
        while !pending.isEmpty { try settleFirst() }
    }

    private func settleFirst() throws {
        let outcome: SaveOutcome
        do {
            outcome = try pending.removeFirst().save.wait()
        } catch {
            throw isTornByLaterSteps() ? Self.torn(error) : error
        }
        if case .stale(let staleness) = outcome {
            throw StrataError(
                .merge, "The store changed during the import.",
                context: .init(objectID: staleness.objects.first?.id ?? staleness.missingTargets.first?.target))
        }
    }

    /// Whether a step was written that began before an earlier one failed: an import that goes on would miss rows.
    private func isTornByLaterSteps() -> Bool {
        let later = pending
        pending = []
        return later.map { step in
            do {
                _ = try step.save.wait()
                return true
            } catch {
                return false
            }
        }.contains(true)
    }

    private static func torn(_ error: any Error) -> StrataError {
        StrataError(
            .persistentStoreOperation, "A step of the import was not written, and a later one was. Begin anew.",
            cause: error)
    }

    // MARK: Rows

    private func rows(of table: Int, after key: Int64?) throws -> ImportedRows {
        var rows = try ImportedRows(
            layout, table: table, links: mending, places: places, history: history, treatment: treatment, after: key)
        rows.stage = { [store] (bytes: BytesInPieces) in try store.stageBlob(bytes) }
        return rows
    }

    private func insertRows(_ faults: inout FaultList) throws {
        for table in layout.plan.tables.indices {
            guard let first = begun.key(in: .rows, table: table) else { continue }
            let rows = try rows(of: table, after: first)
            var stretch = Stretch()
            var last = first
            while let row = try rows.next(.earlierRows, &faults) {
                add(row, of: table, to: &stretch)
                last = row.key
                if stretch.isFull { try flush(&stretch, ImportStep(phase: .rows, table: table, key: last)) }
                try watch.noteRow("rows")
            }
            try flush(&stretch, ImportStep(phase: .rows, table: table, key: last))
        }
    }

    private func add(_ row: ImportedRows.Row, of table: Int, to stretch: inout Stretch) {
        stretch.add(row)
        if !row.isComplete { open.insert(table) }
    }

    private func flush(
        _ stretch: inout Stretch, _ step: ImportStep, _ transaction: PersistentHistory.Transaction? = nil
    ) throws {
        var changes = try newChanges(step)
        if let transaction {
            changes.author = transaction.author
            changes.contextName = transaction.context ?? changes.contextName
            changes.metadata.merge(FileHistory.metadata(of: transaction)) { $1 }
        }
        changes.insertions = stretch.insertions.sorted { $0.id < $1.id }
        try save(changes)
        stretch = Stretch()
    }

    /// The rows with a history, in the transactions that changed them last.
    private func insertHistory(_ faults: inout FaultList) throws {
        guard let first = begun.key(in: .history, table: 0) else { return }
        let changes = history.lastChanges()
        guard !changes.isEmpty else { return }
        let readers = try layout.plan.tables.indices.map { try rows(of: $0, after: nil) }
        var stretch = Stretch()
        for (index, change) in changes.enumerated().dropFirst(max(0, Int(first))) {
            if let row = try readers[change.table].row(at: change.key, &faults) {
                add(row, of: change.table, to: &stretch)
            }
            let isLast = index + 1 == changes.count || changes[index + 1].transaction != change.transaction
            if isLast || stretch.isFull {
                let step = ImportStep(phase: .history, table: 0, key: Int64(index + 1))
                try flush(&stretch, step, history.transactions[change.transaction])
            }
            try watch.noteRow("rows")
        }
    }

    // MARK: Links

    /// Sets the to-ones whose targets came after them.
    private func setLinks() throws {
        // After an interruption it is not known which tables are open.
        for table in layout.plan.tables.indices where begun != .start || open.contains(table) {
            guard let first = begun.key(in: .links, table: table) else { continue }
            // The rows were checked when they were inserted.
            var unheard = FaultList(treatment)
            let rows = try rows(of: table, after: first)
            var (step, isAtEnd) = ([ImportedRows.Row](), false)
            while !isAtEnd {
                step.removeAll(keepingCapacity: true)
                var size = 0
                while step.count < Stretch.mostRows, size < Stretch.mostBytes {
                    guard let row = try rows.next(.allRows, &unheard) else {
                        isAtEnd = true
                        break
                    }
                    step.append(row)
                    size += row.image.count
                }
                guard let last = step.last else { break }
                try watch.check()
                // Rows are changed in the newest state.
                try settle()
                var changes = try newChanges(ImportStep(phase: .links, table: table, key: last.key))
                changes.updates = try store.read(at: changes.base) { snapshot in
                    try step.compactMap { try Self.update($0, snapshot) }
                }
                try save(changes)
                watch.progress?(StoreProgress(phase: "links", done: Int(clamping: last.key), total: 0))
            }
        }
    }

    /// nil if the row has all its links. Derived attributes stay as the store has computed them.
    private static func update(_ row: ImportedRows.Row, _ snapshot: Snapshot) throws -> ChangeSet.Update? {
        guard let stored = try snapshot.row(row.id), let entity = snapshot.schema.entity(row.id.entityID) else {
            return nil
        }
        let before = try stored.converted(to: entity)
        var builder = try RowBuilder(before, layout: entity.layout)
        var changed: [Int] = []
        try row.image.withReader(entity.layout) { (new) throws(CorruptRecord) in
            try before.withReader(entity.layout) { (old) throws(CorruptRecord) in
                for property in entity.properties {
                    switch property.storage {
                    case .reference, .position: break
                    case .attribute, .encrypted, nil: continue
                    }
                    let value = try new.value(property.slot)
                    if value == (try old.value(property.slot)) { continue }
                    do {
                        try builder.set(property.slot, value)
                    } catch {
                        throw CorruptRecord("a link that a row cannot hold", at: 0)
                    }
                    changed.append(property.slot)
                }
            }
        }
        guard !changed.isEmpty else { return nil }
        return ChangeSet.Update(
            id: row.id, baseRevision: stored.revision, image: try builder.finish(), changedSlots: changed)
    }

    /// - Returns: how many pairs the store has.
    private func insertPairs(_ faults: inout FaultList) throws -> Int {
        var count = 0
        for (index, pair) in layout.plan.pairs.enumerated() {
            guard let first = begun.key(in: .pairs, table: index) else {
                count += try pairCount(pair, through: .max)
                continue
            }
            if first > .min { count += try pairCount(pair, through: first) }
            let pairs = try ImportedPairs(layout, pair, after: first)
            var isAtEnd = false
            while !isAtEnd {
                var keys: Set<PairKey> = []
                var changes = try newChanges(.start)
                var last = first
                while changes.pairs.count < Stretch.mostPairs {
                    guard let next = try pairs.next(&faults) else {
                        isAtEnd = true
                        break
                    }
                    last = next.row
                    guard keys.insert(next.change.key).inserted else { continue }
                    changes.pairs.append(next.change)
                }
                changes.metadata[ImportRecord.stepKey] = ImportStep(phase: .pairs, table: index, key: last).text
                count += changes.pairs.count
                try watch.check()
                try save(changes)
                watch.progress?(StoreProgress(phase: "pairs", done: count, total: 0))
            }
        }
        return count
    }

    /// The pairs up to a row of the file, which an earlier run has made.
    private func pairCount(_ pair: FilePlan.PairTable, through row: Int64) throws -> Int {
        // Their faults were counted by that run.
        var unheard = FaultList(treatment)
        var keys: Set<PairKey> = []
        let pairs = try ImportedPairs(layout, pair, after: .min)
        while let next = try pairs.next(&unheard), next.row <= row { keys.insert(next.change.key) }
        return keys.count
    }
}
