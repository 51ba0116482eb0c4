import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// `strata replay`: makes a new store from the log up to a moment, or plays the log.
struct ReplayCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Makes a new store from the log up to a moment, or plays the log.",
        discussion: """
            With --into, the log up to the moment is copied into a new store, which replays it to make its views; the \
            result is verified. NEW has the store's id and a lineage of its own, and must not exist yet.

            Without --into, events are printed at the pace at which they happened: an hour takes a minute at --speed \
            60, no pause is longer than three seconds, and --speed 0 does not pause. --step waits for the return key \
            before each transaction, and q ends. The store is only read. \(Moment.help)

            --json prints for --into {"path", "eventNumber", "transactions", "events", "objects", "blobs", \
            "problems"}, else an event a line \
            as 'strata log --json' does.

            Examples:
                strata replay BowTies.strata --to t12 --into Then.strata
                strata replay BowTies.strata --from '1 day ago' --speed 60
                strata replay BowTies.strata --step
            """)

    @OptionGroup var store: StoreArguments
    @Option(help: ArgumentHelp("Begin at this moment; not with --into.", valueName: "moment")) var from: String?
    @Option(help: ArgumentHelp("Stop at this moment.", valueName: "moment")) var to: String?
    @Option(help: ArgumentHelp("The directory of the new store.", valueName: "directory")) var into: String?
    @Option(help: ArgumentHelp("How many times faster than it happened.", valueName: "factor")) var speed: Double?
    @Flag(help: "Wait for the return key before each transaction.") var step = false
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        if let speed, !(speed >= 0) { throw ValidationError("--speed is less than 0.") }
        if into != nil, step || speed != nil || from != nil {
            throw ValidationError("--into goes with none of --from, --speed and --step.")
        }
        if step, speed != nil { throw ValidationError("--step and --speed exclude each other.") }
    }

    func run() throws {
        try store.reading { store in
            let end = try to.map { try Moment.eventNumber($0, in: store) } ?? store.head()
            if let into { try make(into, end, store) } else { try play(through: end, store) }
        }
    }

    private func make(_ target: String, _ end: EventNumber, _ store: Store) throws {
        guard end > .zero else { throw UsageError("The store had no transaction then.") }
        let url = URL(filePath: target, directoryHint: .isDirectory)
        Interrupt.endAtOnce(making: target)
        let progress = ProgressLine()
        let report = try store.replay(through: end, to: url, progress: progress.handler)
        progress.finish()
        try CopyText(path: target, report).print(json: json)
        if !report.verification.isSound { throw ExitStatus.FoundProblem() }
    }

    // MARK: Watching

    private static let longestPause = 3.0

    private func play(through end: EventNumber, _ store: Store) throws {
        var filter = LogFilter()
        filter.last = end
        if let from { filter.first = try Moment.firstEvent(from, in: store) }
        let names = try store.recordedNames()
        var printer: any EventPrinter =
            json
            ? JSONEventPrinter(names: names)
            : ColumnEventPrinter(try StoreMoment(nil, in: store).linkNames(names, in: store))
        var last: TransactionRecord?
        do {
            try LogWalk(store: store, filter: filter, order: .oldestFirst).run { event, transaction in
                if transaction.number != last?.number {
                    printer.finish()
                    Output.shared.flush()
                    try pause(before: transaction, after: last)
                    last = transaction
                }
                try printer.print(event, transaction)
            }
        } catch is Ended {}
        printer.finish()
    }

    /// Thrown when the user ends the replay.
    private struct Ended: Error {}

    private func pause(before next: TransactionRecord, after last: TransactionRecord?) throws {
        if step {
            Output.printErrorPart("transaction \(next.number) (return, or q): ")
            guard let line = readLine(), line.first != "q" else { throw Ended() }
            return
        }
        let speed = speed ?? 1
        guard let last, speed > 0 else { return }
        let seconds = next.date.timeIntervalSince(last.date) / speed
        Thread.sleep(forTimeInterval: min(max(0, seconds), Self.longestPause))
    }
}

/// The report of a command that made a store.
struct CopyText: Encodable {
    let path: String
    let eventNumber: UInt64
    let transactions: Int
    let events: Int
    let objects: Int
    let blobs: Int
    /// The problems that a verification of the new store found.
    let problems: Int

    init(path: String, _ report: LogCopyReport) {
        self.init(path: path, report.verification, blobs: report.blobCount)
    }

    init(path: String, _ verified: VerificationReport, blobs: Int) {
        self.path = path
        eventNumber = verified.head.rawValue
        transactions = verified.transactionCount
        events = verified.eventCount
        objects = verified.objectCount
        self.blobs = blobs
        problems = verified.problemCount
    }

    func print(json: Bool) throws {
        if json { return Output.shared.line(try JSONText.of(self)) }
        Output.shared.line(
            "\(path): \(ValueText.count(transactions, "transaction")), \(ValueText.count(events, "event")), "
                + "\(ValueText.count(objects, "object")), \(ValueText.count(blobs, "large value")), "
                + (problems == 0 ? "verified" : "but 'strata verify' finds \(ValueText.count(problems, "problem"))"))
    }
}
