package import Foundation
import StrataGraph
import StrataModel
package import StrataStore

/// Makes a store of a file of Core Data.
///
/// The store grows in a hidden directory beside its place and is renamed when it is complete; `ImportSteps` fills it.
package final class CoreDataImporter {
    package let options: CoreDataImportOptions
    let file: CoreDataFile
    let plan: FilePlan
    private let unpacking: TransformableUnpacking
    private let watch: ImportWatch
    private var faults: FaultList

    /// Thrown when the user asks for an early end; finished steps stay for the next import.
    package struct Interrupted: Error {}

    package init(
        _ path: String, options: CoreDataImportOptions, progress: ProgressHandler? = nil,
        isInterrupted: @escaping () -> Bool = { false }
    ) throws {
        self.options = options
        faults = FaultList(options.onFault)
        watch = ImportWatch(progress, isInterrupted)
        let given = try options.model.map { try GivenModel.content(of: $0, version: options.modelVersion) }
        let opened = try CoreDataFile(path, model: given, from: options.modelSource)
        file = opened
        plan = try NumberedTables.plan(of: opened)
        unpacking =
            options.transformables == .codable ? try TransformableUnpacking(opened, plan) : TransformableUnpacking()
    }

    // MARK: Checking

    /// Reads everything and makes nothing.
    package func check() throws -> CoreDataImportReport {
        faults = FaultList(options.onFault)
        watch.begin()
        _ = try noteFaultsOfFile()
        var report = emptyReport()
        let store = try Store.open(.inMemory, model: file.model)
        defer { store.close() }
        let layout = try ImportLayout(file, plan, store.schema, unpacked: unpacking.places)
        for index in layout.keys.indices { layout.keys[index].offset = 1 &- layout.keys[index].first }
        let (mending, places) = (try OneToOneMending(layout), try PlaceMending(layout))
        watch.rowCount = layout.keys.reduce(0) { $0 + $1.count }
        var counts: [EntityID: Int] = [:]
        for table in plan.tables.indices {
            let rows = try ImportedRows(
                layout, table: table, links: mending, places: places, history: PersistentHistory(),
                treatment: options.onFault, after: .min)
            while let row = try rows.next(.allRows, &faults) {
                counts[row.id.entityID, default: 0] += 1
                try watch.noteRow("checking rows")
            }
        }
        for pair in plan.pairs {
            let pairs = try ImportedPairs(layout, pair, after: .min)
            while try pairs.next(&faults) != nil { report.pairs += 1 }
        }
        report.entities = Self.entities(counts, store.schema)
        report.history = FileHistory.summary(try PersistentHistory(file, plan, layout.keys))
        report.take(faults)
        return report
    }

    /// Notes faults of the file as a whole, and of rows compared with each other.
    private func noteFaultsOfFile() throws -> BrokenConstraints {
        for fault in file.source.logFaults { faults.add(fault) }
        let constraints = try BrokenConstraints(file, plan)
        for fault in constraints.faults { faults.add(fault) }
        for (fault, count) in try UnreadTables(file, plan).faults { faults.add(fault, count: count) }
        try StrayValues(file, plan).note { faults.add($0, count: $1) }
        return constraints
    }

    private func emptyReport() -> CoreDataImportReport {
        var report = CoreDataImportReport()
        report.modelSource = file.origin.rawValue
        report.notes = file.notes + plan.notes + unpacking.notes
        return report
    }

    private static func entities(_ counts: [EntityID: Int], _ schema: Schema) -> [CoreDataImportReport.Entity] {
        schema.entities.compactMap { entity in
            counts[entity.id].map { CoreDataImportReport.Entity(name: entity.name, rows: $0) }
        }.sorted { $0.name < $1.name }
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
            faults = FaultList(options.onFault)
            watch.begin()
        }
        let hidden = Self.hiddenPlace(of: destination)
        let digest = try ImportRecord.digest(ofFileAt: file.source.path)
        let constraints = try noteFaultsOfFile()
        let model = try unpacking.model(of: try constraints.model(without: file.model))
        let isResumed = try prepare(hidden, for: digest, model)
        // A resumed import does not meet the faults of finished steps again, so the faults of the whole file are
        // listed.
        let faultsOfAll = isResumed ? try faultsOfFile() : nil
        var report = emptyReport()
        report.wasResumed = isResumed
        do {
            try fill(hidden, model, digest, &report)
            // An app that writes seldom has no lock most of the time.
            guard try ImportRecord.digest(ofFileAt: file.source.path) == digest else {
                throw StrataError(
                    .persistentStoreOpen,
                    "\(file.source.path) was changed during the import. Close the app, or import a copy.",
                    context: .init(path: file.source.path))
            }
            try Self.finish(hidden, to: destination)
        } catch let error as StrataError where error.code != .noSpace {
            // The same file would fail again.
            try? FileManager.default.removeItem(at: hidden)
            throw error
        }
        report.take(faultsOfAll ?? faults)
        return report
    }

    private func faultsOfFile() throws -> FaultList {
        defer {
            faults = FaultList(options.onFault)
            watch.begin()
        }
        _ = try check()
        return faults
    }

    private static func refusal(_ report: CoreDataImportReport) -> StrataError {
        StrataError(
            .managedObjectValidation,
            "The file has \(report.faultCount == 1 ? "1 fault" : "\(report.faultCount) faults"), so nothing was made: "
                + report.faults[0].finding
                + (report.faultCount > 1 ? "; and \(report.faultCount - 1) more." : "."))
    }

    /// `.Shop.strata.importing` beside `Shop.strata`.
    static func hiddenPlace(of destination: URL) -> URL {
        destination.deletingLastPathComponent().appending(
            path: ".\(destination.lastPathComponent).importing", directoryHint: .isDirectory)
    }

    /// Removes the remains of an import of another file, or with another model or other options.
    ///
    /// - Returns: whether an import of this file can go on.
    private func prepare(_ hidden: URL, for digest: String, _ model: ManagedObjectModel) throws -> Bool {
        let path = hidden.path(percentEncoded: false)
        guard FileManager.default.fileExists(atPath: path) else { return false }
        var record: ImportRecord?
        var options = StoreOptions()
        options.createsIfMissing = false
        // An unfinished store that cannot be opened is made again.
        if let store = try? Store.open(.directory(hidden), model: nil, options: options) {
            record = try ImportRecord(store.metadata())
            store.close()
        }
        if record?.canContinue(digest: digest, model: model, options: self.options) == true { return true }
        try FileManager.default.removeItem(at: hidden)
        return false
    }

    private func fill(
        _ hidden: URL, _ model: ManagedObjectModel, _ digest: String, _ report: inout CoreDataImportReport
    ) throws {
        var storeOptions = StoreOptions()
        storeOptions.durability = .relaxed
        let store = try Store.open(.directory(hidden), model: model, options: storeOptions)
        // After an error or an interruption, closing the store waits for the step that is being written.
        defer { store.close() }
        let layout = try ImportLayout(file, plan, store.schema, unpacked: unpacking.places)
        let record = try self.record(of: store, layout, digest)
        for index in layout.keys.indices {
            layout.keys[index].offset = record.offsets[plan.tables[index].rootName] ?? 0
        }
        let history = try PersistentHistory(file, plan, layout.keys)
        let steps = try ImportSteps(store, layout, history, options.onFault, watch)
        report.pairs = try steps.run(&faults)
        let counts = try store.read(at: try store.head()) { snapshot in
            try store.schema.entities.filter { !$0.isAbstract }.map { ($0.id, try snapshot.count(of: $0.id)) }
        }
        report.entities = Self.entities(
            Dictionary(counts.filter { $0.1 > 0 }, uniquingKeysWith: { first, _ in first }), store.schema)
        try FileHistory.keep(history, in: store)
        report.history = FileHistory.summary(history)
    }

    /// The record in the store's metadata, made at the first opening with row numbers of its own.
    private func record(of store: Store, _ layout: ImportLayout, _ digest: String) throws -> ImportRecord {
        if let known = try ImportRecord(store.metadata()) { return known }
        var offsets: [String: Int64] = [:]
        for (table, keys) in zip(plan.tables, layout.keys) where keys.span > 0 {
            offsets[table.rootName] = Int64(try store.newRows(count: keys.span).lowerBound) &- keys.first
        }
        let record = ImportRecord(
            file, store.schema.model, digest: digest, offsets: offsets, options: options)
        try store.changeMetadata(MaintenanceNote(author: nil)) { $0[ImportRecord.key] = record.value }
        return record
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
