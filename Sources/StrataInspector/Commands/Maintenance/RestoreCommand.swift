import ArgumentParser
import Foundation
import StrataGraph
import StrataModel
import StrataShipping
import StrataStore

/// `strata restore`: makes a store from a backup, or from what was shipped.
struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Makes a store from a backup, or from what was shipped.",
        discussion: """
            The backup is copied, verified, and given a new lineage, so that its next events are not mistaken for those \
            that followed in the old store. The backup stays as it is. Instead of a backup it can be a TARGET that 'strata \
            ship' has written to; then --to restores the state of a moment, and the log is proved by its chain of digests. \
            \(Moment.help)

            \(TargetText.help)

            --erasures makes the erasures of a list in the new store before it can be read.

            STORE must not exist, unless you give --replace: \
            then no process may have the old store open, and it is kept as STORE.before-restore, which must not exist.

            A large value that the target does not have is lost in the new store, too. It has all the rest, and the exit \
            code is 1.

            --json prints {"path", "eventNumber", "transactions", "events", "objects", "blobs", "problems", "kept"}; "kept" is the path \
            of the old store.

            Examples:
                strata restore /mnt/backup/BowTies BowTies.strata --to '2 hours ago'
                strata restore backups/2026-11-21.strata BowTies.strata
                strata restore backups/2026-11-21.strata BowTies.strata --replace
            """)

    @Argument(help: ArgumentHelp("The directory of the backup, or a target.", valueName: "backup")) var backup: String
    @Argument(help: ArgumentHelp("The directory of the store to make.", valueName: "store")) var target: String
    @Option(help: ArgumentHelp("Restore the state of this moment; from a target.", valueName: "moment")) var to: String?
    @Option(help: ArgumentHelp("Which log, if the target has several.", valueName: "id")) var lineage: String?
    @Option(
        help: ArgumentHelp("Erasures to make in the copy, as 'strata erase --list' writes them.", valueName: "file"))
    var erasures: String?
    @Flag(help: "Keep an existing store under another name.") var replace = false
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let target = target.droppingTrailingSlash
        let isThere = FileManager.default.fileExists(atPath: target)
        guard !isThere || replace else {
            throw StrataError(.persistentStoreOpen, "\(target) exists. Give --replace to keep it under another name.")
        }
        let progress = ProgressLine()
        // The new store is made beside the old one until it is complete.
        let made = isThere ? LeftCopies.restoring(target) : target
        let url = URL(filePath: made, directoryHint: .isDirectory)
        let lock = isThere || LeftCopies.hasRestored(target) ? try Self.lock(target) : nil
        defer { lock?.release() }
        if lock != nil { try LeftCopies.removeRestored(target) }
        let kept = LeftCopies.beforeRestore(target)
        guard !isThere || !FileManager.default.fileExists(atPath: kept) else {
            throw StrataError(.persistentStoreOpen, "\(kept) exists already.")
        }
        try LeftCopies.remove(besides: target)
        Interrupt.endAtOnce(making: made)
        let text = try make(url, target, progress)
        Interrupt.finish()
        if isThere { try replace(target, by: made, keeping: kept) }
        if json {
            Output.shared.line(try JSONText.of(RestoredText(copy: text, kept: isThere ? kept : nil)))
        } else {
            try text.print(json: false)
            if isThere { Output.shared.line("the old store is now \(kept)") }
        }
        if text.problems > 0 { throw ExitStatus.FoundProblem() }
    }

    private func make(_ url: URL, _ path: String, _ progress: ProgressLine) throws -> CopyText {
        defer { progress.finish() }
        let erasures = try erasures.map { try ErasureFile.read($0).map(\.recorded) } ?? []
        if TargetText.isTarget(backup) {
            let moment = try to.map { try TargetText.moment($0) } ?? .now
            let restore = try TargetRestore(
                try TargetText.target(backup), lineage: try TargetText.lineage(lineage), progress: progress.handler)
            let report = try restore.run(to: url, moment, erasing: erasures)
            for damage in report.damaged { Output.printError("strata: passed over at the target: \(damage)") }
            if report.lostBlobCount > 0 {
                Output.printError(
                    "strata: \(ValueText.count(report.lostBlobCount, "large value")) could not be restored, because the "
                        + "target does not have them: 'strata verify' names them.")
            }
            return CopyText(path: path, report.verification, blobs: report.blobCount)
        }
        guard to == nil, lineage == nil else {
            throw UsageError("--to and --lineage need a target that a store was shipped to; \(backup) is none.")
        }
        let report = try StoreArguments(path: backup).reading { store in
            try store.restore(to: url, erasing: erasures, progress: progress.handler)
        }
        return CopyText(path: path, report.verification, blobs: report.blobCount)
    }

    /// Keeps other processes from restoring to the same place.
    private static func lock(_ target: String) throws -> PlaceLock {
        let place = URL(filePath: LeftCopies.restoring(target), directoryHint: .isDirectory)
        guard let lock = try PlaceLock(on: place) else {
            throw StrataError(
                .persistentStoreTimeout, "Another process restores \(target); nothing was changed.",
                context: .init(path: target))
        }
        return lock
    }

    /// No process can open either store until the new names are durable.
    private func replace(_ target: String, by made: String, keeping kept: String) throws {
        do {
            let guardians = try [target, made].map { try StoreGuard($0, patience: StoreGuard.usualPatience) }
            defer { for guardian in guardians { guardian.release() } }
            try StoreReplacement(at: target, by: made, keeping: kept).run()
        } catch {
            try LeftCopies.removeRestored(target)
            guard let failure = error as? BlobFile.Failure else { throw error }
            throw StrataError(
                .persistentStoreOperation,
                "\(target) could not be replaced: cannot \(failure.operation) \(failure.path): \(failure.reason).",
                context: .init(path: failure.path), cause: failure)
        }
    }
}

private struct RestoredText: Encodable {
    let copy: CopyText
    let kept: String?

    private enum CodingKeys: CodingKey {
        case kept
    }

    func encode(to encoder: any Encoder) throws {
        try copy.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kept, forKey: .kept)
    }
}

extension String {
    var droppingTrailingSlash: String { count > 1 && hasSuffix("/") ? String(dropLast()).droppingTrailingSlash : self }
}
