import Foundation
import StrataModel
package import StrataStore

/// What several stores with one log did and saw, with the times, and whether that can be.
///
/// The log gives the order of all saves, so checking takes one walk over it: Wing and Gong's search for an order
/// (1993) is not needed.
package struct SharedHistory: Sendable {
    package enum Outcome: Sendable, Hashable {
        case acknowledged
        /// The caller was told that nothing was written.
        case refused
        case unknown
    }

    /// One save, which its author's name identifies.
    package struct Save: Sendable {
        package var author: String
        package var node: Int
        package var begin: ContinuousClock.Instant
        package var end: ContinuousClock.Instant
        package var outcome: Outcome

        package init(
            author: String, node: Int, begin: ContinuousClock.Instant, end: ContinuousClock.Instant, outcome: Outcome
        ) {
            self.author = author
            self.node = node
            self.begin = begin
            self.end = end
            self.outcome = outcome
        }
    }

    /// One look at a node's end of the log.
    package struct Look: Sendable {
        package var node: Int
        package var begin: ContinuousClock.Instant
        package var end: ContinuousClock.Instant
        package var transaction: UInt64
        package var digest: [UInt8]

        package init(
            node: Int, begin: ContinuousClock.Instant, end: ContinuousClock.Instant, transaction: UInt64,
            digest: [UInt8]
        ) {
            self.node = node
            self.begin = begin
            self.end = end
            self.transaction = transaction
            self.digest = digest
        }
    }

    /// One transaction of the log.
    package struct Entry: Sendable {
        package var number: UInt64
        package var author: String?
        package var digest: [UInt8]
        /// Whether the digest is chained to the one before.
        package var isChained: Bool

        package init(number: UInt64, author: String?, digest: [UInt8], isChained: Bool) {
            self.number = number
            self.author = author
            self.digest = digest
            self.isChained = isChained
        }
    }

    package enum Violation: Sendable, Hashable {
        case gap(UInt64)
        case brokenChain(UInt64)
        case lost(String)
        case doubled(String)
        case savedThoughRefused(String)
        case madeUp(String)
        case againstTime(earlier: String, later: String)
        case readOfNoPrefix(node: Int, transaction: UInt64)
        case wentBack(node: Int, transaction: UInt64)
        case ownWriteUnread(String)
        case differentEnds
        case differentViews
    }

    package var saves: [Save] = []
    package var looks: [Look] = []
    package var log: [Entry] = []
    /// The end of each node's log when all was over.
    package var ends: [[UInt8]] = []
    /// What each node shows when all was over.
    package var views: [String] = []

    package init() {}

    package mutating func take(_ transactions: [SharedTransaction]) throws {
        var before = SharedLogEnd.start.digest
        for transaction in transactions {
            let frame = try LogFrame(transaction.bytes)
            log.append(
                Entry(
                    number: transaction.number.rawValue, author: frame.record.author, digest: transaction.digest,
                    isChained: frame.verifies(after: before)))
            before = transaction.digest
        }
    }

    // MARK: Checking

    /// - Returns: all that should not be; nothing else can be known from outside.
    package var violations: Set<Violation> {
        var found: Set<Violation> = []
        var numbers: [String: UInt64] = [:]
        for (index, entry) in log.enumerated() {
            if entry.number != UInt64(index) + 1 { found.insert(.gap(entry.number)) }
            if !entry.isChained { found.insert(.brokenChain(entry.number)) }
            guard let author = entry.author else { continue }
            if numbers.updateValue(entry.number, forKey: author) != nil { found.insert(.doubled(author)) }
        }
        checkSaves(numbers, &found)
        checkTimes(numbers, &found)
        checkLooks(numbers, &found)
        if Set(ends).count > 1 { found.insert(.differentEnds) }
        if Set(views).count > 1 { found.insert(.differentViews) }
        return found
    }

    private func checkSaves(_ numbers: [String: UInt64], _ found: inout Set<Violation>) {
        for save in saves {
            switch save.outcome {
            case .acknowledged: if numbers[save.author] == nil { found.insert(.lost(save.author)) }
            case .refused: if numbers[save.author] != nil { found.insert(.savedThoughRefused(save.author)) }
            case .unknown: break
            }
        }
        let known = Set(saves.map(\.author))
        // The store's own transactions have this author.
        for author in numbers.keys where author != "strata" && !known.contains(author) { found.insert(.madeUp(author)) }
    }

    /// A save that ended before another began must come before it in the log.
    private func checkTimes(_ numbers: [String: UInt64], _ found: inout Set<Violation>) {
        let ordered = saves.filter { $0.outcome == .acknowledged && numbers[$0.author] != nil }
            .sorted { numbers[$0.author, default: 0] < numbers[$1.author, default: 0] }
        // The save of the log so far that began last.
        var latest: Save?
        for save in ordered {
            if let latest, save.end < latest.begin {
                found.insert(.againstTime(earlier: save.author, later: latest.author))
            }
            if latest.map({ $0.begin < save.begin }) ?? true { latest = save }
        }
    }

    private func checkLooks(_ numbers: [String: UInt64], _ found: inout Set<Violation>) {
        var digests: [UInt64: [UInt8]] = [0: SharedLogEnd.start.digest]
        for entry in log { digests[entry.number] = entry.digest }
        for (node, looks) in Dictionary(grouping: looks, by: \.node) {
            for look in looks where digests[look.transaction] != look.digest {
                found.insert(.readOfNoPrefix(node: node, transaction: look.transaction))
            }
            // A look that began after another had ended, or after a save of this node, shows at least as much.
            var known: [(at: ContinuousClock.Instant, number: UInt64, author: String?)] =
                looks.map { ($0.end, $0.transaction, nil) }
                + saves.filter { $0.node == node && $0.outcome == .acknowledged }
                .compactMap { save in numbers[save.author].map { (save.end, $0, save.author) } }
            known.sort { $0.at < $1.at }
            var next = 0
            var least: (number: UInt64, author: String?) = (0, nil)
            for look in looks.sorted(by: { $0.begin < $1.begin }) {
                while next < known.count, known[next].at < look.begin {
                    if known[next].number > least.number { least = (known[next].number, known[next].author) }
                    next += 1
                }
                guard look.transaction < least.number else { continue }
                found.insert(
                    least.author.map { .ownWriteUnread($0) } ?? .wentBack(node: node, transaction: look.transaction))
            }
        }
    }
}
