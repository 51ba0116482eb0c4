import Foundation
import StrataModel
import StrataStore

/// An event of the log as a CloudEvent (version 1.0 of the specification) in JSON.
///
/// `id` is the event number, which is unique in the source as the specification asks. `sequence` is the specification's
/// own extension attribute; `stratatransaction`, `strataauthor` and `stratareason` are Strata's, and so is `stratathinned`,
/// which an event has whose replaced values were dropped.
struct CloudEventText {
    let store: Store
    let names: RecordedNames
    private let exact: ExactValue

    init(_ store: Store, _ names: RecordedNames) {
        self.store = store
        self.names = names
        exact = ExactValue(store: store, names: names, notesEncrypted: true)
    }

    func line(_ event: RecordedEvent, _ transaction: TransactionRecord) throws -> String {
        var line = "{\"specversion\":\"1.0\",\"id\":\"\(event.eventNumber)\""
        line += ",\"source\":\"strata://\(store.identifier.uuidString)\""
        line += ",\"type\":\"strata.\(event.kind)\""
        if let object = event.object { line += ",\"subject\":" + JSONLine.quoted(names.name(of: object)) }
        line += ",\"time\":\"\(DateText.exact(transaction.date))\",\"sequence\":\"\(event.eventNumber)\""
        line += ",\"stratatransaction\":\"\(transaction.number)\""
        if let author = transaction.author { line += ",\"strataauthor\":" + JSONLine.quoted(author) }
        if let reason = transaction.reason { line += ",\"stratareason\":" + JSONLine.quoted(reason) }
        if event.isThinned { line += ",\"stratathinned\":true" }
        line += ",\"datacontenttype\":\"application/json\",\"data\":"
        JSONLine.append(.object(try data(event)), to: &line)
        return line + "}"
    }

    private func data(_ event: RecordedEvent) throws -> [String: JSONText.Value] {
        switch event.payload {
        case .inserted(let values), .deleted(let values):
            return [
                "values": .object(try named(values.map { ($0.property, try exact.json($0.value.known)) }, of: event))
            ]
        case .updated(let changes):
            return [
                "changes": .object(
                    try named(
                        changes.map {
                            (
                                $0.property,
                                .object([
                                    "before": try exact.json($0.before.known), "after": try exact.json($0.after.known),
                                ])
                            )
                        }, of: event))
            ]
        case .linked(let pair), .unlinked(let pair), .moved(let pair):
            return [
                "relationship": .text(names.name(of: pair.key)),
                "source": .text(names.name(of: pair.key.source)), "target": .text(names.name(of: pair.key.target)),
            ]
        case .modelInstalled(let version): return ["model": .integer(Int64(version.rawValue))]
        case .maintenance, .redacted: return [:]
        }
    }

    private func named(
        _ values: [(PropertyID, JSONText.Value)], of event: RecordedEvent
    ) throws -> [String: JSONText.Value] {
        Dictionary(
            values.map { (names.name(of: $0.0, in: event.object?.entityID), $0.1) },
            uniquingKeysWith: { first, _ in first })
    }
}
