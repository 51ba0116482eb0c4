import StrataModel
import StrataStore

/// The persistent history in a file: who changed what and when, before the file came over.
///
/// The file does not keep the values from before a change, so its transactions cannot become states of the new store.
/// They are kept as notes: their authors, contexts, bundles, processes, dates and numbers of changes.
enum FileHistory {
    private static let key = "coredata.history"
    /// How many transactions are kept, the newest.
    private static let most = 2_000
    /// Of all notes together; the metadata of a store may have 1 MiB.
    private static let largestSizeInBytes = 256 << 10

    static func transactionCount(_ file: CoreDataFile) throws(StrataError) -> Int {
        guard let table = file.tables["ATRANSACTION"] else { return 0 }
        return Int(try file.database.number("SELECT count(*) FROM \(SQLiteDatabase.quoted(table.name))") ?? 0)
    }

    /// - Returns: how many transactions are kept.
    static func keep(_ file: CoreDataFile, in store: Store) throws -> Int {
        let lines = try notes(file)
        guard !lines.isEmpty else { return 0 }
        try store.changeMetadata(MaintenanceNote(author: nil)) { entries in
            for (index, line) in lines.enumerated() { entries["\(key).\(index + 1)"] = .string(line) }
        }
        return lines.count
    }

    /// A line for each transaction: date, author, context, bundle, process, inserted, updated and deleted objects.
    private static func notes(_ file: CoreDataFile) throws(StrataError) -> [String] {
        guard let table = file.tables["ATRANSACTION"], let changes = file.tables["ACHANGE"],
            changes.has("ZTRANSACTIONID"), changes.has("ZCHANGETYPE"), table.has("ZTIMESTAMP")
        else { return [] }
        let strings = file.tables["ATRANSACTIONSTRING"]
        func word(_ name: String) -> String {
            var choices: [String] = []
            if table.has("Z\(name)") { choices.append("t.Z\(name)") }
            if table.has("Z\(name)TS"), let strings {
                let list = SQLiteDatabase.quoted(strings.name)
                choices.append("(SELECT s.ZNAME FROM \(list) s WHERE s.Z_PK = t.Z\(name)TS)")
            }
            return choices.isEmpty ? "NULL" : "coalesce(\((choices + ["NULL"]).joined(separator: ", ")))"
        }
        let words = ["AUTHOR", "CONTEXTNAME", "BUNDLEID", "PROCESSID"].map(word).joined(separator: ", ")
        let rows = try file.database.prepare(
            "SELECT t.ZTIMESTAMP, \(words), sum(c.ZCHANGETYPE = 0), sum(c.ZCHANGETYPE = 1), sum(c.ZCHANGETYPE = 2) "
                + "FROM \(SQLiteDatabase.quoted(table.name)) t LEFT JOIN \(SQLiteDatabase.quoted(changes.name)) c "
                + "ON c.ZTRANSACTIONID = t.Z_PK GROUP BY t.Z_PK ORDER BY t.Z_PK DESC LIMIT \(most)")
        var notes: [String] = []
        var size = 0
        while size < largestSizeInBytes, try rows.step() {
            let names = ["author", "context", "bundle", "process"]
            var parts = ["\(rows.double(0))"]
            for (index, name) in names.enumerated() where !rows.isNull(index + 1) {
                parts.append("\(name)=\(String(rows.text(index + 1).prefix(100)))")
            }
            parts.append("inserted=\(rows.integer(5)) updated=\(rows.integer(6)) deleted=\(rows.integer(7))")
            notes.append(parts.joined(separator: "; "))
            size += notes[notes.count - 1].utf8.count
        }
        return notes.reversed()
    }
}
