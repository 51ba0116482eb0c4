import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// `strata inspect`: shows where every file is, what the store holds, and how large its parts are.
struct InspectCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Shows where every file is, what the store holds, and how large its parts are.",
        discussion: """
            Lists files, sizes of tables (pages) and of indexes (keys), the newest model and earlier ones, tags, \
            subscriptions, metadata, large values, and the processes that read the store. A stale reader is one whose process \
            has ended; the next writer removes it. Saves reuse the free space in the file; 'strata compact' returns \
            it.

            --json prints {"path", "store", "lineage", "format", "created", "models": [version], "log": {"events", \
            "transactions", "first", "last"}, "tags": {name: event number}, "subscriptions": {name: transaction}, "metadata": {name: value}, "files": [{"path", "purpose", "bytes"}], "entities": [{"name", "objects", \
            "abstract"}], "tables": [{"name", "view", "entries", "bytes"}], "indexes": [{"name", "entity", "unique", \
            "entries", "bytes"}], "encryption": {"keys": [id], "attributes": [name]}, "blobs": {"files", "bytes", "named"}, "baseline": {"eventNumber", "transaction", "time", \
            "truncated", "author", "reason"}, "standby", "sharedLog", "readers": [{"process", "active", "stale"}], \
            "reclaimableBytes"}.

            Examples:
                strata inspect BowTies.strata
                strata inspect BowTies.strata --json
            """)

    @OptionGroup var store: StoreArguments
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        try store.reading { store in
            let listing = try StoreListing(store, path: store.path)
            try json ? JSONText.print(listing.json) : listing.print()
        }
    }
}
