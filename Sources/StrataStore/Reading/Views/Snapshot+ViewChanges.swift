import StrataModel

extension Snapshot {
    /// Whether the difference of two states can change the rows of a view.
    ///
    /// - Throws: `unknownKey` for a view that the model does not have.
    package func isConcerned(view name: String, by difference: StateDifference) throws -> Bool {
        let view = try preparedView(name)
        return difference.rows.contains { view.shownEntities.contains($0.entityID) }
            || difference.pairs.contains { pair in view.pairs.contains { $0.canonical == pair.property } }
    }

    /// The number of columns of a view that are keys.
    ///
    /// - Throws: `unknownKey` for a view that the model does not have.
    package func keyCount(ofView name: String) throws -> Int { try preparedView(name).keys.count }
}
