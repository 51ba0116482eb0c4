import StrataModel

/// The transactions that unlink pairs which earlier versions of Strata left linked, as far as the log was searched for
/// them.
struct PairMendings {
    static let author = "strata"
    static let contextName = "mending"

    /// In order.
    private var found: [TransactionNumber] = []
    /// The transactions that were searched: after the first of these, through the second.
    private var searched: (after: TransactionNumber, through: TransactionNumber)?

    static func isOne(_ record: TransactionRecord) -> Bool {
        record.author == author && record.contextName == contextName
    }

    /// Returns the mendings after a transaction, up to another.
    ///
    /// - Complexity: O(transactions that were not searched before, and mendings).
    mutating func records(
        after first: TransactionNumber, through last: TransactionNumber, _ log: LogReader
    ) throws -> [TransactionRecord] {
        guard first < last else { return [] }
        let known = searched ?? (first, first)
        if first < known.after { found = try Self.search(after: first, through: known.after, log) + found }
        if last > known.through { found += try Self.search(after: known.through, through: last, log) }
        searched = (min(first, known.after), max(last, known.through))
        return try found.filter { $0 > first && $0 <= last }.compactMap { try log.transaction($0) }.filter(Self.isOne)
    }

    private static func search(
        after first: TransactionNumber, through last: TransactionNumber, _ log: LogReader
    ) throws -> [TransactionNumber] {
        var found: [TransactionNumber] = []
        for number in first.rawValue..<last.rawValue {
            let number = TransactionNumber(rawValue: number + 1)
            if try log.transaction(number).map(isOne) ?? false { found.append(number) }
        }
        return found
    }
}
