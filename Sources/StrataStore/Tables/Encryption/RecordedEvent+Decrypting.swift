import StrataModel

extension RecordedEvent {
    /// The event with its values as the app sees them.
    package func decrypted(_ keys: KeyRing) -> RecordedEvent {
        guard let object else { return self }
        func shown(_ value: RecordedValue, _ property: PropertyID) -> RecordedValue {
            guard case .value(let stored) = value else { return value }
            return .value(keys.shown(stored, of: property, in: object))
        }
        func shown(_ values: [Value]) -> [Value] {
            values.map { Value(property: $0.property, value: shown($0.value, $0.property)) }
        }
        var event = self
        switch payload {
        case .inserted(let values): event.payload = .inserted(shown(values))
        case .deleted(let values): event.payload = .deleted(shown(values))
        case .updated(let changes):
            event.payload = .updated(
                changes.map {
                    PropertyChange(
                        property: $0.property, before: shown($0.before, formers[$0.property] ?? $0.property),
                        after: shown($0.after, $0.property))
                })
        default: break
        }
        return event
    }
}
