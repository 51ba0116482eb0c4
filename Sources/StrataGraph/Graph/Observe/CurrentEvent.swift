public import StrataModel

/// Counts the app's events as a context sees them: each ends with `processPendingChanges()`.
struct CurrentEvent {
    /// Counts up with each event.
    private(set) var number = 0
    /// Whether an event ended after the context's changes were last saved or dropped.
    private(set) var followsAnother = false

    mutating func end() {
        number += 1
        followsAnother = true
    }

    mutating func forgetChanges() {
        number += 1
        followsAnother = false
    }
}

/// The row of an object as an event found it that changed the object.
struct EventBase {
    let event: Int
    /// nil for the row that the object had before all its changes.
    let row: [UInt8]?
}

extension ManagedObject {
    /// The values that attributes and to-ones had before the current event changed them, by name.
    ///
    /// An event begins with `ManagedObjectContext.processPendingChanges()`, with a save, and when changes are dropped. Of a
    /// new object they are the defaults.
    public final func changedValuesForCurrentEvent() -> [String: AttributeValue] {
        guard let context = _context, _base != nil || _flags.contains(.inserted) else { return [:] }
        var found: EventBase?
        if context.pending.event.followsAnother {
            found = _extras?.eventBase
            guard found?.event == context.pending.event.number else { return [:] }
        }
        if let row = found?.row { return row.withUnsafeBytes { valuesThatChanged(since: $0) } }
        return valuesThatChanged(since: baseBytes ?? _entity.template)
    }

    private final func valuesThatChanged(since row: UnsafeRawBufferPointer) -> [String: AttributeValue] {
        var values: [String: AttributeValue] = [:]
        for slot in slotsThatDiffer(from: row) {
            let property = _entity.property(slot: slot)
            guard property.index < _entity.declaredCount else { continue }
            do {
                let value = try RowReader(row, layout: _entity.layout).value(slot)
                values[property.name] = property.shown(value, of: objectID)
            } catch {
                report(corruption(error))
            }
        }
        return values
    }

    /// Keeps the row as the current event found it, before the event first changes it.
    ///
    /// - Parameter isUnchanged: whether that is the row before all changes, which is kept anyway.
    final func keepEventBase(isUnchanged: Bool) {
        guard let context = _context, context.pending.event.followsAnother,
            _extras?.eventBase?.event != context.pending.event.number
        else { return }
        ensureExtras().eventBase = EventBase(
            event: context.pending.event.number, row: isUnchanged ? nil : Array(rowBytes))
    }
}
