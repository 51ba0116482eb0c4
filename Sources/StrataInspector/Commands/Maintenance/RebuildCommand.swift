import ArgumentParser
import StrataModel
import StrataStore

/// `strata rebuild`: drops every view and makes it again from the log.
struct RebuildCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "Drops every view and makes it again from the log.",
        discussion: """
            The log is checked first; if it is damaged, nothing is dropped. Of the views any page may be damaged. If a \
            rebuild is interrupted (Ctrl-C, kill, power failure), the next command or app that opens the store for \
            writing finishes it, also 'strata rebuild'; until then the store cannot be read. If the new views differ \
            from the old ones, the old ones were damaged: the command reports them and its exit code is 1, although \
            the store is sound now.

            --json prints {"unchanged", "head", "transactions", "events", "tables": [{"name", "entries", "before", \
            "after", "equal"}], "seconds"}; "before" is missing for a view that could not be read, or that \
            an earlier rebuild had dropped.

            Examples:
                strata rebuild BowTies.strata
                strata rebuild BowTies.strata --step 50000
            """)

    @OptionGroup var store: StoreArguments
    @Option(
        help: ArgumentHelp(
            "A log of more events is replayed in several transactions, of about as many each.", valueName: "events"))
    var step = 200_000
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        if step < 1 { throw ValidationError("--step is less than 1.") }
    }

    /// About how many bytes of views an event makes.
    private static let bytesOfEvent = 320

    func run() throws {
        Interrupt.endAtOnce {
            "what is left to do is done by the next command or app that opens the store for writing."
        }
        let progress = ProgressLine()
        var limits = RebuildLimits()
        limits.eventsInOneCommit = step
        limits.stepInBytes = min(limits.stepInBytes, min(step, 1_000_000) * Self.bytesOfEvent)
        defer { progress.finish() }
        let report = try store.writing(progress.handler) { store in
            // Opening may just have finished an interrupted rebuild, which made every view.
            try store.finishedRebuild ?? store.rebuild(limits, progress: progress.handler)
        }
        if json {
            try JSONText.print(Self.json(report))
        } else {
            Self.print(report)
        }
        if !report.isUnchanged { throw ExitStatus.FoundProblem() }
    }

    private static func print(_ report: RebuildReport) {
        let style = Style.standard
        var columns = Columns([.left, .right, .left, .left], style: style)
        columns.add([.init("view", .bold), .init("entries", .bold), .init("SHA-256", .bold), .init("", nil)])
        for table in report.tables {
            columns.add([
                .init(table.name), .init(ValueText.count(table.after.entryCount)),
                .init(String(table.after.text.prefix(16)), .dim),
                table.isEqual
                    ? .init("equal", .green)
                    : .init(Self.text(of: table.before), .yellow),
            ])
        }
        columns.flush()
        let events = ValueText.count(report.eventCount, "event")
        Output.shared.line(
            "rebuilt from \(events) in \(ValueText.duration(report.duration)): "
                + outcome(of: report))
    }

    private static func text(of before: RebuildReport.Before) -> String {
        switch before {
        case .table(let digest): "was \(digest.text.prefix(16))"
        case .unreadable: "was damaged"
        case .dropped: "was dropped already"
        }
    }
}

extension RebuildCommand {
    private static func json(_ report: RebuildReport) -> JSONObject {
        [
            "unchanged": report.isUnchanged, "head": report.head.rawValue, "transactions": report.transactionCount,
            "events": report.eventCount, "seconds": report.duration / .seconds(1),
            "tables": report.tables.map { table -> JSONObject in
                [
                    "name": table.name, "entries": table.after.entryCount, "before": table.before.digest?.text,
                    "after": table.after.text, "equal": table.isEqual,
                ]
            },
        ]
    }

    private static func outcome(of report: RebuildReport) -> String {
        let style = Style.standard
        if !report.isUnchanged { return style("the views have changed", .yellow) }
        if report.isContinued { return style("finished an earlier rebuild", .green) }
        return style("the views are unchanged, byte for byte", .green)
    }
}
