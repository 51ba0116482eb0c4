import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// `strata top`: shows what is going on in a store now, again and again.
struct TopCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Shows what is going on in a store now, again and again.",
        discussion: """
            Transactions and events a second are those since the line before. Each reader of any process that reads at \
            the moment counts; the oldest is so many commits old, and pages that it sees are not used again. The lag of a \
            subscription is the number of transactions that it has not acknowledged. Nothing is written.

            On a terminal the page is drawn anew every --interval seconds until Ctrl-C. Elsewhere each look is printed below \
            the one before.

            --json prints one line for each look: {"time", "transaction", "event", "transactionsPerSecond", \
            "eventsPerSecond", "lastSave", "bytes": {"file", "log", "views", "buffers", "free"}, "readers", \
            "oldestReader", "processes", "subscriptions": {name: lag}}. The first has null for what is a second.

            Examples:
                strata top BowTies.strata
                strata top BowTies.strata --interval 10 --count 6 --json
            """)

    @OptionGroup var store: StoreArguments
    @Option(help: ArgumentHelp("Look every so many seconds.", valueName: "seconds")) var interval = 1.0
    @Option(help: ArgumentHelp("End after so many looks.", valueName: "number")) var count: Int?
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard interval > 0, interval <= 86_400 else {
            throw ValidationError("--interval is not between 0 and 86400 seconds.")
        }
        if let count, count < 1 { throw ValidationError("--count is less than 1.") }
    }

    /// One look, and the time in seconds on a clock that does not jump.
    private struct Look {
        let usage: UsageReport
        let time: ContinuousClock.Instant
        let date = Date()

        /// Returns the transactions and events a second since another look.
        func rates(since other: Look?) -> (transactions: Double, events: Double)? {
            guard let other else { return nil }
            let seconds = max((time - other.time) / .seconds(1), 1e-6)
            return (
                Double(usage.transaction.rawValue &- other.usage.transaction.rawValue) / seconds,
                Double(usage.event.rawValue &- other.usage.event.rawValue) / seconds
            )
        }
    }

    func run() throws {
        try store.reading { store in
            var last: Look?
            var left = count ?? .max
            while true {
                let look = Look(usage: try store.usage(), time: .now)
                try json ? printJSON(look, last) : print(look, last, store.path)
                Output.shared.flush()
                left -= 1
                if left == 0 || Output.hasNoReader { return }
                last = look
                Thread.sleep(forTimeInterval: interval)
            }
        }
    }

    private func print(_ look: Look, _ last: Look?, _ path: String) {
        let usage = look.usage
        if Terminal.isRewritable(STDOUT_FILENO) {
            // From the top left corner on.
            Output.shared.text("\u{1B}[H\u{1B}[J")
        } else if last != nil {
            Output.shared.line()
        }
        let rates = look.rates(since: last)
        func rate(_ number: Double?) -> String { number.map { String(format: "%.1f/s", $0) } ?? "-" }
        var columns = Columns([.left, .right, .left])
        columns.add([.init(ValueText.moment(look.date), .bold), .init(""), .init(ValueText.harmless(path), .dim)])
        columns.add("transactions", "\(usage.transaction)", rate(rates?.transactions))
        columns.add("events", "\(usage.event)", rate(rates?.events))
        columns.add("last save", usage.lastSave.map(ValueText.moment) ?? "-", "")
        columns.add("readers", "\(usage.readerLags.count)", "oldest \(usage.readerLags.max() ?? 0) commits behind")
        columns.add("processes", "\(usage.processIDs.count)", usage.processIDs.map(String.init).joined(separator: " "))
        func size(_ bytes: Int) -> String { ValueText.size(UInt64(bytes)) }
        columns.add("file", size(usage.fileSizeInBytes), "\(size(usage.freeSizeInBytes)) free")
        columns.add("log", size(usage.logSizeInBytes), "")
        columns.add("views", size(usage.viewSizeInBytes), "\(size(usage.bufferSizeInBytes)) in buffers")
        for (name, lag) in usage.subscriptionLags.sorted(by: { $0.key < $1.key }) {
            columns.add("subscription", "\(lag)", "transactions behind: \(name)")
        }
        columns.flush()
    }

    private func printJSON(_ look: Look, _ last: Look?) throws {
        let (usage, rates) = (look.usage, look.rates(since: last))
        let sizes: JSONObject = [
            "file": usage.fileSizeInBytes, "log": usage.logSizeInBytes, "views": usage.viewSizeInBytes,
            "buffers": usage.bufferSizeInBytes, "free": usage.freeSizeInBytes,
        ]
        let object: JSONObject = [
            "time": ValueText.moment(look.date), "transaction": usage.transaction.rawValue,
            "event": usage.event.rawValue, "transactionsPerSecond": JSONObject.orNull(rates?.transactions),
            "eventsPerSecond": JSONObject.orNull(rates?.events),
            "lastSave": JSONObject.orNull(usage.lastSave.map(ValueText.moment)),
            "bytes": sizes,
            "readers": usage.readerLags.count, "oldestReader": usage.readerLags.max() ?? 0,
            "processes": usage.processIDs.map { Int($0) },
            "subscriptions": usage.subscriptionLags,
        ]
        try JSONText.print(object, isPretty: false)
    }
}
