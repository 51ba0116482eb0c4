import StrataGraph
import StrataModel
import StrataStore

/// Describes an event in lines of text.
struct EventText {
    let names: RecordedNames
    /// Values longer than this are cut.
    var limit = 60

    init(names: RecordedNames) { self.names = names }

    /// One line for each change, or one with all values of an insertion or deletion.
    func lines(_ event: RecordedEvent) -> [String] {
        switch event.payload {
        case .inserted(let values): [list(values)]
        case .deleted(let values): [list(values)]
        case .updated(let changes):
            changes.map { "\(names.name(of: $0.property)): \(text($0.before)) -> \(text($0.after))" }
        case .linked(let pair): ["\(ends(pair))\(position(pair.positions, " at "))"]
        case .unlinked(let pair): [ends(pair)]
        case .moved(let pair):
            [
                "\(ends(pair)): \(pair.positionsBefore.map { position($0, "") } ?? "?") -> \(position(pair.positions, ""))"
            ]
        case .modelInstalled(let version): ["model version \(version.rawValue)"]
        case .maintenance(let data): ["<\(ValueText.size(UInt64(data.count)))>"]
        case .redacted: ["removed on purpose"]
        }
    }

    private func list(_ values: [RecordedEvent.Value]) -> String {
        values.filter { $0.value != .value(.null) }
            .map { "\(names.name(of: $0.property)): \(text($0.value))" }.joined(separator: ", ")
    }

    func text(_ value: RecordedValue) -> String {
        switch value {
        case .value(let value): ValueText.of(value, limit: limit) { names.name(of: $0) }
        case .previous: "…"
        }
    }

    private func ends(_ pair: PairEvent) -> String {
        "\(names.name(of: pair.key.property)) - \(names.name(of: pair.key.target))"
    }

    /// The positions that are not 0; only ordered sides have others.
    private func position(_ positions: PairPositions, _ lead: String) -> String {
        let numbers = [positions.inSource, positions.inTarget].filter { $0 != 0 }
        return numbers.isEmpty ? (lead.isEmpty ? "0" : "") : lead + numbers.map(String.init).joined(separator: "/")
    }
}

/// Prints events one by one.
protocol EventPrinter {
    mutating func print(_ event: RecordedEvent, _ transaction: TransactionRecord) throws
    mutating func finish()
}

/// Prints aligned columns: event number, time, author, event, object, change.
struct ColumnEventPrinter: EventPrinter {
    private let text: EventText
    private var columns: Columns

    init(names: RecordedNames, head: EventNumber) {
        text = EventText(names: names)
        columns = Columns([.right, .left, .left, .left, .left, .left], cutsToTerminal: true)
    }

    mutating func print(_ event: RecordedEvent, _ transaction: TransactionRecord) {
        let lines = text.lines(event)
        columns.add([
            .init("\(event.eventNumber)", .dim), .init(ValueText.moment(transaction.date), .dim),
            .init(transaction.author ?? "-", .cyan), .init("\(event.kind)", Self.colour(event.kind)),
            .init(event.object.map { text.names.name(of: $0) } ?? "-", .bold), .init(lines.first ?? ""),
        ])
        for line in lines.dropFirst() {
            columns.add([.init(""), .init(""), .init(""), .init(""), .init(""), .init(line)])
        }
    }

    mutating func finish() { columns.flush() }

    private static func colour(_ kind: EventKind) -> Style.Colour {
        switch kind {
        case .inserted, .linked: .green
        case .deleted, .unlinked: .red
        case .updated, .moved: .yellow
        case .modelInstalled, .maintenance: .cyan
        }
    }
}

/// Prints each event as one line of JSON.
struct JSONEventPrinter: EventPrinter {
    private let names: RecordedNames

    init(names: RecordedNames) { self.names = names }

    func print(_ event: RecordedEvent, _ transaction: TransactionRecord) throws {
        Output.shared.line(try JSONText.of(EventObject(event, transaction, names), isPretty: false))
    }

    func finish() {}
}

/// An event as JSON; `LogCommand` documents the shape.
struct EventObject: Encodable {
    struct Change: Encodable {
        let before: JSONText.Value
        let after: JSONText.Value
    }

    let eventNumber: UInt64
    let time: String
    let transaction: UInt64
    let author: String?
    let event: String
    let object: String?
    var changes: [String: Change]?
    var values: [String: JSONText.Value]?
    var relationship: String?
    var source: String?
    var target: String?
    var position: [Int64]?
    var positionBefore: [Int64]?
    var model: UInt32?

    init(_ event: RecordedEvent, _ transaction: TransactionRecord, _ names: RecordedNames) {
        eventNumber = event.eventNumber.rawValue
        time = ValueText.moment(transaction.date)
        self.transaction = transaction.number.rawValue
        author = transaction.author
        self.event = "\(event.kind)"
        object = event.object.map { names.name(of: $0) }
        switch event.payload {
        case .inserted(let list), .deleted(let list):
            values = Dictionary(
                list.map { (names.name(of: $0.property), Self.value($0.value, names)) },
                uniquingKeysWith: { first, _ in first })
        case .updated(let list):
            changes = Dictionary(
                list.map {
                    (
                        names.name(of: $0.property),
                        Change(before: Self.value($0.before, names), after: Self.value($0.after, names))
                    )
                }, uniquingKeysWith: { first, _ in first })
        case .linked(let pair), .unlinked(let pair), .moved(let pair): setPair(pair, names)
        case .modelInstalled(let version): model = version.rawValue
        case .maintenance, .redacted: break
        }
    }

    private mutating func setPair(_ pair: PairEvent, _ names: RecordedNames) {
        relationship = names.name(of: pair.key.property)
        source = names.name(of: pair.key.source)
        target = names.name(of: pair.key.target)
        position = [pair.positions.inSource, pair.positions.inTarget]
        positionBefore = pair.positionsBefore.map { [$0.inSource, $0.inTarget] }
    }

    private static func value(_ value: RecordedValue, _ names: RecordedNames) -> JSONText.Value {
        guard case .value(let value) = value else { return .null }
        return JSONText.Value(value) { names.name(of: $0) }
    }
}

extension TransactionRecord {
    /// The reason that the saving context gave.
    var reason: String? { metadata[HistoryTransaction.reasonKey] }
}
