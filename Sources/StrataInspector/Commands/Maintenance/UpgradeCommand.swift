import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// `strata upgrade`: moves the events of a store into the form that this version writes.
struct UpgradeCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "upgrade",
        abstract: "Moves the events of an older store into the form that this version writes.",
        discussion: """
            Saves write new events into blocks, which take less room; those of earlier versions stay as they are until \
            this command packs them. It goes a step at a time beside apps that use the store, and a run that is \
            interrupted can be repeated. Every event stays as it was logged, byte for byte, so the chain of digests and \
            all past states stay, too. The first block sets a flag, and versions that do not know blocks refuse the store \
            from then on: the output says which versions open it before and after. Flags of other features are set when \
            these are first used. 'strata compact' gives the room to the disk.

            --keep-newest leaves so many events at the end of the log as they are; 16384 by default, as saves do. \
            --dry-run only says what would be done.

            --json prints {"path", "dryRun", "packed", "steps", "before", "after", "seconds"}; "before" and "after" are \
            {"events", "records", "blocks", "fileBytes", "logBytes", "freeBytes", "features": [text], "openedBy", \
            "readBy"}, and "after" is null with --dry-run.

            Examples:
                strata upgrade BowTies.strata --dry-run
                strata upgrade BowTies.strata --keep-newest 0
            """)

    @OptionGroup var store: StoreArguments
    @Option(help: ArgumentHelp("How many of the newest events stay as they are.", valueName: "count"))
    var keepNewest: Int?
    @Flag(help: "Only say what would be done.") var dryRun = false
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard keepNewest ?? 0 >= 0 else { throw ValidationError("--keep-newest is less than 0.") }
    }

    func run() throws {
        let progress = ProgressLine()
        defer { progress.finish() }
        let report =
            try dryRun
            ? store.reading { try $0.plannedUpgrade(keeping: keepNewest) }
            : store.writing(progress.handler) { try $0.upgrade(keeping: keepNewest, progress: progress.handler) }
        progress.finish()
        if json {
            return try JSONText.print([
                "path": store.path, "dryRun": dryRun, "packed": report.packedEventCount, "steps": report.stepCount,
                "before": report.before.json, "after": JSONObject.orNull(report.after?.json),
                "seconds": report.duration / .seconds(1),
            ])
        }
        print(report.before, report.after == nil ? "now" : "before")
        let events = ValueText.count(report.packedEventCount, "event")
        guard let after = report.after else {
            Output.shared.line(
                report.packedEventCount == 0 ? "nothing to upgrade" : "would pack up to \(events) into blocks")
            if report.packedEventCount > 1 { Output.shared.line("then it is opened by this version and later ones") }
            return
        }
        print(after, "now")
        let duration = ValueText.duration(report.duration)
        Output.shared.line("packed \(events) in \(ValueText.count(report.stepCount, "step")), \(duration)")
    }

    private func print(_ form: UpgradeReport.Form, _ moment: String) {
        let blocks = ValueText.count(form.blockCount, "block")
        Output.shared.line(
            "\(moment): \(ValueText.count(form.eventCount, "event")) in \(ValueText.count(form.recordCount, "record")), "
                + "\(blocks); log \(ValueText.size(UInt64(form.logSizeInBytes))), file \(ValueText.size(UInt64(form.fileSizeInBytes))), "
                + "free \(ValueText.size(UInt64(form.freeSizeInBytes)))")
        let features = form.features.map(\.rawValue).joined(separator: ", ")
        Output.shared.line(
            "\(moment): opened by \(form.oldestVersion) and later ones"
                + (features.isEmpty ? "" : ", because of \(features)")
                + (form.readBy == form.oldestVersion ? "" : "; read by \(form.readBy)"))
    }
}

extension UpgradeReport.Form {
    /// The oldest version that opens the store for reading.
    fileprivate var readBy: String { features.allSatisfy(\.isReadableWithout) ? "0.1.0" : oldestVersion }

    fileprivate var json: JSONObject {
        [
            "events": eventCount, "records": recordCount, "blocks": blockCount, "fileBytes": fileSizeInBytes,
            "logBytes": logSizeInBytes, "freeBytes": freeSizeInBytes, "features": features.map(\.rawValue),
            "openedBy": oldestVersion, "readBy": readBy,
        ]
    }
}
