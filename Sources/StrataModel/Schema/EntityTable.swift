/// A value for each entity, looked up by the entity's number without hashing.
package struct EntityTable<Value: Sendable>: Sendable {
    private let values: [Value]
    private let fallback: Value

    /// - Parameter fallback: the value of every other entity.
    package init(_ values: [EntityID: Value], otherwise fallback: Value) {
        self.fallback = fallback
        let count = values.keys.map { Int($0.rawValue) + 1 }.max() ?? 0
        self.values = (0..<count).map { values[EntityID(rawValue: UInt16($0))] ?? fallback }
    }

    package subscript(entity: EntityID) -> Value {
        let number = Int(entity.rawValue)
        return number < values.count ? values[number] : fallback
    }
}
