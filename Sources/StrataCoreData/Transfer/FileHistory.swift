import Foundation
import StrataModel
import StrataStore

/// The file's persistent history in the new store: the metadata of transactions, and notes of those that have no rows.
enum FileHistory {
    private static let key = "coredata.history"
    /// The number of notes that are kept, the newest.
    private static let most = 2_000
    /// The size of all notes together; the metadata of a store may have 1 MiB.
    private static let largestSizeInBytes = 256 << 10

    /// Counts the parts of the history that become transactions, and those that become notes.
    static func summary(_ history: PersistentHistory) -> CoreDataImportReport.History {
        var summary = CoreDataImportReport.History()
        summary.transactions = history.count
        for transaction in history.transactions where transaction.rows > 0 {
            summary.chained += 1
            if transaction.rows < transaction.changeCount { summary.partial += 1 }
        }
        summary.notes = notes(history).count
        return summary
    }

    static func keep(_ history: PersistentHistory, in store: Store) throws {
        let lines = notes(history)
        guard !lines.isEmpty else { return }
        try store.changeMetadata(MaintenanceNote(author: nil)) { entries in
            for (index, line) in lines.enumerated() { entries["\(key).\(index + 1)"] = .string(line) }
        }
    }

    /// A line for each transaction without rows: date, author, context, bundle, process, numbers of changes.
    private static func notes(_ history: PersistentHistory) -> [String] {
        var notes: [String] = []
        var size = 0
        for transaction in history.transactions.reversed() where transaction.rows == 0 {
            guard notes.count < most, size < largestSizeInBytes else { break }
            let parts = words(of: transaction).map { "\($0)=\($1)" }
            notes.append((["\(transaction.seconds)"] + parts + [changes(of: transaction)]).joined(separator: "; "))
            size += notes[notes.count - 1].utf8.count
        }
        return notes.reversed()
    }

    private static func words(of transaction: PersistentHistory.Transaction) -> [(String, String)] {
        [
            ("author", transaction.author), ("context", transaction.context), ("bundle", transaction.bundle),
            ("process", transaction.process),
        ].compactMap { name, word in word.map { (name, $0) } }
    }

    private static func changes(of transaction: PersistentHistory.Transaction) -> String {
        "inserted=\(transaction.inserted) updated=\(transaction.updated) deleted=\(transaction.deleted)"
    }

    /// The entries of a transaction of the new store: its date, context, bundle, process and numbers of changes.
    static func metadata(of transaction: PersistentHistory.Transaction) -> [String: String] {
        var entries = [
            "coredata.transaction": "\(transaction.number)", "coredata.changes": changes(of: transaction),
            "coredata.date": date(transaction.seconds),
        ]
        for (name, word) in words(of: transaction) where name != "author" { entries["coredata.\(name)"] = word }
        return entries
    }

    /// Formats a date as in ISO 8601; a date that is centuries away stays a number of seconds.
    private static func date(_ seconds: Double) -> String {
        guard abs(seconds) < 1e10 else { return "\(seconds)" }
        return Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            .format(Date(timeIntervalSinceReferenceDate: seconds))
    }
}
