/// A number under which objects have members: a to-many relationship, or the hidden way back of a to-one or of a
/// to-many that has no inverse.
@usableFromInline package final class Link: Sendable {
    /// The place where links are recorded.
    @usableFromInline package enum Source: Sendable {
        /// The members' rows point at the owner with this to-one.
        case rows(toOne: PropertyID)
        /// Pairs under the canonical number. `isForward` when the owner is the pair's source; `isSymmetric` when the
        /// relationship is its own inverse and the owner may be either end. `inverse` is the other end's number.
        case pairs(canonical: PropertyID, isForward: Bool, isSymmetric: Bool, inverse: PropertyID)
    }

    @usableFromInline package let id: PropertyID
    /// The name of the relationship; of the one that is read backwards for a hidden link.
    package let name: String
    @usableFromInline package let source: Source
    /// Whether each member has a position.
    package let isOrdered: Bool
    /// The owners' entity; subentities too.
    package let ownerEntity: EntityID
    /// The members' entity; subentities too.
    package let memberEntity: EntityID
    /// The concrete entities whose objects can be members, ascending; those whose rows hold the to-one, if rows record
    /// the link.
    @usableFromInline package let memberEntityIDs: [EntityID]
    /// The effect of the deletion of an owner on its members.
    @usableFromInline package let deleteRule: DeleteRule
    /// nil for a hidden link.
    package let description: RelationshipDescription?
    /// Whether the model bounds the number of members.
    package let isBounded: Bool
    /// Whether owners need a least number of members.
    package let hasMinimum: Bool

    init(
        id: PropertyID, name: String, source: Source, owner: EntitySchema, members: EntitySchema,
        holders: EntitySchema? = nil, _ description: RelationshipDescription? = nil
    ) {
        self.id = id
        self.name = name
        self.source = source
        isOrdered = description?.isOrdered ?? false
        ownerEntity = owner.id
        memberEntity = members.id
        memberEntityIDs = (holders ?? members).concreteEntityIDs.sorted()
        deleteRule = description?.deleteRule ?? .nullify
        self.description = description
        hasMinimum = description.map { $0.minCount > 0 } ?? false
        isBounded = hasMinimum || description.map { $0.maxCount > 0 } ?? false
    }

    package var isPairs: Bool { if case .pairs = source { true } else { false } }

    /// The number under which pairs record the link; nil when rows do.
    package var canonical: PropertyID? { if case .pairs(let canonical, _, _, _) = source { canonical } else { nil } }

    /// The pair that links `owner` and `member`; nil when rows record the link.
    package func pairKey(owner: ObjectID, member: ObjectID) -> PairKey? {
        guard case .pairs(let canonical, let isForward, let isSymmetric, _) = source else { return nil }
        if isSymmetric {
            return PairKey(property: canonical, source: min(owner, member), target: max(owner, member))
        }
        return isForward
            ? PairKey(property: canonical, source: owner, target: member)
            : PairKey(property: canonical, source: member, target: owner)
    }

    /// Whether the owner's end of a pair is its source. An object that is its own member is both ends.
    package func isSource(_ owner: ObjectID, of key: PairKey) -> Bool {
        guard case .pairs(_, let isForward, let isSymmetric, _) = source else { return false }
        return isSymmetric ? key.source == owner : isForward
    }
}

/// The property that a to-one changes at the object that it leads to.
@usableFromInline package enum ToOneInverse: Sendable {
    /// Nothing: the property is no to-one that a row holds.
    case none
    /// The target's own to-one, which leads back.
    case toOne(PropertyID)
    /// The target's members under this number, a hidden one when the model names no inverse. The object's position
    /// among them is in the slot, if they are ordered.
    case toMany(PropertyID, positionSlot: Int?)

    /// - Parameter property: a property of one entity; hidden positions may have other slots in its subentities.
    package init(_ property: PropertySchema) {
        guard let relationship = property.relationship, relationship.truth == .slot else {
            self = .none
            return
        }
        switch relationship.inverse {
        case nil: self = .toMany(property.id.hiddenInverse, positionSlot: nil)
        case let inverse? where relationship.isInverseToMany:
            self = .toMany(inverse, positionSlot: relationship.positionSlot)
        case let inverse?: self = .toOne(inverse)
        }
    }
}

/// A to-one whose target the rows of one entity hold.
@usableFromInline package struct SlotLink: Sendable {
    @usableFromInline package let property: PropertyID
    @usableFromInline package let slot: Int
    /// The effect of the deletion of an object of the entity on its target.
    @usableFromInline package let deleteRule: DeleteRule
    @usableFromInline package let inverse: ToOneInverse
}

/// An entry of the table of links that a row of one entity makes at the target of a to-one.
package struct RowLink: Sendable {
    /// The number under which the target has the object.
    package let link: PropertyID
    package let slot: Int
    /// The slot of the object's position, when the target's members are ordered.
    package let positionSlot: Int?
    package let property: PropertyID
    /// The hidden property of the position.
    package let positionProperty: PropertyID?

    /// The properties that the entry is made of.
    package var properties: [PropertyID] { positionProperty.map { [property, $0] } ?? [property] }

    package func isTouched(by changed: [PropertyID]) -> Bool {
        changed.contains(property) || positionProperty.map(changed.contains) ?? false
    }
}
