package import StrataModel

/// What became of the new objects of a save that had a `UniquenessPolicy`.
package struct UpsertOutcome: Sendable {
    /// For each new object that became none, the one that has its unique values.
    package var holders: [ObjectID: ObjectID] = [:]
    /// How many of them changed that other object or might have.
    package var mergedCount = 0
    package var keptCount = 0
}
