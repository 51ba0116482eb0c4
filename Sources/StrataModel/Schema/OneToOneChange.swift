/// The slots of other objects that change when one end of a one-to-one is set.
///
/// A slot that no longer leads where the link says is left alone: it belongs to another link.
package struct OneToOneChange {
    package struct Slot {
        package let object: ObjectID
        package let toOne: PropertyID
        /// The target of the slot afterwards.
        package let target: ObjectID?
        /// The target that the slot must have for the change to be made; nil if it is made in any case.
        package let expected: ObjectID?
    }

    /// The end of the former partner, which leads nowhere afterwards.
    package let formerPartner: Slot?
    /// The end of the object that had the new partner, which leads nowhere afterwards.
    package let rival: Slot?
    /// The end of the new partner, which leads back.
    package let partner: Slot?

    /// - Parameters:
    ///   - id: the object whose `toOne` is set.
    ///   - inverse: the to-one of the partners.
    ///   - rival: where the inverse of the new partner leads before the change.
    package init(
        of id: ObjectID, _ toOne: PropertyID, inverse: PropertyID, from before: ObjectID?, to partner: ObjectID?,
        rival: ObjectID?
    ) {
        formerPartner = before.flatMap { before in
            before == partner ? nil : Slot(object: before, toOne: inverse, target: nil, expected: id)
        }
        self.rival = rival.flatMap { rival in
            rival == id ? nil : Slot(object: rival, toOne: toOne, target: nil, expected: partner)
        }
        self.partner = partner.map { Slot(object: $0, toOne: inverse, target: id, expected: nil) }
    }
}
