import StrataModel

/// Is told the state before each event that a projector applies; a verification compares it with what the event says.
protocol PriorStateObserver: AnyObject {
    /// An update or a deletion comes to a row.
    func willApply(
        _ event: EventView, _ eventNumber: EventNumber, to row: Projector.CurrentRow, _ entity: EntitySchema,
        _ histories: SchemaHistory
    ) throws

    /// The end or the move of a link comes to a pair.
    func willApply(_ event: PairEvent, _ eventNumber: EventNumber, to state: PairState)
}
