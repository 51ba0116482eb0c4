import ArgumentParser
import Dispatch
import Foundation
import StrataModel
import StrataShipping
import StrataStore

/// `strata ship`: copies the log of a store to a target, once or continuously.
struct ShipCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "ship",
        abstract: "Copies the log of a store to a directory or bucket, once or continuously.",
        discussion: """
            What TARGET does not have yet is written there, in files that appear whole. After an erasure the values are \
            taken out of the target's files, too, and snapshots from before it are removed. The command can \
            be interrupted at any point and called again. Apps may go on reading and writing. 'strata restore' makes a \
            store of what is there, as it was after any transaction, and 'strata standby' keeps a copy that can be read.

            \(TargetText.help)

            While the store is being rebuilt, the command waits. It gives up when the rebuild has not moved for ten \
            seconds.

            --follow goes on with what is saved, by any process, until it is interrupted: a save is there within about a \
            second. While the target is away or full, or the store is being rebuilt or migrated, that is reported and \
            tried again. A snapshot saves a restore from \
            replaying the log from its beginning. It is made after every --snapshot-interval megabytes of transactions, \
            or now with --snapshot. --keep removes what only older snapshots need; without it every \
            transaction can be restored.

            A large value that the store has lost cannot be shipped. The rest is; each run says so and ends with exit code \
            1, until the store has the value again or nothing names it any more.

            --json prints {"target", "transaction", "eventNumber", "transactions", "segments", "blobs", "bytes", \
            "snapshot", "removed", "rewritten", "missingBlobs"}, and with --follow one such document a line, or {"target", "error"}.

            Examples:
                strata ship BowTies.strata /mnt/backup/BowTies
                strata ship BowTies.strata s3://my-bucket/BowTies --follow --keep 7
            """)

    @OptionGroup var store: StoreArguments
    @Argument(help: ArgumentHelp("The directory or bucket.", valueName: "target")) var target: String
    @Flag(help: "Go on with what is saved from now on.") var follow = false
    @Flag(help: "Make a snapshot now.") var snapshot = false
    @Option(help: ArgumentHelp("Keep this many snapshots, and the log after the oldest.", valueName: "count"))
    var keep: Int?
    @Option(help: ArgumentHelp("Megabytes of transactions between two snapshots.", valueName: "megabytes"))
    var snapshotInterval: Int = 256
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        if let keep, keep < 1 { throw ValidationError("--keep is less than 1.") }
        guard 1...1_000_000 ~= snapshotInterval else {
            throw ValidationError("--snapshot-interval is not between 1 and 1000000.")
        }
    }

    func run() throws {
        let place = try TargetText.target(target)
        let options = ShippingOptions(keptSnapshots: keep, snapshotInterval: snapshotInterval * 1_000_000)
        if !follow { return try shipOnce(to: place, options) }
        let progress = ProgressLine()
        var patience = Patience()
        var isOpen = false
        while true {
            do {
                return try store.reading { store in
                    isOpen = true
                    try goOn(LogShipper(store, place, options), progress)
                }
            } catch let error as StrataError where !isOpen && error.code == .persistentStoreTimeout {
                try print(error)
                Output.shared.flush()
                Thread.sleep(forTimeInterval: patience.afterFailure() / .seconds(1))
            }
        }
    }

    private func shipOnce(to place: any ShippingTarget, _ options: ShippingOptions) throws {
        let report = try StoreWait().run {
            let progress = ProgressLine()
            defer { progress.finish() }
            return try store.reading { store in
                try LogShipper(store, place, options).ship(makesSnapshot: snapshot, progress: progress.handler)
            }
        } report: { error in
            Output.printError("strata: \(error.message) Waiting until the store can be read.")
        }
        try print(report)
        if report.missingBlobCount > 0 { throw ExitStatus.FoundProblem() }
    }

    /// Ships until the process is interrupted; what is saved until then is shipped first.
    private func goOn(_ shipper: LogShipper, _ progress: ProgressLine) throws {
        let pace = Pace()
        let ended = DispatchSemaphore(value: 0)
        Interrupt.endAtOnce {
            pace.stop()
            let isShipped = ended.wait(timeout: .now() + 10) == .success
            return isShipped ? "everything is shipped." : "the last saves may not be shipped."
        }
        Output.shared.flush()
        try shipper.follow(pace, makesSnapshot: snapshot, reportsFirst: true, progress: progress.handler) { result in
            progress.finish()
            switch result {
            case .success(let report): try print(report)
            case .failure(let error): try print(error)
            }
            Output.shared.flush()
            if Output.hasNoReader { pace.stop() }
        }
        ended.signal()
        Interrupt.waitForEnd()
    }

    private func print(_ error: StrataError) throws {
        if json { return try JSONText.print(["target": target, "error": error.message], isPretty: false) }
        Output.printError("strata: \(error.message) Trying again.")
    }

    private func print(_ report: ShippingReport) throws {
        if json {
            return try JSONText.print(
                [
                    "target": target, "transaction": report.transaction.rawValue,
                    "eventNumber": report.eventNumber.rawValue, "transactions": report.transactionCount,
                    "segments": report.segmentCount, "blobs": report.blobCount, "bytes": report.byteCount,
                    "snapshot": JSONObject.orNull(report.snapshot?.rawValue), "removed": report.removedCount,
                    "rewritten": report.rewrittenCount,
                    "missingBlobs": report.missingBlobCount,
                ], isPretty: !follow)
        }
        var text = "\(target): up to t\(report.transaction)"
        if report.transactionCount > 0 {
            text += ", \(ValueText.count(report.transactionCount, "transaction")) shipped"
        }
        if report.blobCount > 0 { text += ", \(ValueText.count(report.blobCount, "large value"))" }
        if report.byteCount > 0 { text += ", \(ValueText.size(UInt64(report.byteCount)))" }
        if let snapshot = report.snapshot { text += ", snapshot of t\(snapshot)" }
        if report.removedCount > 0 { text += ", \(ValueText.count(report.removedCount, "file")) removed" }
        if report.rewrittenCount > 0 {
            text += ", erased values taken out of \(ValueText.count(report.rewrittenCount, "file"))"
        }
        Output.shared.line(text)
        if report.missingBlobCount > 0 {
            Output.printError(
                "strata: \(ValueText.count(report.missingBlobCount, "large value")) could not be shipped, because the "
                    + "store has lost them: 'strata verify' names them.")
        }
    }
}
