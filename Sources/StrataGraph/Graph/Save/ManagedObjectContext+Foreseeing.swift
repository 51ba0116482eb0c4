import StrataModel
import StrataStore

extension ManagedObjectContext {
    /// The changes that the next save would write, with the derived values that it would compute, also of objects that
    /// it does not touch. Times that `now()` gives are left out.
    ///
    /// - Throws: as `changes()`, and what the save would throw at its check, such as `constraintMerge`.
    package func foreseenChanges() throws -> [ObjectChange] {
        let changes = try netChanges()
        let rows = try binding.store.derivedRows(after: try makeChangeSet())
        return try described(try adding(rows, to: changes))
    }

    private func adding(_ rows: [ObjectID: RowImage], to changes: NetChanges) throws -> NetChanges {
        guard !rows.isEmpty else { return changes }
        var changes = changes
        try read { snapshot in
            for (id, image) in rows {
                guard let entity = binding.entity(id.entityID) else { continue }
                let slots = entity.foreseenSlots
                let before = try snapshot.row(id).map { try values(slots, of: $0.converted(to: entity.schema), entity) }
                let after = try values(slots, of: image, entity)
                var change = changes.objects[id] ?? NetChanges.Object(existedBefore: true, existsAfter: true)
                for (slot, value) in after {
                    change.note(entity.property(slot: slot).id, before: before?[slot] ?? .null, after: value)
                }
                changes.objects[id] = change
            }
        }
        changes.simplify()
        return changes
    }

    private func values(
        _ slots: [Int], of image: RowImage, _ entity: EntityRuntime
    ) throws -> [Int: AttributeValue] {
        try image.withReader(entity.layout) { reader throws(CorruptRecord) in
            var values: [Int: AttributeValue] = [:]
            for slot in slots { values[slot] = try reader.value(slot) }
            return values
        }
    }
}

extension EntityRuntime {
    /// The derived slots whose values are the same whenever the save is made.
    fileprivate var foreseenSlots: [Int] {
        derivedSlots.filter { slot in
            property(slot: slot).attribute?.derivationExpression.flatMap(AttributeDerivation.init) != .now
        }
    }
}
