package import StrataModel

/// What the events on an object's row say about one of its values in the past.
package enum PastValue: Sendable, Hashable {
    case value(AttributeValue)
    /// The object did not exist then.
    case absent
    /// The events do not say it, or not within the bound: a snapshot of that state does.
    case unknown
}

extension Store {
    /// The value of a property of an object just after an event, from the events on the object's row.
    ///
    /// A snapshot of an early state reads every event after it, once. This reads events of one object, for names of a few.
    ///
    /// - Parameters:
    ///   - property: its number in the model of that state.
    ///   - most: how many events may be read; those that were read are taken from it.
    /// - Returns: the value as it was recorded: an encrypted one is encrypted, and one from before a migration that kept
    ///   the property's number may have the former type.
    /// - Complexity: a look-up for each event of the object since the value was set.
    package func pastValue(
        of property: PropertyID, _ id: ObjectID, at eventNumber: EventNumber, most: inout Int
    ) throws -> PastValue {
        try readLog { reader, head in
            guard eventNumber <= head.event else { return .unknown }
            var found = PastValue.absent
            try reader.chain(from: try newestEvent(of: id, reader), of: id) { event, number in
                most -= 1
                // If the walk ends here, what is earlier was dropped or not read.
                found = event.header.previous == .zero && most >= 0 ? .absent : .unknown
                guard most >= 0 else { return false }
                guard number <= eventNumber else { return true }
                guard let said = try reader.value(of: property, id, saidBy: event) else { return true }
                found = said
                return false
            }
            return found
        }
    }
}

extension LogReader {
    /// What an event on an object's row says about a property just after it; nil if it changed others only.
    fileprivate func value(of property: PropertyID, _ id: ObjectID, saidBy event: EventView) throws -> PastValue? {
        if event.header.flags.isReduced { return .unknown }
        switch event.header.kind {
        case .updated:
            guard let change = try event.changes().first(where: { $0.property == property }) else { return nil }
            guard case .value(let value) = change.after else { return .unknown }
            return .value(value)
        case .inserted: return .value(try insertedValue(event, property, id))
        default: return .absent
        }
    }
}
