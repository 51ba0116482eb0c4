import Foundation

/// Prints what happens in a run.
protocol TravelOutput {
    /// Something has changed.
    mutating func show(_ travel: Travel)
    /// Something that is no change has happened.
    mutating func say(_ sentence: String)
    /// The run has ended well.
    mutating func end(_ result: TravelResult) throws
}

/// What a run has found; printed with `--json`.
struct TravelResult: Codable {
    struct Change: Codable {
        var change: String
        var savedOn: String
        var transaction: UInt64
        var savedInMilliseconds: Double
        /// When the lists of the others showed it, in milliseconds after the save began.
        var shownAfterMilliseconds: [String: Double]
    }

    var changes: [Change]
    var killedNode: String
    var missedChanges: Int
    /// From its start to a list that shows everything.
    var caughtUpInMilliseconds: Double
    var medianMilliseconds: Double
    var slowestMilliseconds: Double
    var movies: [String]
    /// Whether all nodes end with the same movies and the same transaction.
    var isSame: Bool

    init(_ travel: Travel, killed: Int, movies: [String], isSame: Bool) {
        func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }
        changes = travel.changes.map { change in
            Change(
                change: change.sentence, savedOn: travel.nodes[change.node].name, transaction: change.transaction,
                savedInMilliseconds: rounded(change.saved ?? 0),
                shownAfterMilliseconds: Dictionary(
                    uniqueKeysWithValues: change.shown.map { (travel.nodes[$0].name, rounded($1)) }))
        }
        let node = travel.nodes[killed]
        killedNode = node.name
        missedChanges = node.catchUp?.missed ?? 0
        caughtUpInMilliseconds = rounded(node.catchUp?.milliseconds ?? 0)
        medianMilliseconds = rounded(travel.time(atShare: 0.5))
        slowestMilliseconds = rounded(travel.time(atShare: 1))
        self.movies = movies
        self.isSame = isSame
    }

    var sentences: [String] {
        [
            "\(killedNode) was killed and missed \(missedChanges) changes; started again, it showed them after "
                + "\(TravelText.time(caughtUpInMilliseconds)).",
            "A change was on the other screens after \(TravelText.time(medianMilliseconds)) (median), at most "
                + "\(TravelText.time(slowestMilliseconds)).",
            "All three nodes show the same \(movies.count) movies.",
        ]
    }
}

/// How rows and times are written.
enum TravelText {
    static func time(_ milliseconds: Double) -> String {
        milliseconds < 1_000
            ? String(format: "%.1f ms", milliseconds) : String(format: "%.2f s", milliseconds / 1_000)
    }

    static func padded(_ text: String, _ width: Int, right: Bool = false) -> String {
        let space = String(repeating: " ", count: max(0, width - text.count))
        return right ? space + text : text + space
    }

    static func header(_ travel: Travel) -> String {
        padded("change", 34) + padded("saved in", 14) + travel.nodes.map { padded($0.name, 10, right: true) }.joined()
    }

    /// A change as a row: what, where and how long the save took, and when each of the others showed it.
    static func row(_ change: Travel.Change, _ travel: Travel) -> String {
        let number = change.saved == nil ? "" : "t\(change.transaction)"
        let saved = change.saved.map { "\(travel.nodes[change.node].name) \(time($0))" } ?? "..."
        let cells = travel.nodes.indices.map { index -> String in
            if index == change.node { return change.saved == nil ? "" : "saved" }
            if let shown = change.shown[index] { return time(shown) }
            return change.others.contains(index) ? "..." : "away"
        }
        return padded(number, 5) + padded(change.sentence, 29) + padded(saved, 14)
            + cells.map { padded($0, 10, right: true) }.joined()
    }
}

/// A line for each change that has travelled, for files and pipes.
struct TravelLines: TravelOutput {
    private var shown = 0
    private var hasHeader = false

    mutating func show(_ travel: Travel) {
        if !hasHeader { print(TravelText.header(travel)) }
        hasHeader = true
        while shown < travel.changes.count, travel.changes[shown].hasTravelled {
            print(TravelText.row(travel.changes[shown], travel))
            shown += 1
        }
    }

    mutating func say(_ sentence: String) { print("-- \(sentence)") }

    mutating func end(_ result: TravelResult) { print(([""] + result.sentences).joined(separator: "\n")) }
}

/// One JSON object at the end.
struct TravelJSON: TravelOutput {
    mutating func show(_ travel: Travel) {}
    mutating func say(_ sentence: String) {}

    mutating func end(_ result: TravelResult) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        print(String(decoding: try encoder.encode(result), as: UTF8.self))
    }
}

/// A page of the terminal that is drawn anew with every change.
struct TravelPage: TravelOutput {
    private static let rows = 14
    private var news = ""

    init() { write("\u{1B}[2J") }

    private func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }

    mutating func show(_ travel: Travel) { draw(lines(travel)) }

    mutating func say(_ sentence: String) { news = sentence }

    mutating func end(_ result: TravelResult) {
        write("\n" + result.sentences.joined(separator: "\n") + "\n")
    }

    private func lines(_ travel: Travel) -> [String] {
        let title = "Three nodes, one log in PostgreSQL: change \(travel.changes.count) of \(travel.total)"
        var lines = [styled(title, "1"), ""]
        for node in travel.nodes {
            let color = node.condition == .up ? "32" : node.condition == .killed ? "31" : "33"
            let state = node.condition == .killed ? "" : "  pid \(node.process)  event \(node.event)"
            let condition = styled(TravelText.padded(node.condition.rawValue, 8), color)
            lines.append("  \(node.name)  \(condition)\(state)")
        }
        lines += ["", TravelText.header(travel)]
        lines += travel.changes.suffix(Self.rows).map { TravelText.row($0, travel) }
        let missing = Self.rows - min(Self.rows, travel.changes.count)
        lines += [String](repeating: "", count: missing)
        lines += ["", news, "Times of the others count from the call of save to a list that shows the change."]
        return lines
    }

    private func styled(_ text: String, _ code: String) -> String { "\u{1B}[\(code)m\(text)\u{1B}[0m" }

    private func draw(_ lines: [String]) {
        write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\n") + "\u{1B}[J")
    }
}
