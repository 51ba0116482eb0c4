import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// `strata timeline`: draws how many transactions there were over time.
struct TimelineCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "timeline",
        abstract: "Draws how many transactions there were over time.",
        discussion: """
            Each line is a period of time (UTC) with its transactions and events, and a bar for the transactions. The \
            period is chosen so that the timeline fits on a page, unless --by names it: minute, hour, day, week or \
            month. Empty periods are drawn too. \(Moment.help)

            --json prints {"by", "periods": [{"start", "transactions", "events", "authors": {name: transactions}}]}.

            Examples:
                strata timeline BowTies.strata
                strata timeline BowTies.strata --by day --json
            """)

    @OptionGroup var store: StoreArguments
    @Option(help: ArgumentHelp("minute, hour, day, week or month.", valueName: "period")) var by: TimePeriod?
    @OptionGroup var span: SpanArguments
    @Option(help: "Only transactions of this author.") var author: String?
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        try store.reading { store in
            let transactions = try transactions(in: store)
            guard let first = transactions.first, let last = transactions.last else {
                return try json ? JSONText.print(["periods": [String]()]) : Output.shared.line("no transaction")
            }
            let period = by ?? TimePeriod.fitting(first.date, last.date)
            let timeline = try Timeline(transactions, period)
            try json ? JSONText.print(["by": period.rawValue, "periods": timeline.parts]) : timeline.print()
        }
    }

    private func transactions(in store: Store) throws -> [Timeline.Commit] {
        let (start, end) = try span.events(in: store)
        var commits: [Timeline.Commit] = []
        try store.transactions(from: start, through: end) { record in
            guard author == nil || author == record.author else { return }
            commits.append(.init(date: record.date, events: record.eventCount, author: record.author))
        }
        return commits
    }
}

/// The length of time that one line of a timeline shows.
enum TimePeriod: String, ExpressibleByArgument, CaseIterable {
    case minute, hour, day, week, month

    private static let lines = 48.0

    /// The shortest length with which the timeline fits on a page.
    static func fitting(_ first: Date, _ last: Date) -> TimePeriod {
        let seconds = last.timeIntervalSince(first)
        return allCases.first { seconds / $0.seconds <= lines } ?? .month
    }

    private var seconds: Double {
        switch self {
        case .minute: 60
        case .hour: 3600
        case .day: 86_400
        case .week: 604_800
        case .month: 2_629_800
        }
    }

    static let calendar: Calendar = {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? .gmt
        return calendar
    }()

    private var component: Calendar.Component {
        switch self {
        case .minute: .minute
        case .hour: .hour
        case .day: .day
        case .week: .weekOfYear
        case .month: .month
        }
    }

    func start(of date: Date) -> Date { Self.calendar.dateInterval(of: component, for: date)?.start ?? date }

    func next(after date: Date) -> Date {
        Self.calendar.date(byAdding: component, value: 1, to: date) ?? date.addingTimeInterval(seconds)
    }

    /// Returns as much of the date as distinguishes the lines.
    func text(_ date: Date) -> String {
        let moment = ValueText.moment(date)
        switch self {
        case .minute, .hour: return String(moment.prefix(16).replacing("T", with: " "))
        case .day, .week: return String(moment.prefix(10))
        case .month: return String(moment.prefix(7))
        }
    }
}

/// Transactions counted by periods of time.
struct Timeline {
    struct Commit {
        let date: Date
        let events: Int
        let author: String?
    }

    struct Part: Encodable {
        /// The beginning in ISO 8601.
        let start: String
        /// The beginning for people.
        let label: String
        var transactions = 0
        var events = 0
        var authors: [String: Int] = [:]

        private enum CodingKeys: CodingKey { case start, transactions, events, authors }

        init(_ start: Date, _ period: TimePeriod) {
            self.start = ValueText.moment(start)
            label = period.text(start)
        }
    }

    private(set) var parts: [Part] = []
    private static let mostParts = 10_000

    /// - Throws: `UsageError` if there would be too many lines.
    init(_ commits: [Commit], _ period: TimePeriod) throws {
        guard let first = commits.first else { return }
        var start = period.start(of: first.date)
        var end = period.next(after: start)
        parts.append(Part(start, period))
        for commit in commits {
            while commit.date >= end {
                guard parts.count < Self.mostParts else {
                    throw UsageError("That makes more than \(Self.mostParts) lines: choose a longer --by, or --since.")
                }
                start = end
                end = period.next(after: start)
                parts.append(Part(start, period))
            }
            parts[parts.count - 1].transactions += 1
            parts[parts.count - 1].events += commit.events
            parts[parts.count - 1].authors[commit.author ?? "-", default: 0] += 1
        }
    }

    func print() {
        let style = Style.standard
        let most = parts.map(\.transactions).max() ?? 0
        let width = max(10, (Terminal.width ?? 80) - 44)
        var columns = Columns([.left, .right, .right, .left])
        columns.add([.init("", nil), .init("transactions", .dim), .init("events", .dim), .init("", nil)])
        for part in parts {
            columns.add([
                .init(part.label), .init(ValueText.count(part.transactions)), .init(ValueText.count(part.events)),
                .init(Self.bar(part.transactions, most, width), .cyan),
            ])
        }
        columns.flush()
        let transactions = parts.reduce(0) { $0 + $1.transactions }
        let events = parts.reduce(0) { $0 + $1.events }
        Output.shared.line(
            style("\(ValueText.count(transactions, "transaction")), \(ValueText.count(events, "event"))", .dim))
    }

    /// A bar in eighths of a character; any count above zero is visible.
    private static func bar(_ value: Int, _ most: Int, _ width: Int) -> String {
        guard value > 0, most > 0 else { return "" }
        let eighths = max(1, value * width * 8 / most)
        let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]
        return String(repeating: "█", count: eighths / 8) + rest
    }
}
