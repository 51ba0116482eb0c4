import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// Describes an event in lines of text.
struct EventText {
    let links: LinkNames
    private var names: RecordedNames { links.names }
    /// Values longer than this are cut.
    var limit = 60
    /// The number of objects of an erasure that are named.
    private static let namedObjects = 5

    /// One line for each change, or one with all values of an insertion or deletion.
    func lines(_ event: RecordedEvent) -> [String] {
        let (lines, marks) = (changes(event), marks(event))
        return marks.isEmpty ? lines : lines.filter { !$0.isEmpty } + marks
    }

    /// Returns the marks of values that were later removed from the event.
    func marks(_ event: RecordedEvent) -> [String] {
        [event.isErased ? "values were erased" : nil, event.isThinned ? "values were thinned" : nil].compactMap(\.self)
    }

    private func changes(_ event: RecordedEvent) -> [String] {
        switch event.payload {
        case .inserted(let values), .deleted(let values): [list(values, of: event.object?.entityID)]
        case .updated(let changes): updates(changes, of: event.object?.entityID)
        // Positions of ordered members are numbers of the store's own.
        case .linked(let pair), .unlinked(let pair), .moved(let pair): [ends(pair)]
        case .modelInstalled(let version): ["model version \(version.rawValue)"]
        case .maintenance(let data): maintenance(data)
        case .redacted: []
        }
    }

    private func maintenance(_ payload: Data) -> [String] {
        switch MaintenanceRecord(shown: payload) {
        case .tagged(let name, let eventNumber): ["tag \(ValueText.harmless(name)) at event \(eventNumber)"]
        case .untagged(let name): ["tag \(ValueText.harmless(name)) removed"]
        case .metadata(let before, let after):
            after.keys.sorted().map { name in
                let (old, new) = (before[name] ?? .null, after[name] ?? .null)
                return "metadata \(ValueText.harmless(name)): \(text(.value(old))) -> \(text(.value(new)))"
            }
        case .erased(let erasure):
            self.erasure(erasure)
        case .thinned(let record):
            [thinning(record)]
        case .note: ["note"]
        case .unknown: ["<\(ValueText.size(UInt64(payload.count)))>"]
        }
    }

    private func thinning(_ record: ThinnedRecord) -> String {
        let entities = record.entities.map { names.name(of: $0) }.joined(separator: ", ")
        return "thinned \(entities) through event \(record.cut)"
    }

    private func erasure(_ erasure: ErasureRecord) -> [String] {
        let objects = erasure.objects.map { names.name(of: $0) }
        let few = objects.prefix(Self.namedObjects).joined(separator: ", ")
        let rest = objects.count - Self.namedObjects
        let properties = erasure.properties.map { names.name(of: $0) }.joined(separator: ", ")
        return [
            "erased " + (properties.isEmpty ? "" : "\(properties) of ") + few + (rest > 0 ? " and \(rest) more" : "")
        ]
    }

    /// The position is left out if something else has changed, too.
    private func updates(_ changes: [PropertyChange], of entity: EntityID?) -> [String] {
        var lines: [String] = []
        var moves: [String] = []
        for change in changes {
            let name = names.name(of: change.property, in: entity)
            if let toOne = ModelAssignment.toOneName(ofPosition: name) {
                moves.append("moved in the order of \(toOne)")
            } else {
                lines.append("\(name): \(text(change.before)) -> \(text(change.after))")
            }
        }
        return lines.isEmpty ? moves : lines
    }

    private func list(_ values: [RecordedEvent.Value], of entity: EntityID?) -> String {
        values.filter { $0.value != .value(.null) }
            .map { (names.name(of: $0.property, in: entity), $0.value) }
            .filter { ModelAssignment.toOneName(ofPosition: $0.0) == nil }
            .map { "\($0): \(text($1))" }.joined(separator: ", ")
    }

    func text(_ value: RecordedValue) -> String {
        switch value {
        case .value(let value): ValueText.of(value, limit: limit) { links.label(of: $0) }
        case .previous: "…"
        }
    }

    private func ends(_ pair: PairEvent) -> String {
        "\(names.name(of: pair.key)) - \(links.label(of: pair.key.target))"
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
    private var lastTransaction: TransactionNumber?

    init(_ links: LinkNames) {
        text = EventText(links: links)
        columns = Columns(
            [.right, .left, .left, .left, .left, .left], isFirm: [true, true, false, true, true, false],
            cutsToTerminal: true)
    }

    mutating func print(_ event: RecordedEvent, _ transaction: TransactionRecord) {
        var lines = text.lines(event)
        // Once for a transaction, at the event that is listed first.
        if transaction.number != lastTransaction { lines += reason(transaction) }
        lastTransaction = transaction.number
        columns.add([
            .init("\(event.eventNumber)", .dim), .init(ValueText.moment(transaction.date), .dim),
            .init(transaction.author ?? "-", .cyan), .init("\(event.kind)", Self.colour(event.kind)),
            .init(event.object.map { text.links.names.name(of: $0) } ?? "-", .bold), .init(lines.first ?? ""),
        ])
        for line in lines.dropFirst() {
            columns.add([.init(""), .init(""), .init(""), .init(""), .init(""), .init(line)])
        }
    }

    mutating func finish() { columns.flush() }

    private func reason(_ transaction: TransactionRecord) -> [String] {
        transaction.reason.map { ["because: \(ValueText.harmless($0))"] } ?? []
    }

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
    let names: RecordedNames

    func print(_ event: RecordedEvent, _ transaction: TransactionRecord) throws {
        try JSONText.print(event.json(transaction, names), isPretty: false)
    }

    func finish() {}
}

extension RecordedEvent {
    /// `LogCommand` documents the shape.
    func json(_ transaction: TransactionRecord, _ names: RecordedNames) -> JSONObject {
        func value(_ value: RecordedValue) -> JSONText.Value {
            guard case .value(let value) = value else { return .null }
            return JSONText.Value(value) { names.name(of: $0) }
        }
        var changes: JSONObject?
        var values: JSONObject?
        var pair: PairEvent?
        var model: ModelVersion?
        var erasure: JSONObject?
        switch payload {
        case .inserted(let list), .deleted(let list):
            values = JSONObject(list.map { (names.name(of: $0.property, in: object?.entityID), value($0.value)) })
        case .updated(let list):
            changes = JSONObject(
                list.map { change in
                    let sides: JSONObject = ["before": value(change.before), "after": value(change.after)]
                    return (names.name(of: change.property, in: object?.entityID), sides)
                })
        case .linked(let link), .unlinked(let link), .moved(let link): pair = link
        case .modelInstalled(let version): model = version
        case .maintenance(let data):
            if case .erased(let record) = MaintenanceRecord(shown: data) {
                erasure = [
                    "objects": record.objects.map { names.name(of: $0) },
                    "properties": record.properties.map { names.name(of: $0) }, "reason": transaction.reason,
                ]
            }
        case .redacted: break
        }
        return [
            "eventNumber": eventNumber.rawValue, "time": ValueText.moment(transaction.date),
            "erased": isErased ? true : nil, "thinned": isThinned ? true : nil,
            "transaction": transaction.number.rawValue, "author": transaction.author,
            "reason": transaction.reason, "event": "\(kind)",
            "object": object.map { names.name(of: $0) }, "changes": changes, "values": values,
            "relationship": pair.map { names.name(of: $0.key) },
            "source": pair.map { names.name(of: $0.key.source) },
            "target": pair.map { names.name(of: $0.key.target) },
            "position": pair.map { [$0.positions.inSource, $0.positions.inTarget] },
            "positionBefore": pair?.positionsBefore.map { [$0.inSource, $0.inTarget] },
            "model": model?.rawValue, "erasure": erasure,
        ]
    }
}

extension MaintenanceRecord {
    /// Decodes a record for a listing: one that cannot be read is `unknown`. `verify` reports the damage.
    fileprivate init(shown payload: Data) {
        self = (try? payload.withUnsafeBytes { try MaintenanceRecord($0) }) ?? .unknown
    }
}

extension TransactionRecord {
    /// The reason that the saving context gave.
    var reason: String? { metadata[HistoryTransaction.reasonKey] }
}
