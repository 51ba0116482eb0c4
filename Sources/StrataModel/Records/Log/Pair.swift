/// Names a link whose truth is the pair: the canonical relationship (the smaller number of the two), the object at
/// its end, and the member.
///
/// For a relationship that is its own inverse the source is the smaller id.
package struct PairKey: Hashable, Sendable {
    package let property: PropertyID
    package let source: ObjectID
    package let target: ObjectID

    package init(property: PropertyID, source: ObjectID, target: ObjectID) {
        self.property = property
        self.source = source
        self.target = target
    }
}

/// Where a pair stands in the two lists it belongs to; 0 where a list is not ordered.
package struct PairPositions: Hashable, Sendable {
    /// The target's place among the source's members.
    package var inSource: Int64
    /// The source's place among the target's members.
    package var inTarget: Int64

    package init(inSource: Int64 = 0, inTarget: Int64 = 0) {
        self.inSource = inSource
        self.inTarget = inTarget
    }
}
