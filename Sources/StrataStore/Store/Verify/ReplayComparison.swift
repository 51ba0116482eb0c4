import Foundation
import LMDB
import Locking
import StrataModel

/// Replays the log into a scratch environment and compares its views with the live ones, record by record, and what
/// events say about the state before them with the state that the replay has reached.
///
/// The scratch files are unlinked as soon as they are open, and take as much room in the system's temporary directory
/// as the views. The store itself is only read. It runs on a thread of its own while the verifier checks the views, and
/// only that thread uses it until it has ended.
final class ReplayComparison {
    private let file: StoreFile
    private let tables: StoreTables
    private let transaction: ReadTransaction
    private let head: LogHead
    private let names: RecordedNames
    private let progress: ProgressHandler?
    /// Whether the verifier has finished; until then only the verifier reports progress.
    let isAlone: Locked<Bool>
    private(set) var problems = ProblemList()
    /// The declared views with columns of types that this process does not have: they are not compared.
    private(set) var uncheckedViews: [String] = []
    /// The digest of each view of the store.
    private(set) var digests: [TableDigest] = []

    init(
        _ file: StoreFile, _ tables: StoreTables, _ transaction: ReadTransaction, _ head: LogHead,
        _ names: RecordedNames, _ progress: ProgressHandler?
    ) {
        self.file = file
        self.tables = tables
        self.transaction = transaction
        self.head = head
        self.names = names
        let isAlone = Locked(false)
        self.isAlone = isAlone
        if let progress {
            let quietly: ProgressHandler = { (step: StoreProgress) -> Void in
                if isAlone.withLock({ (isAlone: inout Bool) -> Bool in isAlone }) { progress(step) }
            }
            self.progress = quietly
        } else {
            self.progress = nil
        }
    }

    /// - Throws: `noSpace` if there is no room for the scratch files, which says nothing about the store.
    func run() throws {
        do {
            try compare()
        } catch let error as LMDBError where error.isOfScratch {
            throw StrataError(
                .noSpace, "There is no room under the temporary directory to replay the log in.",
                context: .init(path: error.path), cause: error)
        } catch {
            problems.note(.replay, "replay", error)
        }
    }

    private func compare() throws {
        let scratch = try Self.makeScratch(like: tables.views)
        do {
            try replay(into: scratch)
            try group(into: scratch)
            try scratch.environment.read { other in
                var counter = ProgressCounter("comparing views", total: try recordCount(), progress)
                for (live, made) in zip(tables.viewTables, scratch.tables.viewTables) {
                    let digest =
                        live.table.main == tables.counts
                        ? try compareCounters(live.name, scratch.tables, other, &counter)
                        : try compare(live.name, live.table, made.table, other, &counter)
                    digests.append(digest)
                }
            }
            try scratch.environment.close()
        } catch {
            try scratch.environment.close()
            throw error
        }
    }

    private func recordCount() throws -> Int {
        try tables.viewTables.reduce(0) { $0 + (try $1.table.count(transaction)) }
    }

    private static func makeScratch(like views: ViewTables?) throws -> (environment: Environment, tables: StoreTables) {
        var options = EnvironmentOptions()
        options.residence = .unlinkedAfterOpen
        options.durability = .disposable
        let path = FileManager.default.temporaryDirectory
            .appending(component: "strata-verify-\(UUID().uuidString)").path(percentEncoded: false)
        let environment = try Environment.open(at: path, options: options)
        do {
            let tables = try StoreTables(opening: environment)
            if let views { tables.use(try ViewTables(opening: environment, hasTexts: views.texts != nil)) }
            return (environment, tables)
        } catch {
            try environment.close()
            throw error
        }
    }

    private func replay(into scratch: (environment: Environment, tables: StoreTables)) throws {
        var counter = ProgressCounter("replaying events", total: Int(head.event.rawValue), progress)
        let log = LogReader(transaction, tables, SchemaHistory([]))
        var step = Replay.Progress.start
        var replay: Replay?
        let check = BeforeImageCheck(names)
        defer { problems.append(check.problems) }
        while step.applied < head.event {
            step = try scratch.environment.write { target in
                let running = Replay.resume(&replay, after: step, scratch.tables, check: check)
                let end = try running.run(log, through: head.event, limit: 256 << 20, into: target, &counter)
                replay = running
                return end
            }
        }
    }

    /// Makes the groups of inline views, those of views that catch up or are being built, as of the state where each of them
    /// is, and those of older models.
    private func group(into scratch: (environment: Environment, tables: StoreTables)) throws {
        let histories = try file.histories(for: head, transaction)
        guard let views = scratch.tables.views, let schema = histories.newest else { return }
        let progress = try ViewProgress.all(transaction, tables)
        try scratch.environment.write { target in
            let projector = Projector(tables: scratch.tables, histories: histories, tracking: .independent)
            try ViewFault.naming { try projector.fillInlineViews(without: Set(progress.keys), target) }
        }
        for (view, own) in progress where own.isRetired { try group(view, own, histories, views, scratch) }
        for view in try IndexMap.of(schema).views.views where !view.hasCode {
            uncheckedViews.append(view.description.name)
            try copy(view.id, into: scratch)
        }
        for view in try IndexMap.of(schema).views.views where progress[view.id] != nil && view.hasCode {
            let maker = try ViewStepMaker(view, file, transaction, head.event, histories, schema, ViewStepLimits())
            guard let progress = maker.before, progress.isBegun else { continue }
            let changes = GroupChanges()
            try maker.state(at: progress.position).group(
                view, where: { $0 < progress.next && !progress.leftOut.contains($0) }, into: changes)
            try scratch.environment.write { target in
                try ViewFault.naming { try changes.write(to: views, target) }
            }
        }
    }

    /// Makes the groups of a view of an older model. A view that is being dropped has no readers, so the rest of its
    /// records are copied as they are.
    private func group(
        _ view: ViewID, _ progress: ViewProgress, _ histories: SchemaHistory, _ views: ViewTables,
        _ scratch: (environment: Environment, tables: StoreTables)
    ) throws {
        let old = try histories.schemas.last { $0.assignment.views.values.contains(view) }
        guard progress.isComplete, let old,
            let prepared = try IndexMap.of(old).views.views.first(where: { $0.id == view }), prepared.hasCode
        else { return try copy(view, into: scratch) }
        let past = try histories.through(old.version)
        let maker = try ViewStepMaker(prepared, file, transaction, head.event, past, old, ViewStepLimits())
        let changes = GroupChanges()
        try maker.state(at: progress.position).group(
            prepared, where: { !progress.leftOut.contains($0) }, into: changes)
        try scratch.environment.write { try changes.write(to: views, $0) }
    }

    private func copy(_ view: ViewID, into scratch: (environment: Environment, tables: StoreTables)) throws {
        for (live, made) in zip(tables.views?.all ?? [], scratch.tables.views?.all ?? []) {
            try scratch.environment.write { target in
                try ViewKeys.withPrefix(of: view) { prefix in
                    try transaction.withCursor(live) { cursor in
                        var found = try cursor.seek(atOrAfter: prefix)
                        while found, cursor.key.hasPrefix(prefix) {
                            try target.put(made, cursor.key, cursor.value)
                            found = try cursor.next()
                        }
                    }
                }
            }
        }
    }

    private func compare(
        _ name: String, _ live: BufferedTable, _ made: BufferedTable, _ other: ReadTransaction,
        _ counter: inout ProgressCounter
    ) throws -> TableDigest {
        try live.withCursor(transaction) { live in
            try made.withCursor(other) { try compare(name, live, $0, &counter) }
        }
    }

    private func compareCounters(
        _ name: String, _ made: StoreTables, _ other: ReadTransaction, _ counter: inout ProgressCounter
    ) throws -> TableDigest {
        try CounterCursor.with(tables, transaction) { live in
            try CounterCursor.with(made, other) { try compare(name, live, $0, &counter) }
        }
    }

    /// Compares two tables in key order and reports the differences.
    ///
    /// - Returns: the digest of the live one.
    private func compare<Walk: RecordWalk>(
        _ name: String, _ live: Walk, _ made: Walk, _ counter: inout ProgressCounter
    ) throws -> TableDigest {
        var hash = RecordHash()
        var (live, made) = (live, made)
        var hasLive = try live.first()
        var hasMade = try made.first()
        while hasLive || hasMade {
            let order = !hasLive ? 1 : !hasMade ? -1 : live.key.compare(with: made.key)
            if order < 0 { problems.note(.replay, location(name, live.key), "the log does not make this record") }
            if order > 0 {
                problems.note(.replay, location(name, made.key), "the log makes a record that is not there")
            }
            if order == 0, live.value.compare(with: made.value) != 0 {
                problems.note(.replay, location(name, live.key), "the log makes another record")
            }
            if order <= 0 {
                hash.add(live.key, live.value)
                counter.step()
                hasLive = try live.advance()
            }
            if order >= 0 { hasMade = try made.advance() }
        }
        return hash.finish(name)
    }

    private func location(_ table: String, _ key: UnsafeRawBufferPointer) -> String {
        switch (table, key.count) {
        case ("objects", 8), ("tombstones", 8): "\(table), \(names.name(of: StoreKey.objectID(key, at: 0)))"
        case ("indexes", 12...): "\(table), \(names.name(of: StoreKey.lastObjectID(key))), key \(key.hexadecimal)"
        case ("links", StoreKey.linkSize...), ("pairs", StoreKey.linkSize):
            "\(table), "
                + names.name(
                    of: PropertyID(rawValue: UInt32(bigEndian: key.loadUnaligned(as: UInt32.self))),
                    StoreKey.objectID(key, at: 4)) + " - \(names.name(of: StoreKey.lastObjectID(key)))"
        default: "\(table), key \(key.hexadecimal)"
        }
    }
}

extension LMDBError {
    /// Whether the error comes from writing, which only the scratch environment does.
    fileprivate var isOfScratch: Bool {
        switch code {
        case .noSpaceOrIO, .mapFull, .outcomeUnknown, .panic: true
        default: false
        }
    }
}
