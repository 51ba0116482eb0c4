/// Identifies a link that is recorded as a pair: the canonical relationship (the smaller number of the two inverse
/// ones), the object that has it, and the member.
///
/// For a relationship that is its own inverse the source is the smaller id.
package struct PairKey: Hashable, Comparable, Sendable {
    package let property: PropertyID
    package let source: ObjectID
    package let target: ObjectID

    package init(property: PropertyID, source: ObjectID, target: ObjectID) {
        self.property = property
        self.source = source
        self.target = target
    }

    /// In the order of the table of pairs: by relationship, source and target.
    package static func < (left: PairKey, right: PairKey) -> Bool {
        (left.property, left.source, left.target) < (right.property, right.source, right.target)
    }
}

/// The positions of a pair in the two relationships; 0 in a relationship that is not ordered.
package struct PairPositions: Hashable, Sendable {
    /// The target's position among the source's members.
    package var inSource: Int64
    /// The source's position among the target's members.
    package var inTarget: Int64

    package init(inSource: Int64 = 0, inTarget: Int64 = 0) {
        self.inSource = inSource
        self.inTarget = inTarget
    }
}
