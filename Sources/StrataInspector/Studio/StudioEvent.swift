import StrataModel
import StrataStore

/// An event of the log for a page.
struct StudioEvent: Encodable, Equatable {
    struct Change: Encodable, Equatable {
        let property: String
        let before: StudioCell?
        let after: StudioCell?
    }

    let number: UInt64
    let kind: String
    let object: String?
    /// The object with its name for people.
    let label: String?
    /// For links: the relationship and its other end.
    var relationship: String?
    var target: String?
    var targetLabel: String?
    /// What an event that concerns no object says.
    var text: String?
    var changes: [Change] = []

    init(_ event: RecordedEvent, _ links: LinkNames) {
        let names = links.names
        number = event.eventNumber.rawValue
        kind = "\(event.kind)"
        object = event.object.map { names.name(of: $0) }
        label = event.object.map { links.label(of: $0) }
        switch event.payload {
        case .inserted(let values):
            changes = values.filter { $0.value != .value(.null) }.map {
                Change(property: names.name(of: $0.property), before: nil, after: StudioCell($0.value, links))
            }
        case .deleted(let values):
            changes = values.filter { $0.value != .value(.null) }.map {
                Change(property: names.name(of: $0.property), before: StudioCell($0.value, links), after: nil)
            }
        case .updated(let list):
            changes = list.map {
                Change(
                    property: names.name(of: $0.property), before: StudioCell($0.before, links),
                    after: StudioCell($0.after, links))
            }
        case .linked(let pair), .unlinked(let pair), .moved(let pair):
            relationship = names.name(of: pair.key.property)
            target = names.name(of: pair.key.target)
            targetLabel = links.label(of: pair.key.target)
        case .modelInstalled, .maintenance, .redacted:
            text = EventText(links: links).lines(event).joined(separator: "\n")
        }
    }
}
