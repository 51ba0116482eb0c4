import ArgumentParser
import Foundation
import StrataModel
import StrataStore

struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Says where exactly every file is, what the store holds, and how large its parts are.",
        discussion: """
            --json prints {"path", "store", "lineage", "format", "created", "models": [version], "log": {"events", \
            "transactions", "first", "last"}, "files": [{"path", "purpose", "bytes"}], "entities": [{"name", "objects", \
            "abstract"}], "tables": [{"name", "view", "entries", "bytes"}], "indexes": [{"name", "entity", "unique", \
            "entries", "bytes"}], "blobs": {"files", "bytes", "named"}, "readers": [{"process", "active", "stale"}], \
            "reclaimableBytes"}.
            """)

    @OptionGroup var store: StoreArguments
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        try store.reading { store in
            let statistics = try store.statistics()
            if json {
                Output.shared.line(try JSONText.of(InspectText(statistics, path: store.path)))
            } else {
                InspectPrinter(statistics: statistics, path: store.path).print()
            }
        }
    }
}
