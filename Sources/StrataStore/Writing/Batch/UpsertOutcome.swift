package import StrataModel

/// The effects of a `UniquenessPolicy` on the insertions of a save.
package struct UpsertOutcome: Sendable {
    /// The object that has the unique values of each insertion that made no new object.
    package var holders: [ObjectID: ObjectID] = [:]
    /// The number of insertions that were merged into that object.
    package var mergedCount = 0
    package var keptCount = 0
}
