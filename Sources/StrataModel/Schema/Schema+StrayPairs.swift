// Pairs that earlier versions of Strata left when an entity was removed, or lost a relationship that others keep.

extension Schema {
    /// Whether a pair belongs to no object's relationship under this model, while the inverse would list the object.
    package func isStray(_ pair: PairKey) -> Bool {
        guard let link = links.link(pair.property), case .pairs(_, _, _, let inverse) = link.source,
            let back = links.link(inverse)
        else { return entity(pair.source.entityID) == nil || entity(pair.target.entityID) == nil }
        return !holds(pair.source.entityID, at: link) || !holds(pair.target.entityID, at: back)
    }

    /// Whether objects can have members under a number: their entity is in the model, and has the relationship. Where only
    /// one end has one, any object of the model can.
    package func holds(_ entityID: EntityID, at link: Link) -> Bool {
        guard entity(entityID) != nil else { return false }
        guard case .pairs(_, _, _, let inverse) = link.source, !link.id.isHiddenInverse, !inverse.isHiddenInverse
        else { return true }
        return links.links(ofOwners: entityID).contains { $0 === link }
    }
}
