import ArgumentParser
import Foundation
import StrataModel
import StrataShipping
import StrataStore

/// `strata standby`: keeps a copy of a store up to date from what was shipped.
struct StandbyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "standby",
        abstract: "Keeps a copy of a store up to date from what was shipped.",
        discussion: """
            STORE is made if it does not exist, and takes over what TARGET has. Apps and commands can read it meanwhile; \
            saving to it is refused. --follow goes on with what is shipped until it is interrupted.

            \(TargetText.help)

            --promote takes over the rest and makes STORE a store of its own that can be saved to, as when the machine of \
            the shipped store is lost. It has a new lineage then, and follows the target no more.

            --json prints {"path", "transaction", "eventNumber", "savedAt", "received", "lag", "promoted"}, and with \
            --follow one such document a line, or {"path", "error"}. The lag is how many transactions of the target are not \
            in STORE yet.

            Examples:
                strata standby /mnt/backup/BowTies Copy.strata --follow
                strata standby /mnt/backup/BowTies Copy.strata --promote
            """)

    @Argument(help: ArgumentHelp("The directory or bucket.", valueName: "target")) var target: String
    @Argument(help: ArgumentHelp("The directory of the standby.", valueName: "store"), completion: .directory)
    var store: String
    @Flag(help: "Go on with what is shipped from now on.") var follow = false
    @Flag(help: "Make the standby a store of its own.") var promote = false
    @Option(help: ArgumentHelp("Which log, if the target has several.", valueName: "id")) var lineage: String?
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        if follow, promote { throw ValidationError("--follow and --promote exclude each other.") }
    }

    func run() throws {
        let place = try TargetText.target(target)
        let url = URL(filePath: store, directoryHint: .isDirectory)
        let progress = ProgressLine()
        let isNew = !FileManager.default.fileExists(atPath: store)
        if isNew { Interrupt.endAtOnce(making: store) }
        let (standby, report): (Standby, Standby.Report)
        do {
            standby = try Standby(
                place, at: url, lineage: try TargetText.lineage(lineage), progress: progress.handler)
            if isNew { Interrupt.release() }
            report = try standby.catchUp()
        } catch let error as StrataError where promote && !isNew && error.code == .targetUnavailable {
            throw StrataError(
                error.code,
                error.message + " Without it, 'strata restore \(store) NEW' makes a store of what the standby has.",
                context: error.context, details: error.details, cause: error)
        }
        defer { standby.close() }
        progress.finish()
        if promote {
            standby.close()
            _ = try Standby.promote(url)
        }
        try print(report)
        guard follow else { return }
        Output.shared.flush()
        let pace = Pace()
        try standby.follow(pace) { result in
            switch result {
            case .success(let report): try print(report)
            case .failure(let error): try print(error)
            }
            Output.shared.flush()
            if Output.hasNoReader { pace.stop() }
        }
    }

    private func print(_ error: StrataError) throws {
        if json { return try JSONText.print(["path": store, "error": error.message], isPretty: false) }
        Output.printError("strata: \(error.message) Trying again.")
    }

    private func print(_ report: Standby.Report) throws {
        if json {
            return try JSONText.print(
                [
                    "path": store, "transaction": report.position.transaction.rawValue,
                    "eventNumber": report.position.eventNumber.rawValue,
                    "savedAt": JSONObject.orNull(report.date.map(ValueText.moment)), "received": report.received,
                    "lag": report.lag, "promoted": promote,
                ], isPretty: !follow)
        }
        var text = "\(store): t\(report.position.transaction)"
        if let date = report.date { text += ", saved \(ValueText.moment(date))" }
        if report.received > 0 { text += ", \(ValueText.count(report.received, "transaction")) taken over" }
        text += report.lag > 0 ? ", \(ValueText.count(report.lag, "transaction")) behind the target" : ", up to date"
        if promote { text += ", now a store of its own" }
        Output.shared.line(text)
    }
}
