package import StrataModel

/// The effects of a `UniquenessPolicy` on the insertions of a save.
package struct UpsertOutcome: Sendable {
    /// For each insertion that made no new object, the object that has its unique values.
    package var holders: [ObjectID: ObjectID] = [:]
    /// The number of insertions that were merged into that object.
    package var mergedCount = 0
    package var keptCount = 0
}
