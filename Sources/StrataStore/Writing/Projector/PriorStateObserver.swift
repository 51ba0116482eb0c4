import StrataModel

/// Receives the state before each event that a projector applies. `verify` compares that state with the event.
protocol PriorStateObserver: AnyObject {
    /// An update or a deletion comes to a row.
    func willApply(
        _ event: EventView, _ eventNumber: EventNumber, to row: Projector.CurrentRow, _ entity: EntitySchema,
        _ histories: SchemaHistory
    ) throws

    /// The end or the move of a link comes to a pair.
    func willApply(_ event: PairEvent, _ eventNumber: EventNumber, to state: PairState)
}

extension Projector {
    /// A row before an event, in bytes that stay in place.
    struct CurrentRow {
        let image: UnsafeRawBufferPointer
        let layout: RowLayout
        let owner: [UInt8]?
    }
}
