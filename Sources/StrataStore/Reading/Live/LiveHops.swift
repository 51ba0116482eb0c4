import StrataModel

// The paths from objects to the other rows that a live query or a derived attribute reads. Each path can be followed
// back, from a row that changed to the objects that it affects.

/// One relationship on such a path, and the way back over it.
struct LiveHop: Hashable, Sendable {
    enum Back: Hashable, Sendable {
        /// The near ends are the members that the far end has under this number.
        case members(PropertyID)
        /// The near end is the target of this to-one of the far end.
        case reference(PropertyID)
    }

    let property: PropertyID
    let back: Back

    init(_ property: PropertySchema, _ relationship: RelationshipSchema) {
        self.property = property.id
        let backwards = relationship.inverse ?? property.id.hiddenInverse
        switch relationship.truth {
        case .slot where relationship.inverse != nil && !relationship.isInverseToMany: back = .reference(backwards)
        case .inverseSlot: back = .reference(backwards)
        case .slot, .pair: back = .members(backwards)
        }
    }
}

/// A position on a walk along a key path.
struct LivePosition: Equatable {
    var hops: [LiveHop] = []
    var entity: EntityID
}

/// The properties that a request reads of the rows at the end of some hops. The existence of these rows always counts.
struct LiveReading: Sendable {
    let hops: [LiveHop]
    /// The entities of these rows.
    let entities: Set<EntityID>
    /// Properties that decide which objects are found, and in which order.
    var settling: Set<PropertyID> = []
    /// Properties whose change counts as an update of an object that stays where it is.
    var observed: Set<PropertyID> = []

    /// Whether the existence of the rows counts for `settling`, and for `observed`.
    var isSettling = false
    var isObserved = false
}

/// Links whose truth is the pair, read at the end of some hops.
struct LivePairs: Hashable, Sendable {
    let hops: [LiveHop]
    let canonical: PropertyID
    let isForward: Bool
    let isSymmetric: Bool
    var isSettling: Bool
    /// The way to the members.
    var members: [LiveHop] = []

    /// The ends of the pair that own the relationship.
    func owners(of key: PairKey) -> [ObjectID] {
        isSymmetric ? [key.source, key.target] : [isForward ? key.source : key.target]
    }
}

extension Snapshot {
    /// The objects from which `hops` lead to `id`.
    func sources(of id: ObjectID, through hops: [LiveHop]) throws -> Set<ObjectID> {
        var found: Set<ObjectID> = [id]
        for hop in hops.reversed() {
            var nearer: Set<ObjectID> = []
            for id in found {
                switch hop.back {
                case .members(let link): nearer.formUnion(try members(of: link, owner: id))
                case .reference(let toOne):
                    if let source = try row(id)?.reference(toOne, of: schema, id) { nearer.insert(source) }
                }
            }
            found = nearer
        }
        return found
    }
}
