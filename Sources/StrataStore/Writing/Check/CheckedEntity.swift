import StrataModel

/// What a save's check asks of an entity for each change of an object, looked up once for changes in a row.
final class CheckedEntity {
    /// A to-one whose target stands in the row.
    struct Link {
        let slot: Int
        let property: PropertyID
    }

    let schema: EntitySchema
    let layout: RowLayout
    let links: [Link]
    let linkSlots: SlotSet
    /// Slots whose values may stand in files.
    let externalSlots: SlotSet

    init(_ schema: EntitySchema) {
        self.schema = schema
        layout = schema.layout
        links = schema.slotLinks.map { Link(slot: $0.slot, property: $0.id) }
        linkSlots = SlotSet(links.map(\.slot))
        externalSlots = SlotSet(
            schema.layout.variableSlots.filter { schema.layout.entries[$0].kind == .externalData })
    }
}
