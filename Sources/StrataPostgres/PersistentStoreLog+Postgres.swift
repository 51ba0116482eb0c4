public import StrataGraph
public import StrataModel
import StrataStore

extension PersistentStoreLog {
    /// A log in a PostgreSQL database, whose tables `PostgresSetup` or `strata shared init` has made.
    ///
    /// ```swift
    /// import StrataPostgres
    ///
    /// let options = PersistentStoreOptions(log: .postgres("postgresql://db.example.com/shop", lineage: "movies"))
    /// let container = try PersistentContainer(name: "Movies", entities: [Movie.self], options: options)
    /// ```
    ///
    /// libpq is loaded when the store is opened. A store uses two connections.
    ///
    /// - Parameters:
    ///   - address: a connection URI or string as libpq has them. Service files, password files, TLS settings and the
    ///     environment count as for other clients.
    ///   - lineage: the name of the log in the database. The first store that opens it begins it; its name has a visible
    ///     character, no blanks at its ends and no control characters.
    ///   - timeout: how long a save tries to reach the database before it throws `logUnavailable`, or `inDoubt` if it
    ///     was sent and not answered.
    public static func postgres(
        _ address: String, lineage: String, timeout: Duration = .seconds(30)
    ) -> PersistentStoreLog {
        let name = "\(PostgresLog.name(of: address))#\(lineage)"
        return PersistentStoreLog(
            SharedLogConnection(name: name, timeout: timeout) {
                PostgresLog(address, lineage: lineage, timeout: min(timeout, .seconds(10)))
            })
    }

    /// A log by its address and name in one text, as the tool takes it: `postgresql://db.example.com/shop#movies`.
    ///
    /// - Parameter timeout: how long a save tries to reach the database.
    /// - Throws: `invalidRequest` if there is no address or no name.
    public init(postgres text: String, timeout: Duration = .seconds(30)) throws(StrataError) {
        let mark = text.lastIndex(of: "#") ?? text.endIndex
        let (address, name) = (text[..<mark], text[mark...].dropFirst())
        guard !address.isEmpty, !name.isEmpty else {
            throw StrataError(
                .invalidRequest,
                "'\(PostgresLog.name(of: text))' is no address of a shared log. Write the database and, "
                    + "after a #, the name of the log: postgresql://db.example.com/shop#movies")
        }
        self = .postgres(String(address), lineage: String(name), timeout: timeout)
    }
}
