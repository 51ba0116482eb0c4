import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// `strata backup`: copies the store in its current state, with its large values, and verifies the copy.
struct BackupCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copies the store in its current state, with its large values, and verifies the copy.",
        discussion: """
            Apps may go on reading and writing. The copy appears when it is complete and durable: a backup that fails \
            or is interrupted leaves nothing under that name.

            --json prints {"path", "head", "transactions", "events", "objects", "blobs", "blobBytes"}.

            Examples:
                strata backup BowTies.strata backups/2026-11-21.strata
            """)

    @OptionGroup var store: StoreArguments
    @Argument(help: ArgumentHelp("The directory to make; it must not exist.", valueName: "target")) var target: String
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let url = URL(filePath: target, directoryHint: .isDirectory)
        Interrupt.endAtOnce(making: target)
        let progress = ProgressLine()
        let report = try store.reading { store in
            defer { progress.finish() }
            return try store.backup(to: url, progress: progress.handler)
        }
        let verified = report.verification
        if json {
            return try JSONText.print([
                "path": target, "head": verified.head.rawValue, "transactions": verified.transactionCount,
                "events": verified.eventCount, "objects": verified.objectCount, "blobs": report.blobCount,
                "blobBytes": report.blobSizeInBytes,
            ])
        }
        Output.shared.line(
            "\(target): \(ValueText.count(verified.eventCount, "event")), "
                + "\(ValueText.count(verified.objectCount, "object")), "
                + "\(ValueText.count(report.blobCount, "large value")) (\(ValueText.size(report.blobSizeInBytes))), verified"
        )
    }
}
