import ArgumentParser
import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// `strata history trim`: drops the history before a moment.
struct HistoryTrimCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "trim",
        abstract: "Drops the history before a moment.",
        discussion: """
            The state at the moment stays, and everything since: diffs, past states, verify and rebuild work from there. \
            What was before is gone for good; a backup made earlier still has it. Apps may use the store meanwhile. A run \
            that is interrupted has dropped less; the next one goes on. A date in the future is refused.

            Tags before the moment, and subscriptions that have not read up to it, hold the history: trim stops before the \
            oldest of them, names them and exits with 1. --force drops it all the same: it removes these tags, and such a \
            consumer gets an error with the baseline to start from. Apps that have the store open, and show an older \
            state, get that error too. Freed pages are used by later saves; 'strata compact' gives them back to the disk. \
            \(Moment.help)

            --entity drops the history of some entities only: values that their objects had before the moment and that were \
            replaced since, and all values of objects that were deleted by then. Their events stay, with times, authors and \
            links; 'strata log' says that values were thinned. States before the moment can still be read, but not these \
            objects in them.

            --json prints {"baseline": {"eventNumber", "transaction", "time", "truncated", "author", "reason"}, "transactions", "events", "holders": \
            [{"kind", "name", "eventNumber"}], "dryRun", "seconds"}; "baseline" is null while the history is whole. With --entity it \
            prints {"entities", "thinnedThrough", "events", "holders", "dryRun", "seconds"}; "thinnedThrough" is null if there was nothing to do.

            Examples:
                strata history trim BowTies.strata --before '90 days ago' --dry-run
                strata history trim BowTies.strata --before '90 days ago' \\
                    --reason 'kept for 90 days'
                strata history trim BowTies.strata --before release-2 --force
                strata history trim Fleet.strata --entity Position --before '30 days ago'
            """)

    @OptionGroup var store: StoreArguments
    @Option(help: ArgumentHelp("The oldest moment that is kept.", valueName: "moment")) var before: String
    @Option(
        help: ArgumentHelp("Drop only the history of this entity; may be given several times.", valueName: "name"))
    var entity: [String] = []
    @Flag(help: "Say what would be dropped, and drop nothing.") var dryRun = false
    @Flag(help: "Drop also what tags and subscriptions hold.") var force = false
    @Option(help: ArgumentHelp("The author for the baseline; your login name by default.", valueName: "name"))
    var author: String?
    @Option(help: ArgumentHelp("Why, for the baseline.", valueName: "text")) var reason: String?
    @Flag(help: "Print JSON.") var json = false

    private var truncationForce: TruncationForce { force ? .holds : .none }

    private var note: MaintenanceNote {
        get throws {
            var note = MaintenanceNote(author: try AuthorName.of(author))
            if let reason { note.metadata[HistoryTransaction.reasonKey] = reason }
            return note
        }
    }

    func run() throws {
        try Moment.checkHasCome(before)
        if !entity.isEmpty { return try thin() }
        let force = truncationForce
        let report: TruncationReport
        if dryRun {
            report = try store.reading { store in
                try store.truncationPlan(through: try end(in: store), force: force)
            }
        } else {
            let progress = ProgressLine()
            defer { progress.finish() }
            report = try store.writing { store in
                try store.truncateHistory(
                    through: try end(in: store), force: force, note, progress: progress.handler)
            }
        }
        try print(report)
        if !self.force, !report.holds.isEmpty { throw ExitStatus.FoundProblem() }
    }

    /// The history of some entities only.
    private func thin() throws {
        let report: ThinningReport
        if dryRun {
            report = try store.reading { store in
                try store.thinningPlan(of: entity, through: try end(in: store), force: truncationForce)
            }
        } else {
            let progress = ProgressLine()
            defer { progress.finish() }
            report = try store.writing { store in
                try store.thinHistory(
                    of: entity, through: try end(in: store), force: truncationForce, note,
                    progress: progress.handler)
            }
        }
        if json {
            let cut = report.cut == .zero ? nil : report.cut.rawValue
            try JSONText.print([
                "entities": entity, "thinnedThrough": JSONObject.orNull(cut),
                "events": report.changedEvents, "holders": Self.json(report.holds), "dryRun": dryRun,
                "seconds": report.duration / .seconds(1),
            ])
        } else {
            Self.print(report.holds)
            let events = ValueText.count(report.changedEvents, "event")
            let names = entity.map { ValueText.harmless($0) }.joined(separator: ", ")
            let done = "\(dryRun ? "would drop" : "dropped") replaced values of \(events) of \(names)"
            Output.shared.line(
                report.cut == .zero ? "nothing to drop of \(names)" : "\(done), through event \(report.cut)")
        }
        if !force, !report.holds.isEmpty { throw ExitStatus.FoundProblem() }
    }

    private static func json(_ holds: [HistoryHold]) -> [JSONObject] {
        holds.map { ["kind": $0.kind.rawValue, "name": $0.name, "eventNumber": $0.eventNumber.rawValue] }
    }

    private static func print(_ holds: [HistoryHold]) {
        for hold in holds {
            Output.shared.line(
                "\(hold.kind) '\(ValueText.harmless(hold.name))' needs the history from event \(hold.eventNumber) on")
        }
    }

    /// Zero for a moment that is no longer kept.
    private func end(in store: Store) throws -> EventNumber {
        do {
            return try Moment.eventNumber(before, in: store)
        } catch let error as StrataError where error.code == .historyDropped {
            return .zero
        }
    }

    private func print(_ report: TruncationReport) throws {
        if json {
            return try JSONText.print([
                "baseline": JSONObject.orNull(
                    report.baseline?.json),
                "transactions": report.droppedTransactions, "events": report.droppedEvents,
                "holders": Self.json(report.holds),
                "dryRun": dryRun, "seconds": report.duration / .seconds(1),
            ])
        }
        Self.print(report.holds)
        let events = ValueText.count(Int(clamping: report.droppedEvents), "event")
        let transactions = ValueText.count(Int(clamping: report.droppedTransactions), "transaction")
        if dryRun {
            Output.shared.line("would drop \(transactions) and about \(events)")
        } else {
            Output.shared.line("dropped \(transactions) and \(events)")
        }
        guard let baseline = report.baseline else { return Output.shared.line("the history is whole") }
        Output.shared.line("the history begins at \(baseline.placeText)")
        if !dryRun { Output.shared.line(baseline.truncationText) }
    }
}
