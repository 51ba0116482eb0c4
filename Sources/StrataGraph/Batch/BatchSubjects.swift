import StrataModel
import StrataStore

/// Puts the values of a step under the keys of their subjects, when its rows and links are complete.
struct BatchSubjects {
    private let binding: StoreBinding
    private let lease = BatchLease()

    init(_ binding: StoreBinding) { self.binding = binding }

    /// - Returns: what keeps new files of large values from being removed.
    /// - Throws: as `SubjectAttributes.sealed`.
    func seal(_ changes: inout ChangeSet) throws -> BatchLease {
        try makeKeys(for: changes)
        for index in changes.insertions.indices {
            let insertion = changes.insertions[index]
            guard let made = try sealed(insertion.image, insertion.id, nil) else { continue }
            changes.insertions[index].image = made.image
        }
        for index in changes.updates.indices {
            let update = changes.updates[index]
            guard let made = try sealed(update.image, update.id, update.changedSlots) else { continue }
            changes.updates[index].image = made.image
            changes.updates[index].changedSlots.formUnion(SlotSet(made.slots))
        }
        return lease
    }

    /// Makes the keys of all rows together.
    private func makeKeys(for changes: ChangeSet) throws {
        var all: [SubjectAttributes.Pending] = []
        var keys: SubjectAttributes?
        func add(_ image: RowImage, _ id: ObjectID, _ changed: SlotSet?) throws {
            guard let entity = binding.entity(id.entityID), let subjects = entity.subjects else { return }
            keys = subjects
            all += try image.bytes.withUnsafeBytes { bytes in
                try subjects.pending(in: RowReader(bytes, layout: entity.layout), of: id, changed: changed) {
                    try binding.store.blob($0)
                }
            }
        }
        for insertion in changes.insertions { try add(insertion.image, insertion.id, nil) }
        for update in changes.updates { try add(update.image, update.id, update.changedSlots) }
        try keys?.makeKeys(for: all)
    }

    private func sealed(
        _ image: RowImage, _ id: ObjectID, _ changed: SlotSet?
    ) throws -> (image: RowImage, slots: [Int])? {
        guard let entity = binding.entity(id.entityID), let subjects = entity.subjects else { return nil }
        return try subjects.sealed(image, of: id, changed: changed, blob: { try binding.store.blob($0) }) {
            value, slot in
            guard entity.property(slot: slot).kind.isExternal,
                value.stored.count >= binding.externalStorageThreshold
            else { return .encrypted(value) }
            if lease.lease == nil { lease.lease = try binding.store.beginBlobLease() }
            return .blob(try binding.store.stageBlob(value.stored))
        }
    }
}
