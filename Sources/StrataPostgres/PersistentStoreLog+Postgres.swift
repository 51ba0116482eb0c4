public import StrataGraph
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
    ///   - lineage: the name of the log in the database. The first store that opens it begins it.
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

    /// A log by its address and name in one text, as the tool takes it: `postgresql://db.example.com/shop#movies`. Nil if
    /// there is no name.
    ///
    /// - Parameter timeout: how long a save tries to reach the database.
    public init?(postgres text: String, timeout: Duration = .seconds(30)) {
        guard let mark = text.lastIndex(of: "#"), mark != text.startIndex else { return nil }
        let name = String(text[text.index(after: mark)...])
        guard !name.isEmpty else { return nil }
        self = .postgres(String(text[..<mark]), lineage: name, timeout: timeout)
    }
}
