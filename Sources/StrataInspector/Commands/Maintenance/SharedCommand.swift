import ArgumentParser
import Foundation
import StrataModel
import StrataPostgres
import StrataStore

/// `strata shared`: makes, fills, lists and trims logs that several machines share.
struct SharedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shared",
        abstract: "Makes, fills, lists and trims logs that several machines share.",
        discussion: """
            A shared log is in a PostgreSQL database, and the stores of all machines are copies of it. Every command \
            takes the address of a log where it takes a store: postgresql://db.example.com/shop#orders is the log \
            "orders" of a database. It reads the log into a store in memory first.
            """,
        subcommands: [SharedInitCommand.self, SharedFillCommand.self, SharedListCommand.self, SharedTrimCommand.self])
}

/// `strata shared init`: makes the tables for shared logs in a database.
struct SharedInitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Makes the tables for shared logs in a database.",
        discussion: """
            The tables are in the schema "strata". Older ones are brought up to date, in one transaction; those of \
            this version stay as they are. The address is a connection URI or string as libpq has them, of a role that \
            may make a schema.

            --roles makes two roles as well: a member of strata_append may read logs and append to them, a member of \
            strata_maintain may do everything with the tables.

            --json prints {"before", "version"}: the versions of the tables before, 0 for none, and now.

            Example:
                strata shared init postgresql://db.example.com/shop --roles
            """)

    @Argument(help: ArgumentHelp("The database.", valueName: "address")) var address: String
    @Flag(help: "Make the roles strata_append and strata_maintain.") var roles = false
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let made = try PostgresSetup.makeTables(at: address, access: roles ? .roles : .owner)
        if json { return try JSONText.print(["before": made.before, "version": made.now]) }
        let was =
            switch made.before {
            case 0: "made"
            case made.now: "there already"
            default: "brought up from version \(made.before)"
            }
        Output.shared.line("tables of version \(made.now) for shared logs: \(was)")
    }
}

/// `strata shared fill`: copies the log of a store to a shared log.
struct SharedFillCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "fill",
        abstract: "Copies the log of a store to a shared log.",
        discussion: """
            The shared log must be new, or hold a beginning of the store's log: then the rest is copied. Afterwards \
            the store can be opened with that log, and so can new ones on other machines. No app may write to the \
            store meanwhile.

            --json prints {"log", "transaction"}: the name of the log and its last transaction.

            Example:
                strata shared fill BowTies.strata postgresql://db.example.com/shop#orders
            """)

    @OptionGroup var store: StoreArguments
    @Argument(help: ArgumentHelp("The shared log.", valueName: "log")) var log: String
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        guard let address = SharedLogAddress(log) else {
            throw UsageError("'\(log)' is no address of a shared log, such as postgresql://db.example.com/shop#orders.")
        }
        let connection = try address.connection()
        let progress = ProgressLine()
        let end = try store.writing { store in
            defer { progress.finish() }
            return try store.fill(connection, progress: progress.handler)
        }
        if json { return try JSONText.print(["log": connection.name, "transaction": end.rawValue]) }
        Output.shared.line("\(connection.name) ends with transaction \(end)")
    }
}

/// `strata shared list`: lists the shared logs of a database.
struct SharedListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the shared logs of a database.",
        discussion: """
            --json prints {"logs": [{"name", "store", "transaction", "event"}]}.

            Example:
                strata shared list postgresql://db.example.com/shop
            """)

    @Argument(help: ArgumentHelp("The database.", valueName: "address")) var address: String
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let logs = try PostgresSetup.logs(at: address)
        if json {
            let list = logs.map { log -> JSONObject in
                [
                    "name": log.lineage, "store": log.storeIdentifier.uuidString,
                    "transaction": log.transaction.rawValue, "event": log.event.rawValue,
                ]
            }
            return try JSONText.print(["logs": list])
        }
        if logs.isEmpty { return Output.shared.line("no shared log") }
        var columns = Columns(
            [.left, .right, .right, .left], isFirm: [false, true, true, true], cutsToTerminal: true)
        columns.add(["name", "transaction", "event", "store"].map { .init($0, .bold) })
        for log in logs {
            columns.add(
                log.lineage, "t\(log.transaction)", "\(log.event)", log.storeIdentifier.uuidString)
        }
        columns.flush()
    }
}
