import StrataGraph
import StrataModel
import StrataPostgres
import StrataStore

/// The address of a shared log, `postgresql://…#lineage`, where a store's directory may stand.
struct SharedLogAddress {
    /// The database that libpq connects to.
    let database: String
    /// The name of the log; nil if the address names none.
    let lineage: String?

    /// Nil for the path of a directory.
    init?(_ text: String) {
        guard text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") else { return nil }
        let mark = text.lastIndex(of: "#") ?? text.endIndex
        let name = text[mark...].dropFirst()
        database = String(text[..<mark])
        lineage = name.isEmpty ? nil : String(name)
    }

    /// - Throws: `UsageError` with the logs of the database if the address names none.
    func connection() throws -> SharedLogConnection {
        guard let lineage else {
            let names = try PostgresSetup.logs(at: database).map(\.lineage).joined(separator: ", ")
            let hint = names.isEmpty ? "It has none yet." : "It has \(names)."
            throw UsageError("The address needs the name of a log, as in postgresql://db/shop#orders. \(hint)")
        }
        return PersistentStoreLog.postgres(database, lineage: lineage, timeout: .seconds(10)).connection
    }

    /// Opens a store in memory that receives the log. For reading, it appends nothing to the log.
    func open(_ options: StoreOptions, adopting model: ManagedObjectModel? = nil) throws -> Store {
        var options = options
        options.receivesOnly = options.isReadOnly
        options.isReadOnly = false
        options.createsIfMissing = false
        options.sharedLog = try connection()
        return try Store.open(.inMemory, model: model, options: options)
    }
}
