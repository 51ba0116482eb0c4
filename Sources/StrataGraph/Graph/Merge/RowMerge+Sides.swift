import StrataModel
import StrataStore

// Makes the slots of a `RowMerge` from rows in memory and in the store, or from changes by value.

extension RowMerge {
    /// An object of this context against the row that others saved.
    ///
    /// - Parameter theirs: nil where others deleted the object.
    /// - Throws: `corrupt` for a new object, which has no base.
    init(_ object: ManagedObject, against theirs: RowImage?) throws {
        isDeletedByThem = theirs == nil
        isDeletedHere = object._flags.contains(.deleted)
        let entity = object._entity
        let base = try object.baseImage()
        let mine = object._base == nil ? SlotSet() : object.slotsThatDiffer(from: base)
        guard let theirs else {
            slots = entity.slotsInRow.map {
                Slot($0, entity, isChangedByThem: true, isChangedHere: mine.contains($0), isAgreed: false)
            }
            return
        }
        slots = theirs.withBytes { bytes in
            entity.slotsInRow.map { slot in
                Slot(
                    slot, entity, isChangedByThem: !entity.isEqual(slot: slot, bytes, base),
                    isChangedHere: mine.contains(slot), isAgreed: entity.isEqual(slot: slot, bytes, object.rowBytes))
            }
        }
        // A new revision without a new value may come from a save that only computed derived values.
        isRewritten = entity.derivedSlots.isEmpty && !slots.contains(where: \.isChangedByThem)
    }

    /// Changes by value against the object as it is here, which is theirs.
    ///
    /// - Parameter object: nil where it is not there.
    init(_ change: NetChanges.Object, _ entity: EntityRuntime, against object: ManagedObject?, _ agreement: Agreement) {
        self.agreement = agreement
        // An object that the changes create does not exist yet: it was not deleted.
        isDeletedByThem = object == nil && change.existedBefore
        isDeletedHere = !change.existsAfter
        slots = change.values.compactMap { number, values in
            guard let property = entity.property(number), property.isInRow else { return nil }
            let now = object?.storedValue(property) ?? .null
            return Slot(
                property.slot, entity, isChangedByThem: !now.isIdentical(to: values.before),
                isChangedHere: !values.isNothing, isAgreed: now.isIdentical(to: values.after))
        }.sorted { $0.number < $1.number }
    }
}

extension RowMerge.Slot {
    init(_ number: Int, _ entity: EntityRuntime, isChangedByThem: Bool, isChangedHere: Bool, isAgreed: Bool) {
        let property = entity.property(slot: number)
        self.init(
            number: number,
            kind: property.isDerived
                ? .derived : property.kind == .position ? .position : property.attribute == nil ? .link : .attribute,
            isChangedByThem: isChangedByThem, isChangedHere: isChangedHere, isAgreed: isAgreed)
    }
}

extension MergeConflict {
    /// The conflict of a merge, for the policy and for the record.
    ///
    /// - Parameters:
    ///   - slots: of the merge; hidden ones are left out.
    ///   - values: the three values of a slot.
    init(
        _ id: ObjectID, _ entity: EntityRuntime, _ merge: RowMerge, _ slots: [Int],
        _ values: (PropertyRuntime) throws -> (base: AttributeValue, theirs: AttributeValue, mine: AttributeValue)
    ) rethrows {
        let properties = try slots.compactMap { slot -> Property? in
            let property = entity.property(slot: slot)
            guard property.index < entity.declaredCount else { return nil }
            let (base, theirs, mine) = try values(property)
            var described = Property(
                name: property.name, base: property.shown(base, of: id),
                theirs: merge.isDeletedByThem ? .null : property.shown(theirs, of: id),
                mine: merge.isDeletedHere ? .null : property.shown(mine, of: id))
            described.isEncrypted = property.cipher != nil
            return described
        }
        self.init(
            objectID: id, entityName: entity.name, isDeletedInStore: merge.isDeletedByThem,
            isDeletedHere: merge.isDeletedHere, properties: properties)
    }
}

extension RowMerge.Conflict {
    var slots: [Int] {
        switch self {
        case .changes(let slots), .deletedByThem(let slots), .deletedHere(let slots): slots
        }
    }
}
