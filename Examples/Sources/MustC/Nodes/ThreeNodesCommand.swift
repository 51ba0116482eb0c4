import ArgumentParser
import Foundation
import StrataPostgres

/// `MustC three-nodes`: three processes with a store each, and one log in PostgreSQL. Shows each change travel, kills
/// one of the processes and starts it again, and ends when all have the same.
struct ThreeNodesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "three-nodes",
        abstract: "Has three processes share a log in PostgreSQL, and shows each change travel.",
        discussion: """
            One after the other saves a change. The page shows how long the save took, and when the lists of the \
            others showed it. In the middle one process is killed; the others go on, and it receives what it missed \
            when it is started again. Without a terminal it prints a line for each change.

            'make three-nodes' starts a PostgreSQL of its own for it.
            """)

    @Option(help: "A PostgreSQL database in which tables may be made.")
    var database = ProcessInfo.processInfo.environment["STRATA_POSTGRES"] ?? ""

    @Option(help: "How many changes are saved, at least 9.")
    var changes = 24

    @Option(help: "Milliseconds between two changes.")
    var pause = 250

    @Option(help: "A directory in which the three stores stay; without it they are temporary.")
    var stores: String?

    @Option(help: "The directory with Family.json.")
    var fixtures = "Fixtures/MustC"

    @Flag(help: "Print a JSON object at the end, and nothing else.")
    var json = false

    func validate() throws {
        if database.isEmpty { throw ValidationError("Give a --database, or run 'make three-nodes'.") }
        if changes < 9 { throw ValidationError("There must be at least 9 changes.") }
        if !(0...60_000).contains(pause) { throw ValidationError("The pause must be from 0 to 60,000 milliseconds.") }
    }

    func run() throws {
        // Writing to a node that was killed is an error, and not the end.
        signal(SIGPIPE, SIG_IGN)
        try PostgresSetup.makeTables(at: database)
        let temporary = FileManager.default.temporaryDirectory.appending(path: "three-nodes-\(UUID().uuidString)")
        let root = stores.map { URL(filePath: $0, directoryHint: .isDirectory) } ?? temporary
        defer { if stores == nil { removeTemporary(temporary) } }
        let run = ThreeNodesRun(
            root, log: "\(database)#three-nodes-\(UUID().uuidString.prefix(8))", fixtures: fixtures,
            changes: changes, pause: Double(pause) / 1_000, output: output)
        try run.run()
    }

    private var output: any TravelOutput {
        if json { return TravelJSON() }
        return isatty(STDOUT_FILENO) == 1 ? TravelPage() : TravelLines()
    }

    private func removeTemporary(_ root: URL) {
        do {
            try FileManager.default.removeItem(at: root)
        } catch {
            FileHandle.standardError.write(Data("\(root.path) was not removed: \(error)\n".utf8))
        }
    }
}
