package import StrataModel

/// What a `UniquenessPolicy` made of the insertions of a save.
package struct UpsertOutcome: Sendable {
    /// For each insertion that made no new object, the object that has its unique values.
    package var holders: [ObjectID: ObjectID] = [:]
    /// How many of them were merged into that object.
    package var mergedCount = 0
    package var keptCount = 0
}
