import StrataModel

/// A relationship on the way from the fetched objects to a row that their request reads, and the way back over it.
struct LiveHop: Hashable, Sendable {
    enum Back: Hashable, Sendable {
        /// The near ends are the members of the far end under this number.
        case members(PropertyID)
        /// The far end's own to-one leads to the near end.
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

/// Where a walk along a key path stands.
struct LivePosition: Equatable {
    var hops: [LiveHop] = []
    var entity: EntityID
}

/// What a request reads of the rows at the end of some hops. That they exist counts always.
struct LiveReading: Sendable {
    let hops: [LiveHop]
    /// The entities whose objects can stand there.
    let entities: Set<EntityID>
    /// Settles which objects are found, and their order.
    var settling: Set<PropertyID> = []
    /// Shows that an object is another, where it stands as it did.
    var observed: Set<PropertyID> = []

    /// Whether it counts for either that the objects are there.
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

    /// The ends of a pair at which the relationship begins.
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
