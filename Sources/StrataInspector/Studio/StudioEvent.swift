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
    /// The transaction after which the object is to be seen: this one, or the one before if this one deleted it.
    let at: UInt64
    /// The relationship of a link and its other end.
    var relationship: String?
    var target: String?
    var targetLabel: String?
    var targetAt: UInt64?
    /// A text for an event that concerns no object, or about values that were later removed from it.
    var text: String?
    var changes: [Change] = []

    init(_ event: RecordedEvent, of transaction: TransactionRecord, _ reading: StudioReading, _ links: LinkNames) throws
    {
        let event = try reading.store.shown(event)
        let names = links.names
        number = event.eventNumber.rawValue
        kind = "\(event.kind)"
        object = event.object.map { names.name(of: $0) }
        label = event.object.map { links.label(of: $0) }
        at = try Self.moment(of: event.object, transaction, reading.store)
        let entity = event.object?.entityID
        let position = ModelAssignment.positionName(of: "")
        var moved: [String] = []
        switch event.payload {
        case .inserted(let values):
            changes = values.filter { $0.value != .value(.null) }.map {
                Change(
                    property: names.name(of: $0.property, in: entity), before: nil, after: StudioCell($0.value, links))
            }
        case .deleted(let values):
            changes = values.filter { $0.value != .value(.null) }.map {
                Change(
                    property: names.name(of: $0.property, in: entity), before: StudioCell($0.value, links), after: nil)
            }
        case .updated(let list):
            changes = list.map {
                Change(
                    property: names.name(of: $0.property, in: entity), before: StudioCell($0.before, links),
                    after: StudioCell($0.after, links))
            }
            // A member that changes its owner changes its place with it.
            let kept = changes.map(\.property)
            moved = kept.filter { $0.hasSuffix(position) }.map { String($0.dropLast(position.count)) }
                .filter { !kept.contains($0) }
        case .linked(let pair), .unlinked(let pair), .moved(let pair):
            relationship = names.name(of: pair.key)
            target = names.name(of: pair.key.target)
            targetLabel = links.label(of: pair.key.target)
            targetAt = try Self.moment(of: pair.key.target, transaction, reading.store)
        case .modelInstalled, .maintenance, .redacted: break
        }
        // Positions are numbers of the store's own.
        changes.removeAll { $0.property.hasSuffix(position) }
        let words = EventText(links: links)
        let lines =
            event.object == nil ? words.lines(event) : words.marks(event) + moved.map { "another place in \($0)" }
        text = lines.isEmpty ? nil : lines.joined(separator: "\n")
    }

    /// The last transaction up to this one after which the object exists.
    private static func moment(
        of object: ObjectID?, _ transaction: TransactionRecord, _ store: Store
    ) throws -> UInt64 {
        let number = transaction.number.rawValue
        // To find the event is to read all later ones of the object, so it is done only where it may be a deletion.
        guard let object,
            transaction.touched.contains(where: { $0.entity == object.entityID && $0.has(.deleted) })
        else { return number }
        let before = EventNumber(rawValue: transaction.firstEvent.rawValue - 1)
        let last = try store.history(of: object, after: before).first { $0.eventNumber <= transaction.lastEvent }
        return last?.kind == .deleted ? number - 1 : number
    }
}
