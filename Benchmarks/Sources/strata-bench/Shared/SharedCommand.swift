import ArgumentParser
import Foundation

/// `strata-bench shared [--address postgresql://…] [--objects 1000000]`
struct SharedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shared",
        abstract: "Times stores that share a log in PostgreSQL, beside appends by hand and stores with their own log.")

    @Option(help: "A PostgreSQL whose database gets tables and logs; without one a server is started for the run.")
    var address: String?
    @Option(help: "Objects that a new store receives.") var objects = 1_000_000
    @Option(help: "Seconds of saves in each part.") var seconds = 4.0
    @Option(help: "Only this part: saving, writers, batches, arriving or reading.") var only: SharedWorkload.Part?
    @OptionGroup var folder: WorkingFolder

    func validate() throws {
        guard objects >= 10_000, seconds > 0 else { throw ValidationError("There is too little to be measured.") }
    }

    func run() throws {
        try folder.run { directory in
            let server = address == nil ? try PostgresServer(in: directory) : nil
            let results = Swift.Result { try workload(address ?? server?.address ?? "", directory).run() }
            try server?.stop()
            return try results.get()
        } print: { results in
            print("| measure | value | reach | aim | |\n|---|--:|--:|--:|---|")
            for result in results {
                func text(_ value: Double?) -> String {
                    value.map { "\($0.formatted(.number.precision(.significantDigits(3)))) \(result.unit)" } ?? ""
                }
                let verdict = result.reach.map { reach in
                    (result.isAtMost ? result.value <= reach : result.value >= reach) ? "reached" : "missed"
                }
                print(
                    "| \(result.measure) | \(text(result.value)) | \(text(result.reach)) | \(text(result.aim)) "
                        + "| \(verdict ?? "") |")
            }
        }
    }

    private func workload(_ address: String, _ directory: URL) -> SharedWorkload {
        var workload = SharedWorkload(address: address, directory: directory, objects: objects, seconds: seconds)
        if let only { workload.parts = [only] }
        return workload
    }
}
