import LMDB
import StrataModel

/// Compares the before-images in events with the state of the row or link in a replay of the log.
///
/// The replay that calls it does so from one thread at a time.
final class BeforeImageCheck: PriorStateObserver {
    private(set) var problems = ProblemList()
    private let names: RecordedNames
    private var writer = ByteWriter()

    init(_ names: RecordedNames) { self.names = names }

    /// Compares an update or a deletion with the row before it.
    func willApply(
        _ event: EventView, _ eventNumber: EventNumber, to row: Projector.CurrentRow, _ entity: EntitySchema,
        _ histories: SchemaHistory
    ) throws {
        // While a thinning runs, an event may already lack values that an older event still has.
        if event.header.flags.contains(.thinned) { return }
        if event.header.kind == .deleted { return try compareDeletion(event, eventNumber, row) }
        if row.layout === entity.layout {
            let reader = try RowReader(row.image, layout: row.layout)
            return try compareUpdate(event, eventNumber, reader, entity) { _ in true }
        }
        let converted = try histories.converted(row.image, from: row.layout, to: entity)
        try converted.bytes.withUnsafeBytes { bytes in
            // A property that is newer than the row has its first default, or no value while a migration goes on.
            try compareUpdate(event, eventNumber, try RowReader(bytes, layout: entity.layout), entity) { property in
                row.layout.slots.contains { $0.propertyID == property }
            }
        }
    }

    /// Compares the end or the move of a link with its positions before.
    func willApply(_ event: PairEvent, _ eventNumber: EventNumber, to state: PairState) {
        guard (event.positionsBefore ?? event.positions) != state.positions else { return }
        note(eventNumber, "positions", names.name(of: event.key.property, event.key.source))
    }

    private func compareUpdate(
        _ event: EventView, _ eventNumber: EventNumber, _ row: RowReader, _ entity: EntitySchema,
        isHeld: (PropertyID) -> Bool
    ) throws {
        try event.forEachBeforeImage { property, recorded in
            // Without a value it is the one of the event before, which the row has.
            guard let recorded, let slot = entity.slot(of: property), isHeld(property) else { return }
            if try !isValue(recorded, of: slot, in: row) { note(eventNumber, property, of: event) }
        }
    }

    private func compareDeletion(
        _ event: EventView, _ eventNumber: EventNumber, _ row: Projector.CurrentRow
    ) throws {
        switch try event.deleted() {
        case .image(let image):
            if image.compare(with: row.image) != 0 { note(eventNumber, "row", names.name(of: event.header.object)) }
        case .values(let values):
            let reader = try RowReader(row.image, layout: row.layout)
            for (property, recorded) in values {
                guard case .value(let value) = recorded,
                    let slot = row.layout.slots.firstIndex(where: { $0.propertyID == property })
                else { continue }
                if try !value.isIdentical(to: reader.value(slot)) { note(eventNumber, property, of: event) }
            }
        }
    }

    /// Compares bytes, and values only where these differ.
    private func isValue(_ recorded: UnsafeRawBufferPointer, of slot: Int, in row: RowReader) throws -> Bool {
        writer.reset()
        if let fixed = FixedValue(slot, of: row) {
            fixed.append(to: &writer)
        } else {
            try ValueCodec.encode(try row.value(slot), into: &writer)
        }
        if writer.bytes.compare(with: recorded) == 0 { return true }
        var reader = ByteReader(recorded)
        return try ValueCodec.decode(&reader).isIdentical(to: row.value(slot))
    }

    private func note(_ eventNumber: EventNumber, _ property: PropertyID, of event: EventView) {
        note(eventNumber, "value", names.name(of: property, event.header.object))
    }

    private func note(_ eventNumber: EventNumber, _ what: String, _ name: @autoclosure () -> String) {
        let article = what == "positions" ? "other" : "another"
        problems.note(
            .replay, "event \(eventNumber)", "it says \(article) \(what) before it than the log for \(name())")
    }
}
