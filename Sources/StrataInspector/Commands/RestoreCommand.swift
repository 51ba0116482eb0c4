import ArgumentParser
import Foundation
import StrataModel
import StrataStore

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Puts a backup in the place of a store.",
        discussion: """
            The backup is copied, verified, and given a lineage of its own, so that nobody takes what comes now for what \
            came after the backup before. The backup stays as it is. STORE must not exist, unless --replace is said: then \
            the store that is there is verified to be in nobody's use and kept as STORE.before-restore, which must not \
            exist either.

            --json prints {"path", "eventNumber", "transactions", "events", "objects", "blobs", "problems", "kept"}; "kept" is where the \
            store is that was there.

            Examples:
                strata restore backups/2026-11-21.strata BowTies.strata
                strata restore backups/2026-11-21.strata BowTies.strata --replace
            """)

    @Argument(help: ArgumentHelp("The directory of the backup.", valueName: "backup")) var backup: String
    @Argument(help: ArgumentHelp("Where the store is to be.", valueName: "store")) var target: String
    @Flag(help: "Keep the store that is there under another name.") var replace = false
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        var arguments = StoreArguments()
        arguments.path = backup
        let target = target.droppingTrailingSlash
        let isThere = FileManager.default.fileExists(atPath: target)
        guard !isThere || replace else {
            throw StrataError(.persistentStoreOpen, "Something stands at \(target). Say --replace to keep it aside.")
        }
        let kept = target + ".before-restore"
        guard !isThere || !FileManager.default.fileExists(atPath: kept) else {
            throw StrataError(.persistentStoreOpen, "Something stands at \(kept) already.")
        }
        let progress = ProgressLine()
        // Beside its place until it is whole.
        let made = isThere ? target + ".restoring" : target
        let url = URL(filePath: made, directoryHint: .isDirectory)
        Interrupt.endAtOnce(making: made)
        let report = try arguments.reading { store in
            defer { progress.finish() }
            return try store.restore(to: url, progress: progress.handler)
        }
        Interrupt.finish()
        if isThere {
            let guardian = try StoreGuard(target)
            defer { guardian.release() }
            try Self.move(target, to: kept)
            try Self.move(made, to: target)
        }
        let text = CopyText(path: target, report.verification, blobs: report.blobCount)
        if json {
            return Output.shared.line(try JSONText.of(RestoredText(copy: text, kept: isThere ? kept : nil)))
        }
        try text.print(json: false)
        if isThere { Output.shared.line("the store that was there is \(kept)") }
    }

    private static func move(_ path: String, to other: String) throws {
        guard rename(path, other) == 0 else {
            throw StrataError(
                .persistentStoreOperation, "\(path) cannot be renamed: \(String(cString: strerror(errno))).")
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
