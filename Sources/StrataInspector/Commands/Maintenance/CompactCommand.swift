import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// `strata compact`: writes the store's file again without its free pages.
struct CompactCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Writes the store's file again without its free pages.",
        discussion: """
            The store is copied and the copy is verified. Only then does it replace the old file, which is kept beside \
            it until the new one has been opened and verified under its final name. No other process may have the \
            store open: otherwise nothing changes and the exit code is 1. If a short command saves meanwhile, the \
            store is copied again, up to four times; other processes may have to wait during the last copy. The log is \
            copied whole, so no history is lost. Saves reuse free pages, so this is worth while only after many \
            deletions.

            --json prints {"path", "before", "after", "freed"}, in bytes.

            Examples:
                strata compact BowTies.strata
                strata compact BowTies.strata --keep-old
            """)

    @OptionGroup var store: StoreArguments
    @Flag(help: "Keep the old file as data.mdb.before-compact.") var keepOld = false
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        var compaction = Compaction(store: store, keepsOld: keepOld)
        compaction.endsBySignals = true
        let (before, after) = try compaction.run()
        let path = store.path.droppingTrailingSlash
        if json {
            let freed = before > after ? before - after : 0
            return try JSONText.print(
                ["path": path, "before": before, "after": after, "freed": freed])
        }
        Output.shared.line(
            "\(path): \(ValueText.size(before)) before, \(ValueText.size(after)) now, verified")
    }
}
