import ArgumentParser
import StrataModel
import StrataStore

/// `strata shared trim`: cuts the beginning of a shared log off.
struct SharedTrimCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "trim",
        abstract: "Cuts off the beginning of a shared log that every store has.",
        discussion: """
            What was before the moment goes from the database: the transactions, and large values that nothing names any \
            more. First a snapshot is put there, from which new stores begin; their history begins at the moment. Stores \
            that are there keep theirs. Apps may save meanwhile. A run that is interrupted has done less; the next one \
            goes on. The role must be a member of strata_maintain.

            Stores that were heard of in the last two weeks and do not have everything up to the moment hold the log, and \
            so do subscriptions that have not acknowledged it: trim stops before the oldest of them, names them and exits \
            with 1. Stores tell their position once a minute and when they are closed. --forget names one \
            that will not come back. One that was away for longer is made anew from the snapshot \
            when it is opened. \(Moment.help)

            --json prints {"transaction", "transactions", "largeValues", "snapshotBytes", "holders": [{"kind", "name", \
            "transaction"}], "dryRun", "seconds"}; "transaction" is the last one that is gone, 0 for a whole log.

            Examples:
                strata shared trim postgresql://db.example.com/shop#orders \\
                    --before '90 days ago' --dry-run
                strata shared trim postgresql://db.example.com/shop#orders --before t12000
            """)

    @OptionGroup var store: StoreArguments
    @Option(help: ArgumentHelp("The oldest moment that is kept.", valueName: "moment")) var before: String
    @Option(help: ArgumentHelp("The id of a store that is not waited for any more.", valueName: "id"))
    var forget: [String] = []
    @Flag(help: "Say what would go, and change nothing.") var dryRun = false
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        try Moment.checkHasCome(before)
        guard SharedLogAddress(store.path) != nil else {
            throw UsageError(
                "'\(store.path)' is no address of a shared log, such as postgresql://db.example.com/shop#orders.")
        }
        let progress = ProgressLine()
        let report = try store.writing(progress.handler) { store in
            defer { progress.finish() }
            return try store.cutSharedLog(
                through: try end(in: store), forgetting: forget, isPlan: dryRun, progress: progress.handler)
        }
        try print(report)
        if !report.holds.isEmpty { throw ExitStatus.FoundProblem() }
    }

    /// Zero for a moment that is no longer kept.
    private func end(in store: Store) throws -> EventNumber {
        do {
            return try Moment.eventNumber(before, in: store)
        } catch let error as StrataError where error.code == .historyDropped {
            return .zero
        }
    }

    private func print(_ report: SharedCutReport) throws {
        if json {
            return try JSONText.print([
                "transaction": report.cut.rawValue, "transactions": report.droppedTransactions,
                "largeValues": report.removedBlobs, "snapshotBytes": report.snapshotSizeInBytes,
                "holders": report.holds.map { hold -> JSONObject in
                    ["kind": hold.kind.rawValue, "name": hold.name, "transaction": hold.transaction.rawValue]
                },
                "dryRun": dryRun, "seconds": report.duration / .seconds(1),
            ])
        }
        for hold in report.holds {
            let name = ValueText.harmless(hold.name)
            Output.shared.line("\(hold.kind) '\(name)' has the log up to transaction t\(hold.transaction)")
        }
        let transactions = ValueText.count(Int(clamping: report.droppedTransactions), "transaction")
        guard report.droppedTransactions > 0 else { return Output.shared.line("nothing to cut off") }
        if dryRun { return Output.shared.line("would cut off \(transactions), up to t\(report.cut)") }
        let values = ValueText.count(report.removedBlobs, "large value")
        Output.shared.line("cut off \(transactions), up to t\(report.cut), and \(values)")
        Output.shared.line("new stores begin with a snapshot of \(ValueText.size(UInt64(report.snapshotSizeInBytes)))")
    }
}
