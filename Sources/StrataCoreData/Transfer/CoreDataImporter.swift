package import Foundation
import StrataGraph
import StrataModel
package import StrataStore

/// Makes a store of a file of Core Data.
///
/// The store grows in a hidden directory beside its place and is renamed when it is complete. Rows are inserted table
/// by table; a to-one whose target comes later is set in a second pass, and pairs follow in a third. Every transaction
/// notes the step that it ends, so an interrupted import of the same file goes on behind it.
package final class CoreDataImporter {
    package let options: CoreDataImportOptions
    let file: CoreDataFile
    let plan: FilePlan
    private let progress: ProgressHandler?
    /// Whether the user has asked for an early end.
    private let isInterrupted: () -> Bool
    private var faults = FaultList()
    private var rowsDone = 0
    private var rowCount = 0
    /// The step that is being written while the next one is read.
    private var pending: SaveInProgress?

    /// Thrown when `isInterrupted` says so; what is done stays for the next import.
    package struct Interrupted: Error {}

    private static let rowsOfStep = 10_000
    private static let bytesOfStep = 8 << 20

    package init(
        _ path: String, options: CoreDataImportOptions, progress: ProgressHandler? = nil,
        isInterrupted: @escaping () -> Bool = { false }
    ) throws {
        self.options = options
        self.progress = progress
        self.isInterrupted = isInterrupted
        let given = try options.model.map { try GivenModel.content(of: $0, version: options.modelVersion) }
        let opened = try CoreDataFile(path, model: given)
        file = opened
        plan = FilePlan(opened)
    }

    // MARK: Checking

    /// Reads everything and makes nothing.
    package func check() throws -> CoreDataImportReport {
        faults = FaultList()
        rowsDone = 0
        let constraints = try BrokenConstraints(file, plan)
        for fault in constraints.faults { faults.add(fault) }
        var report = emptyReport()
        let store = try Store.open(.inMemory, model: file.model)
        defer { store.close() }
        var layout = try ImportLayout(file, plan, store.schema)
        for index in layout.keys.indices { layout.keys[index].offset = 1 &- layout.keys[index].first }
        let mending = try OneToOneMending(layout)
        rowCount = layout.keys.reduce(0) { $0 + $1.count }
        var counts: [EntityID: Int] = [:]
        for table in plan.tables.indices {
            let rows = try ImportedRows(layout, table: table, links: mending, treatment: options.onFault, after: .min)
            while let row = try rows.next(.allRows, &faults) {
                counts[row.id.entityID, default: 0] += 1
                try noteRow("checking rows")
            }
        }
        for pair in plan.pairs {
            let pairs = try ImportedPairs(layout, pair, after: .min)
            while try pairs.next(&faults) != nil { report.pairs += 1 }
        }
        report.entities = Self.entities(counts, store.schema)
        report.historyTransactions = try FileHistory.transactionCount(file)
        report.take(faults)
        return report
    }

    private func emptyReport() -> CoreDataImportReport {
        var report = CoreDataImportReport()
        report.modelSource = file.origin.rawValue
        report.notes = file.notes + plan.notes
        return report
    }

    private static func entities(_ counts: [EntityID: Int], _ schema: Schema) -> [CoreDataImportReport.Entity] {
        schema.entities.compactMap { entity in
            counts[entity.id].map { CoreDataImportReport.Entity(name: entity.name, rows: $0) }
        }.sorted { $0.name < $1.name }
    }

    private func noteRow(_ phase: String) throws {
        rowsDone += 1
        guard rowsDone % 1000 == 0 else { return }
        if isInterrupted() { throw Interrupted() }
        progress?(StoreProgress(phase: phase, done: rowsDone, total: rowCount))
    }

    // MARK: Importing

    /// - Throws: `persistentStoreOpen` if there is something at the place of the store; `managedObjectValidation` for
    ///   faults that are not accepted.
    package func run(into destination: URL) throws -> CoreDataImportReport {
        let place = destination.path(percentEncoded: false)
        guard !FileManager.default.fileExists(atPath: place) else {
            throw StrataError(.persistentStoreOpen, "\(place) exists already.", context: .init(path: place))
        }
        if options.onFault == .refuse {
            let report = try check()
            guard report.faultCount == 0 else { throw Self.refusal(report) }
            (faults, rowsDone) = (FaultList(), 0)
        }
        let constraints = try BrokenConstraints(file, plan)
        for fault in constraints.faults { faults.add(fault) }
        let model = try constraints.model(without: file.model)
        let hidden = Self.hiddenPlace(of: destination)
        let digest = try ImportRecord.digest(ofFileAt: file.source.path)
        let isResumed = try Self.prepare(hidden, for: digest)
        var report = emptyReport()
        report.wasResumed = isResumed
        do {
            try fill(hidden, model, digest, &report)
            try Self.finish(hidden, to: destination)
        } catch let error as StrataError where error.code != .noSpace {
            // The same file would fail again.
            try? FileManager.default.removeItem(at: hidden)
            throw error
        }
        report.take(faults)
        return report
    }

    private static func refusal(_ report: CoreDataImportReport) -> StrataError {
        StrataError(
            .managedObjectValidation,
            "The file has \(report.faultCount) faults, so nothing was made: \(report.faults[0])"
                + (report.faultCount > 1 ? "; and \(report.faultCount - 1) more." : "."))
    }

    /// `.Shop.strata.importing` beside `Shop.strata`.
    static func hiddenPlace(of destination: URL) -> URL {
        destination.deletingLastPathComponent().appending(
            path: ".\(destination.lastPathComponent).importing", directoryHint: .isDirectory)
    }

    /// Removes what an import of another file has left.
    ///
    /// - Returns: whether an import of this file can go on.
    private static func prepare(_ hidden: URL, for digest: String) throws -> Bool {
        let path = hidden.path(percentEncoded: false)
        guard FileManager.default.fileExists(atPath: path) else { return false }
        var record: ImportRecord?
        var options = StoreOptions()
        options.createsIfMissing = false
        // What cannot be opened is begun anew.
        if let store = try? Store.open(.directory(hidden), model: nil, options: options) {
            record = try ImportRecord(store.metadata())
            store.close()
        }
        if record?.digest == digest { return true }
        try FileManager.default.removeItem(at: hidden)
        return false
    }

    private func fill(
        _ hidden: URL, _ model: ManagedObjectModel, _ digest: String, _ report: inout CoreDataImportReport
    ) throws {
        var storeOptions = StoreOptions()
        storeOptions.durability = .relaxed
        let store = try Store.open(.directory(hidden), model: model, options: storeOptions)
        defer {
            // After an error or an interruption, closing the store waits for it.
            pending = nil
            store.close()
        }
        var layout = try ImportLayout(file, plan, store.schema)
        let record = try self.record(of: store, layout, digest)
        for index in layout.keys.indices {
            layout.keys[index].offset = record.offsets[plan.tables[index].rootName] ?? 0
        }
        let mending = try OneToOneMending(layout)
        rowCount = layout.keys.reduce(0) { $0 + $1.count }
        let begun = try step(of: store)
        let lease = try store.beginBlobLease()
        defer { withExtendedLifetime(lease) {} }
        let open = try insertRows(store, layout, mending, begun)
        try setLinks(store, layout, mending, begun, tables: open)
        report.pairs = try insertPairs(store, layout, begun)
        try settle()
        let counts = try store.read(at: try store.head()) { snapshot in
            try store.schema.entities.filter { !$0.isAbstract }.map { ($0.id, try snapshot.count(of: $0.id)) }
        }
        report.entities = Self.entities(
            Dictionary(counts.filter { $0.1 > 0 }, uniquingKeysWith: { first, _ in first }), store.schema)
        report.historyTransactions = try FileHistory.keep(file, in: store)
    }

    /// The record in the store's metadata, made at the first opening with row numbers of its own.
    private func record(of store: Store, _ layout: ImportLayout, _ digest: String) throws -> ImportRecord {
        if let known = try ImportRecord(store.metadata()) { return known }
        var offsets: [String: Int64] = [:]
        for (table, keys) in zip(plan.tables, layout.keys) where keys.span > 0 {
            offsets[table.rootName] = Int64(try Self.consecutiveRows(keys.span, in: store)) &- keys.first
        }
        let record = ImportRecord(identifier: file.identifier, digest: digest, offsets: offsets)
        try store.changeMetadata(MaintenanceNote(author: nil)) { $0[ImportRecord.key] = record.value }
        return record
    }

    /// The first of as many row numbers without a gap.
    private static func consecutiveRows(_ count: UInt64, in store: Store) throws -> UInt64 {
        guard let entity = store.schema.entities.first(where: { !$0.isAbstract })?.id else { return 1 }
        var first = try store.newObjectID(in: entity).row
        var last = first
        while last - first + 1 < count {
            let next = try store.newObjectID(in: entity).row
            if next != last + 1 { first = next }
            last = next
        }
        return first
    }

    private func step(of store: Store) throws -> ImportStep {
        let last = try store.transactions(before: nil, limit: 64)
        return last.lazy.compactMap { $0.metadata[ImportRecord.stepKey].flatMap { ImportStep($0) } }.first ?? .start
    }

    private func newChanges(_ store: Store, _ step: ImportStep) throws -> ChangeSet {
        ChangeSet(
            base: try store.head(), modelVersion: store.schema.version, contextName: "import",
            metadata: [ImportRecord.stepKey: step.text, HistoryTransaction.reasonKey: "import from Core Data"])
    }

    /// Begins to write a step, after the one before is written.
    private func save(_ changes: ChangeSet, in store: Store) throws {
        guard !changes.isEmpty else { return }
        try settle()
        pending = try store.beginSave(changes)
    }

    /// Waits until everything is written.
    private func settle() throws {
        guard let save = pending else { return }
        pending = nil
        if case .stale(let staleness) = try save.wait() {
            throw StrataError(
                .merge, "The store changed during the import.",
                context: .init(objectID: staleness.objects.first?.id ?? staleness.missingTargets.first?.target))
        }
    }

    // MARK: Steps

    /// - Returns: the tables with to-ones that are still to be set.
    private func insertRows(
        _ store: Store, _ layout: ImportLayout, _ mending: OneToOneMending, _ begun: ImportStep
    ) throws -> [Int] {
        var open: [Int] = []
        for table in plan.tables.indices {
            // After an interruption it is not known which tables are open.
            if begun != .start { open.append(table) }
            guard let first = begun.key(in: .rows, table: table) else { continue }
            var rows = try ImportedRows(layout, table: table, links: mending, treatment: options.onFault, after: first)
            rows.stage = { try store.stageBlob($0) }
            var insertions: [ChangeSet.Insertion] = []
            var (size, last, isOpen) = (0, first, false)
            func flush() throws {
                var changes = try newChanges(store, ImportStep(phase: .rows, table: table, key: last))
                changes.insertions = insertions.sorted { $0.id < $1.id }
                try save(changes, in: store)
                insertions.removeAll(keepingCapacity: true)
                size = 0
            }
            while let row = try rows.next(.earlierRows, &faults) {
                insertions.append(ChangeSet.Insertion(id: row.id, image: row.image))
                size += row.image.count
                last = row.key
                if !row.isComplete { isOpen = true }
                if insertions.count >= Self.rowsOfStep || size >= Self.bytesOfStep { try flush() }
                try noteRow("rows")
            }
            try flush()
            if isOpen, begun == .start { open.append(table) }
        }
        return open
    }

    /// Sets the to-ones whose targets came after them.
    private func setLinks(
        _ store: Store, _ layout: ImportLayout, _ mending: OneToOneMending, _ begun: ImportStep, tables: [Int]
    ) throws {
        for table in tables {
            guard let first = begun.key(in: .links, table: table) else { continue }
            // The rows were checked when they were inserted.
            var unheard = FaultList()
            let rows = try ImportedRows(layout, table: table, links: mending, treatment: options.onFault, after: first)
            var (step, isAtEnd) = ([ImportedRows.Row](), false)
            while !isAtEnd {
                step.removeAll(keepingCapacity: true)
                var size = 0
                while step.count < Self.rowsOfStep, size < Self.bytesOfStep {
                    guard let row = try rows.next(.allRows, &unheard) else {
                        isAtEnd = true
                        break
                    }
                    step.append(row)
                    size += row.image.count
                }
                guard let last = step.last else { break }
                if isInterrupted() { throw Interrupted() }
                // Rows are changed in the newest state.
                try settle()
                var changes = try newChanges(store, ImportStep(phase: .links, table: table, key: last.key))
                changes.updates = try store.read(at: changes.base) { snapshot in
                    try step.compactMap { try Self.update($0, snapshot) }
                }
                try save(changes, in: store)
                progress?(StoreProgress(phase: "links", done: Int(clamping: last.key), total: 0))
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
                    case .attribute, nil: continue
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
    private func insertPairs(_ store: Store, _ layout: ImportLayout, _ begun: ImportStep) throws -> Int {
        var count = 0
        for (index, pair) in plan.pairs.enumerated() {
            guard let first = begun.key(in: .pairs, table: index) else { continue }
            let pairs = try ImportedPairs(layout, pair, after: first)
            var isAtEnd = false
            while !isAtEnd {
                var keys: Set<PairKey> = []
                var changes = try newChanges(store, .start)
                var last = first
                while changes.pairs.count < 50_000 {
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
                if isInterrupted() { throw Interrupted() }
                try save(changes, in: store)
                progress?(StoreProgress(phase: "pairs", done: count, total: 0))
            }
        }
        return count
    }

    // MARK: The end

    /// Writes everything to the disk and gives the store its name.
    private static func finish(_ hidden: URL, to destination: URL) throws {
        let store = try Store.open(.directory(hidden), model: nil)
        try store.changeMetadata(MaintenanceNote(author: nil)) { $0["coredata.complete"] = .boolean(true) }
        store.close()
        try FileManager.default.moveItem(at: hidden, to: destination)
        let parent = open(destination.deletingLastPathComponent().path(percentEncoded: false), O_RDONLY)
        if parent >= 0 {
            fsync(parent)
            close(parent)
        }
    }
}
