import ArgumentParser
import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// `strata doctor`: reads a damaged store as far as it can, says what is lost, and saves what is sound.
struct DoctorCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Reads a damaged store as far as it can, says what is lost, and saves what is sound.",
        discussion: """
            The doctor reads the log from its beginning and trusts nothing else in the store. It compares every event and \
            transaction with its checksum, its digest and the chain of digests, and lists the transactions after the first \
            damage as far as it can read them. If the file was cut short or its first pages are lost, it searches the \
            remaining pages for the log and the views. Of a transaction whose record is lost it takes the events; author \
            and time are then not known. It only reads the store.

            --into NEW makes a new store from the sound part of the log, replays the views, and verifies it. Sound rows, \
            deletions and links from after the damage are then added in one transaction by 'strata doctor', without their \
            history, and links that sound views do not have are removed. At last the new store is verified, and its views \
            are compared with those views of the damaged store that can be read; the report lists what differs. A model that was \
            installed after the damage is taken from the views, even if nothing of the log is sound. If the log is sound and only views are damaged, 'strata rebuild' is enough.

            The exit code is 0 for a sound store and 1 if anything is damaged, whatever was saved.

            --json prints {"sound", "transaction", "eventNumber", "problem", "head", "lost": [{"transaction", "time", "author", \
            "events"}], "viewProblems", "pageProblems", "largeValueProblems", "into": {"path", "eventNumber", "transactions", "events", "objects", "blobs", "problems"}, \
            "saved": {"objects", "deletions", "links", "unlinked", "damagedRecords", "contradictions", "refused", "cutLinks", \
            "unreadableTables", "refusal", "differences": [{"view", "records", "first"}]}}.

            Examples:
                strata doctor BowTies.strata
                strata doctor BowTies.strata --into Saved.strata
            """)

    @OptionGroup var store: StoreArguments
    @Option(help: ArgumentHelp("The directory of the new store; it must not exist.", valueName: "directory"))
    var into: String?
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        try store.checkIsThere()
        guard let notes = DoctorNotes.ofChild else { return try runChildren() }
        if let into { Interrupt.endAtOnce(making: into) }
        var salvage = try LogSalvage(store.path.droppingTrailingSlash, opensFile: notes.opensFile)
        let progress = ProgressLine()
        notes.enter(.log)
        let finding = try salvage.examine(
            through: notes.limit, note: { notes.passed($0) }, progress: progress.handler)
        var report = DoctorReport(finding)
        if finding.problem == nil, !notes.skipsViews {
            // A process can open a file only once, so the salvage is closed before the store is verified.
            try salvage.close()
            try examineViews(&report, progress, notes)
            salvage = try LogSalvage(store.path.droppingTrailingSlash)
        }
        if into != nil { notes.enter(.writing) }
        let canSave = into != nil && (finding.lastEvent > .zero || salvage.holdsModel)
        if let into, canSave {
            let url = URL(filePath: into, directoryHint: .isDirectory)
            let copy = try salvage.write(through: finding, to: url, progress: progress.handler)
            Interrupt.finish()
            report.into = CopyText(path: into, copy)
            notes.enter(.rows)
            if finding.problem != nil {
                let (saved, verified) = try saveRows(salvage, finding.lastEvent, into, progress)
                report.saved = saved
                report.into = CopyText(path: into, verified, blobs: copy.blobCount)
            }
        }
        progress.finish()
        try salvage.close()
        try report.print(json: json)
        if into != nil, !canSave {
            Output.printError("strata: no transaction is sound, and no model can be read; nothing was written.")
        }
        if !report.sound { throw ExitStatus.FoundProblem() }
    }

    /// Counts the problems that a verification finds; those of views stay nil if the store cannot be opened.
    private func examineViews(_ report: inout DoctorReport, _ progress: ProgressLine, _ notes: DoctorNotes) throws {
        notes.enter(.views)
        do {
            let found = try store.reading { try $0.verify(.full, progress: progress.handler) }
            report.largeValueProblems = found.problems.count { $0.kind == .blob }
            report.pageProblems = found.problems.count { $0.kind == .page }
            report.viewProblems = found.problemCount - report.largeValueProblems - report.pageProblems
        } catch let error as StrataError where error.code != .noSpace {
            return
        }
    }

    /// Adds what is sound after the end of the log to the new store, verifies it, and holds it against the views of the
    /// damaged store.
    private func saveRows(
        _ salvage: LogSalvage, _ end: EventNumber, _ path: String, _ progress: ProgressLine
    ) throws -> (DoctorReport.Saved, VerificationReport) {
        let target = StoreArguments(path: path)
        return try target.writing { store in
            let lease = try store.beginBlobLease()
            defer { withExtendedLifetime(lease) {} }
            var (changes, passedOver) = try salvage.changes(after: end, for: store)
            var saved = DoctorReport.Saved(passedOver)
            while !changes.isEmpty, let error = try refusal(of: changes, store) {
                // Leaves out the objects that the refusal names and tries the rest.
                let refused = Set(([error] + error.details).compactMap(\.context.objectID))
                    .filter { changes.objects[$0] != nil }
                guard !refused.isEmpty else {
                    saved.refusal = error.commandLineText
                    changes = NetChanges()
                    break
                }
                for id in refused { changes.objects[id] = nil }
                changes.pairs = changes.pairs.filter {
                    !refused.contains($0.key.source) && !refused.contains($0.key.target)
                }
                saved.refused += refused.count
            }
            saved.objects = changes.objects.values.count { $0.existsAfter }
            saved.deletions = changes.objects.values.count { !$0.existsAfter }
            saved.links = changes.pairs.values.count { $0.after != nil }
            saved.unlinked = changes.pairs.values.count { $0.after == nil }
            saved.differences = try salvage.differences(after: end, from: store).map(DoctorReport.Difference.init)
            return (saved, try store.verify(.full, progress: progress.handler))
        }
    }

    /// Saves the changes.
    ///
    /// - Returns: why the save was refused; nil if it succeeded.
    private func refusal(of changes: NetChanges, _ store: Store) throws -> StrataError? {
        let context = try PersistentContainer(over: store).newBackgroundContext()
        context.transactionAuthor = "strata doctor"
        context.transactionReason = "sound rows from after damage in the log"
        try context.apply(changes)
        do {
            try context.save()
            return nil
        } catch let error as StrataError {
            return error
        }
    }

    // MARK: Child processes

    /// Runs the work in a child process. If a lost page ends the first child, a second one leaves that part out.
    private func runChildren() throws {
        let notes = try DoctorNotes()
        defer { notes.remove() }
        guard let first = GuardedRun.childEnd(notes.variables) else {
            throw StrataError(.persistentStoreOperation, "No child process can be started to read the damaged file.")
        }
        var number = try GuardedRun.signal(first)
        removeLeftovers()
        if let limit = notes.limitOfSecondChild {
            let variables = notes.variables.merging(limit) { $1 }
            if let second = GuardedRun.childEnd(variables) { number = try GuardedRun.signal(second) }
        }
        removeLeftovers()
        let problem = "\(notes.phase?.rawValue ?? "reading the store") \(GuardedRun.sentence(number))"
        Output.shared.line(json ? try JSONText.of(DoctorReport(problem)) : problem)
        throw ExitStatus.FoundProblem()
    }
}

extension DoctorCommand {
    /// Removes the unfinished store of a child that ended.
    private func removeLeftovers() {
        if let into { Store.removeLeftovers(of: URL(filePath: into, directoryHint: .isDirectory)) }
    }
}
