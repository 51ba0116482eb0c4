import Foundation
import StrataModel

/// The persistent history in a file: its transactions with authors, dates and changes.
///
/// The file keeps no values from before a change, so a row is known only as it has been since the transaction that
/// changed it last. That transaction can be written again with this row; earlier changes of the row are only counted.
struct PersistentHistory {
    struct Transaction {
        /// The key of its row.
        let number: Int64
        /// Since 2001.
        let seconds: Double
        let author: String?
        let context: String?
        let bundle: String?
        let process: String?
        var inserted = 0
        var updated = 0
        var deleted = 0
        /// The rows that no later transaction changed.
        var rows = 0

        var changeCount: Int { inserted + updated + deleted }
    }

    /// One row and the transaction that changed it last.
    struct LastChange {
        /// An index of `transactions`.
        let transaction: Int
        let table: Int
        let key: Int64
    }

    /// The newest transactions, oldest first.
    private(set) var transactions: [Transaction] = []
    /// The number of transactions that the file has.
    private(set) var count = 0
    /// By table: one more than the index of the transaction, by the distance from the first key; 0 for none. Empty for
    /// a table without history.
    private var moments: [[UInt32]] = []
    private var firstKeys: [Int64] = []

    /// The number of transactions that are read.
    private static let most = 10_000
    /// The widest range of keys of a table that has a history.
    private static let widest = 1 << 26

    init() {}

    init(_ file: CoreDataFile, _ plan: FilePlan, _ keys: [KeyTable]) throws(StrataError) {
        guard let table = file.tables["ATRANSACTION"], let changes = file.tables["ACHANGE"],
            ["ZTRANSACTIONID", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK"].allSatisfy(changes.has), table.has("ZTIMESTAMP")
        else { return }
        count = Int(try file.database.number("SELECT count(*) FROM \(SQLiteDatabase.quoted(table.name))") ?? 0)
        guard count > 0 else { return }
        try readTransactions(file, table)
        firstKeys = keys.map(\.first)
        moments = keys.map { _ in [] }
        try readChanges(file, plan, keys, SQLiteDatabase.quoted(changes.name))
        for list in moments {
            for moment in list where moment > 0 { transactions[Int(moment) - 1].rows += 1 }
        }
    }

    private mutating func readTransactions(_ file: CoreDataFile, _ table: FileTable) throws(StrataError) {
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
            "SELECT t.Z_PK, t.ZTIMESTAMP, \(words) FROM \(SQLiteDatabase.quoted(table.name)) t "
                + "ORDER BY t.Z_PK DESC LIMIT \(Self.most)")
        func text(_ column: Int) -> String? { rows.isNull(column) ? nil : String(rows.text(column).prefix(100)) }
        while try rows.step() {
            transactions.append(
                Transaction(
                    number: rows.integer(0), seconds: rows.double(1), author: text(2), context: text(3),
                    bundle: text(4), process: text(5)))
        }
        transactions.reverse()
    }

    /// Changes have their keys in the order in which they were made.
    private mutating func readChanges(
        _ file: CoreDataFile, _ plan: FilePlan, _ keys: [KeyTable], _ name: String
    ) throws(StrataError) {
        var tables: [Int64: Int] = [:]
        for (index, table) in plan.tables.enumerated() {
            for number in table.entityNames.keys { tables[number] = index }
        }
        let places = Dictionary(
            transactions.enumerated().map { ($1.number, $0) }, uniquingKeysWith: { first, _ in first })
        let rows = try file.database.prepare(
            "SELECT ZTRANSACTIONID, ZCHANGETYPE, ZENTITY, ZENTITYPK FROM \(name) "
                + "WHERE ZTRANSACTIONID >= \(transactions[0].number) ORDER BY Z_PK")
        while try rows.step() {
            guard let place = places[rows.integer(0)] else { continue }
            switch rows.integer(1) {
            case 0: transactions[place].inserted += 1
            case 1: transactions[place].updated += 1
            case 2:
                transactions[place].deleted += 1
                continue
            default: continue
            }
            guard let table = tables[rows.integer(2)] else { continue }
            let key = rows.integer(3)
            guard keys[table].objectID(key) != nil, keys[table].span < Self.widest else { continue }
            if moments[table].isEmpty { moments[table] = [UInt32](repeating: 0, count: Int(keys[table].span)) }
            let index = Int(key - firstKeys[table])
            moments[table][index] = max(moments[table][index], UInt32(place + 1))
        }
    }

    /// The transaction that changed a row last, counted from 1; 0 if none did.
    func moment(table: Int, key: Int64) -> Int {
        guard moments.indices.contains(table), !moments[table].isEmpty else { return 0 }
        let index = key - firstKeys[table]
        return moments[table].indices.contains(Int(index)) ? Int(moments[table][Int(index)]) : 0
    }

    /// The rows with a history, by transaction, then table, then key.
    func lastChanges() -> [LastChange] {
        var starts = [Int](repeating: 0, count: transactions.count + 1)
        for (index, transaction) in transactions.enumerated() { starts[index + 1] = starts[index] + transaction.rows }
        let placeholder = LastChange(transaction: 0, table: 0, key: 0)
        var changes = [LastChange](repeating: placeholder, count: starts[transactions.count])
        for (table, list) in moments.enumerated() {
            for (index, moment) in list.enumerated() where moment > 0 {
                let transaction = Int(moment) - 1
                changes[starts[transaction]] = LastChange(
                    transaction: transaction, table: table, key: firstKeys[table] + Int64(index))
                starts[transaction] += 1
            }
        }
        return changes
    }
}
