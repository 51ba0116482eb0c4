import StrataModel

/// An entity as `SaveCheck` uses it, looked up once for consecutive changes of the entity.
final class CheckedEntity {
    /// A to-one whose target is stored in the row.
    struct ToOne {
        let slot: Int
        let property: PropertyID
    }

    let schema: EntitySchema
    let layout: RowLayout
    let links: [ToOne]
    let linkSlots: SlotSet
    /// Slots whose values may be stored in files.
    let externalSlots: SlotSet
    /// Slots whose values are encrypted under keys of subjects.
    let subjectSlots: SlotSet

    init(_ schema: EntitySchema) {
        self.schema = schema
        layout = schema.layout
        links = schema.slotLinks.map { ToOne(slot: $0.slot, property: $0.id) }
        linkSlots = SlotSet(links.map(\.slot))
        externalSlots = SlotSet(
            schema.layout.variableSlots.filter { schema.layout.entries[$0].kind.isExternal })
        subjectSlots = SlotSet(
            schema.properties.filter { $0.attribute?.encryption?.subject != nil }.map(\.slot))
    }
}
